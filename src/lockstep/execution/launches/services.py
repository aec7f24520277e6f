"""What kernels ask the host for: printf, malloc and free, assert, conditions of graphs."""

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from lockstep.execution.device_runtime import runtime
from lockstep.execution.device_runtime.call import RuntimeState
from lockstep.execution.launches.calling import ServiceCall
from lockstep.execution.launches.heap import HEAP_BYTES, Heap, ParameterBuffers
from lockstep.execution.launches.printing import Arguments, render
from lockstep.execution.launches.remarks import Remarks
from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory, DeviceMemoryError
from lockstep.execution.programs.services import SERVICES
from lockstep.execution.state import result_word


class Services:
    """The services of one device; its kernels share them.

    ``launches`` and ``nanoseconds`` are what special registers tell of the device: launches so far,
    and its time; ``cuda`` is what CUDA's device runtime knows; ``write_printed`` gets what kernels
    print, as bytes.
    """

    def __init__(self, memory: DeviceMemory, heap_bytes: int = HEAP_BYTES):
        self.memory, self.heap = memory, Heap(memory, heap_bytes)
        self.launches = self.nanoseconds = 0
        self.remarks = Remarks()
        self.write_printed: Callable[[bytes], None] = _write_printed
        self.cuda = RuntimeState(memory, self.heap, self.remarks, ParameterBuffers(memory))
        own = (self._print, self._allocate, self._free, self._fail, self._set_condition)
        self._own = dict(zip(SERVICES, own))

    def perform(self, resident: Resident) -> None:
        """Do what a warp asked for, for its lanes in order, and give them their results.

        Raises :class:`LaunchError` for a failed assertion and for misuse.
        """
        machine = resident.machine
        w = int(machine.running[0].warp)
        warp = machine.warps[w]
        name = SERVICES[int(warp.host_call)]
        service = self._own.get(name) or partial(runtime.perform, self.cuda, name)
        calls = [
            ServiceCall(self.memory, resident, w, lane)
            for lane in range(resident.geometry.lanes)
            if int(warp.host_lanes) >> lane & 1
        ]
        result = result_word(resident.geometry.lanes)
        for call in calls:
            machine.scratch[w, result + call.lane] = service(call)
        if name == "__assertfail":
            raise calls[0].error("assert", "assertion failed")

    def _print(self, call: ServiceCall) -> int:
        """``int vprintf(const char *format, void *arguments)``: how many arguments there were."""
        form, packed = call.argument(0), call.argument(1)
        if form == 0:
            return -1
        arguments = Arguments(lambda k, n: call.read(packed + k, n), call.text)
        self.write_printed(render(call.text(form), arguments))
        return arguments.count

    def _allocate(self, call: ServiceCall) -> int:
        """``void *malloc(size_t)``: null for no bytes, and when the heap is exhausted."""
        return self.heap.allocate(call.argument(0), call.resident)

    def _free(self, call: ServiceCall) -> int:
        """``void free(void *)`` of what malloc gave, or of null."""
        address = call.argument(0)
        if address and not self.heap.free(address, call.resident):
            raise call.error("invalid_free", f"free of {address:#x}, which malloc did not give")
        return 0

    def _fail(self, call: ServiceCall) -> int:
        """``void __assertfail(message, file, line, function, size)``, as CUDA reports it."""
        message, file, function = (call.text(call.argument(k)).decode() for k in (0, 1, 3))
        block = ",".join(map(str, call.cta))
        thread = ",".join(map(str, call.thread))
        sys.stderr.write(
            f"{file}:{call.argument(2)}: {function}: block: [{block}], thread: [{thread}] "
            f"Assertion `{message}` failed.\n"
        )
        return 0

    def _set_condition(self, call: ServiceCall) -> int:
        """``void cudaGraphSetConditional(handle, unsigned)``: a handle is the address of its value.

        See the shim's graph_conditions.c, which decides by it what a graph goes on with.
        """
        handle, value = call.argument(0), call.argument(1) & 0xFFFFFFFF
        try:
            self.memory.view(handle, 4).view(np.uint32)[0] = value
        except DeviceMemoryError:
            message = f"{handle:#x} is the handle of no conditional node"
            raise call.error("illegal_address", message, address=handle) from None
        return 0


def _write_printed(text: bytes) -> None:
    sys.stdout.write(text.decode("utf-8", "replace"))
