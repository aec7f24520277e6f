"""What kernels ask the host for: printf, malloc and free, assert, conditions of graphs."""

import ctypes
import sys

import numpy as np

from lockstep.execution.launches.faults import place_of, thread_error
from lockstep.execution.launches.printing import Arguments, render
from lockstep.execution.launches.remarks import Remarks
from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory, DeviceMemoryError
from lockstep.execution.state import result_word, return_word

CHUNK = 256  # bytes of a string that are read at a time
HEAP_BYTES = 8 << 20  # CUDA's default of cudaLimitMallocHeapSize (CUDA C++ programming guide)


class Services:
    """The services of one device; its kernels share them.

    ``heap_bytes`` bounds what kernels allocate. ``launches`` and ``nanoseconds`` are what special
    registers tell of the device: launches so far, and its time.
    """

    def __init__(self, memory: DeviceMemory, heap_bytes: int = HEAP_BYTES):
        self.memory, self.heap_bytes = memory, heap_bytes
        self.launches = self.nanoseconds = 0
        self.remarks = Remarks()
        self._heap: dict[int, int] = {}  # address -> bytes
        self._heap_used = 0

    def perform(self, resident: Resident) -> None:
        """Do what a warp asked for, for its lanes in order, and give them their results.

        Raises :class:`LaunchError` for a failed assertion and for misuse.
        """
        machine = resident.machine
        w = int(machine.running[0].warp)
        warp = machine.warps[w]
        services = (self._print, self._allocate, self._free, self._fail, self._set_condition)
        service = services[int(warp.host_call)]
        calls = [
            ServiceCall(self, resident, w, lane)
            for lane in range(resident.geometry.lanes)
            if int(warp.host_lanes) >> lane & 1
        ]
        result = result_word(resident.geometry.lanes)
        for call in calls:
            machine.scratch[w, result + call.lane] = service(call)
        if service == self._fail:
            raise calls[0].error("assert", "assertion failed")

    def _print(self, call: "ServiceCall") -> int:
        """``int vprintf(const char *format, void *arguments)``: how many arguments there were."""
        form, packed = call.argument(0), call.argument(1)
        if form == 0:
            return -1
        arguments = Arguments(lambda k, n: call.read(packed + k, n), call.text)
        sys.stdout.write(render(call.text(form), arguments).decode("utf-8", "replace"))
        return arguments.count

    def _allocate(self, call: "ServiceCall") -> int:
        """``void *malloc(size_t)``: null for no bytes, and when the heap is exhausted."""
        size = call.argument(0)
        if size == 0 or self._heap_used + size > self.heap_bytes:
            return 0
        try:
            address = self.memory.allocate(size, unwritten=True)
        except DeviceMemoryError:
            return 0
        self._heap[address] = size
        self._heap_used += size
        call.resident.follow(self.memory)
        return address

    def _free(self, call: "ServiceCall") -> int:
        """``void free(void *)`` of what malloc gave, or of null."""
        address = call.argument(0)
        if address == 0:
            return 0
        if address not in self._heap:
            raise call.error("invalid_free", f"free of {address:#x}, which malloc did not give")
        self._heap_used -= self._heap.pop(address)
        self.memory.free(address)
        call.resident.follow(self.memory)
        return 0

    def _fail(self, call: "ServiceCall") -> int:
        """``void __assertfail(message, file, line, function, size)``, as CUDA reports it."""
        message, file, function = (call.text(call.argument(k)).decode() for k in (0, 1, 3))
        block = ",".join(map(str, call.cta))
        thread = ",".join(map(str, call.thread))
        sys.stderr.write(
            f"{file}:{call.argument(2)}: {function}: block: [{block}], thread: [{thread}] "
            f"Assertion `{message}` failed.\n"
        )
        return 0

    def _set_condition(self, call: "ServiceCall") -> int:
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


class ServiceCall:
    """One thread's call of a service."""

    def __init__(self, services: Services, resident: Resident, w: int, lane: int):
        self.services, self.resident, self.w, self.lane = services, resident, w, lane

    @property
    def cta(self) -> tuple[int, int, int]:
        """%ctaid of the thread."""
        place = self.w // self.resident.geometry.warps
        return self.resident.cta_index(int(self.resident.machine.ctas[place].linear))

    @property
    def thread(self) -> tuple[int, int, int]:
        """%tid of the thread."""
        return self.resident.thread_index(self.w, self.lane)

    def argument(self, k: int) -> int:
        """The kth argument, without a sign."""
        return self._word(k * self.resident.geometry.lanes) & (1 << 64) - 1

    def _word(self, first: int) -> int:
        """The thread's of the scratch words of all lanes from one on."""
        return int(self.resident.machine.scratch[self.w, first + self.lane])

    def read(self, address: int, size: int) -> bytes:
        """Bytes at a generic address of the thread."""
        host, room = self._find(address)
        if room < size:
            raise self._unreadable(address)
        return ctypes.string_at(host, size)

    def text(self, address: int) -> bytes:
        """The string at a generic address of the thread."""
        host, room = self._find(address)
        content = b""
        while room and b"\0" not in content:
            step = min(room, CHUNK)
            content += ctypes.string_at(host, step)
            host, room = host + step, room - step
        return content.partition(b"\0")[0]

    def _find(self, address: int) -> tuple[int, int]:
        """Where an address is in this process, and how many bytes may be read there."""
        found = self.resident.host_address(self.w, self.lane, address)
        if found is None:
            allocation = self.services.memory.find(address)
            if allocation is None:
                raise self._unreadable(address)
            found = address, sum(allocation) - address
        return found

    def _unreadable(self, address: int) -> Exception:
        return self.error("illegal_address", f"the host cannot read {address:#x}", address=address)

    def error(self, kind: str, message: str, **about) -> Exception:
        """The error for what the thread asked for."""
        place = place_of(self.resident.program, self._instruction())
        return thread_error(self.resident, kind, message, self.w, self.lane, place, **about)

    def _instruction(self) -> int:
        """Static index of the call; machine code tells only where it will return to."""
        machine, program = self.resident.machine, self.resident.program
        if program.targets is None:
            return int(machine.warps[self.w].host_instruction)
        from lockstep.isa.sass.encoding.instruction import BYTES

        pc = self._word(return_word(self.resident.geometry.lanes))
        return int(program.blocks["first"][program.targets[pc // BYTES]]) - 1
