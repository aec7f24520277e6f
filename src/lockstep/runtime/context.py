"""What one program has on the device, and the execution of its calls."""

import contextlib
from dataclasses import replace

import numpy as np

from lockstep.device import Diverged, Module, Stopped
from lockstep.device.cluster import ClusterError
from lockstep.device.limits import StackError, check_stack
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches.faults import LaunchError
from lockstep.frontend.cuda.calls import FORMS, Call, Limit, key
from lockstep.host_calls import CallKind, HostCall, Synchronize
from lockstep.isa.instruction import MOST_THREADS
from lockstep.report.figures import clean
from lockstep.runtime import tensor_maps
from lockstep.runtime.answers import CallAnswer, Handles, Refused
from lockstep.runtime.images import Entry, NoImage, find_entry, load_image
from lockstep.runtime.memory import ProgramMemory
from lockstep.runtime.properties import attributes
from lockstep.runtime.simulator import Simulator
from lockstep.runtime.status import Status, status_of
from lockstep.runtime.streams import FIRST_HANDLE, ProgramStreams

_LONGEST_NAME = 100  # characters of a function's
KINDS: dict[Call, CallKind] = {
    Call.LOAD_MODULE: "register",
    Call.FIND_KERNEL: "register",
    Call.FIND_VARIABLE: "register",
    Call.ALLOCATE: "allocate",
    Call.POINTER: "query",
    Call.MEMORY: "query",
    Call.CREATE_STREAM: "query",
    Call.DESTROY_STREAM: "query",
    Call.CREATE_EVENT: "query",
    Call.DESTROY_EVENT: "query",
    Call.ELAPSED: "query",
    Call.OCCUPANCY: "query",
    Call.CLUSTERS: "query",
    Call.SET_LIMIT: "query",
    Call.RESET: "free",
}
"""Calls that cost the host time by themselves; the others' is that of what they ask for."""


class ProgramContext:
    """The calls of one program. After a kernel failed, all calls fail the same way, as in CUDA.

    Each call is a method with its name, here, of the program's ``streams`` or of what it has in
    ``owned`` memory.
    """

    def __init__(self, simulator: Simulator):
        self.simulator, self.device = simulator, simulator.device
        self._next = FIRST_HANDLE
        self.streams = ProgramStreams(simulator, self._handle)
        self.owned = ProgramMemory(simulator, self.streams)
        self.broken: Status | None = None
        self.stack_bytes = 0  # of a thread, that the program asked for
        self._modules: dict[int, Module] = Handles()
        self._images: dict[int, bytes] = Handles()  # of the modules
        self._entries: dict[int, Entry] = Handles()

    def perform(self, call: Call, fields: dict[str, int], data: bytes) -> CallAnswer:
        """Execute a call. Raises :class:`Refused`."""
        if self.broken is not None and call not in _ALWAYS:
            raise Refused(self.broken)
        if not FORMS[call].allows(fields):
            raise Refused(Status.INVALID_VALUE)
        try:
            name = call.name.lower()
            if kind := KINDS.get(call):
                self.device.asks(HostCall(kind, "" if name == kind else name))
            places = (self, self.streams, self.owned)
            place = next(place for place in places if hasattr(place, name))
            return getattr(place, name)(fields, data)
        except LaunchError as error:
            raise self._break(error) from error
        except Diverged:  # the run ends
            raise
        except Stopped as error:
            _pass_on(error)
            raise self._break(error) from error
        except LockstepError as error:
            raise Refused(status_of(error), error) from error
        except MemoryError as error:
            problem = f"not enough memory: {error}"
            raise Refused(Status.OUT_OF_MEMORY, problem) from error

    def finish(self, answer: CallAnswer) -> None:
        """Do what is left of a call; a kernel's failure shows up in the next one."""
        if answer.then is not None:
            try:
                answer.then()
            except Diverged:
                raise
            except (LockstepError, MemoryError) as error:
                if isinstance(error, Stopped):
                    _pass_on(error)
                self._break(error)

    def _break(self, error: LockstepError | MemoryError) -> Refused:
        self.broken = status_of(error)
        self.simulator.report(error)
        self.simulator.stuck |= self.broken == Status.LAUNCH_TIMEOUT
        return Refused(self.broken)

    def close(self) -> None:
        """The program has gone: free what it had."""
        self.owned.note_leaks()
        self.owned.free_memory()
        tables = (self._entries, self._modules, self._images)
        for table in tables:
            table.clear()
        self.streams.clear()

    def _handle(self) -> int:
        self._next += 1
        return self._next

    # The device

    def hello(self, fields: dict, data: bytes) -> CallAnswer:
        """Introduce the device."""
        if fields["key"] != key():
            raise Refused(Status.UNKNOWN, "the program speaks to another version of lockstep")
        memory, table = self.device.memory, attributes(self.device.gpu)
        name = f"{self.device.gpu.name} (lockstep)".encode()
        return CallAnswer((memory.base, memory.capacity, len(table)), table.tobytes() + name)

    def reset(self, fields: dict, data: bytes) -> CallAnswer:
        """Free everything the program has, as at its end."""
        self.device.asks(Synchronize())
        self.device.drain()
        self.owned.note_leaks()
        self.owned.free_memory()
        self.broken, self.stack_bytes = None, 0
        return CallAnswer()

    def set_limit(self, fields: dict, data: bytes) -> CallAnswer:
        """Change the stack of the program's threads, or what kernels may allocate by ``malloc``.

        A stack is never smaller than the device's own.
        """
        device, size = self.device, fields["value"]
        if fields["limit"] == Limit.STACK:
            try:
                self.stack_bytes = check_stack(size, device.gpu, device.memory.capacity)
            except StackError as error:
                raise Refused(Status.OUT_OF_MEMORY, error) from error
            except LockstepError as error:
                raise Refused(Status.INVALID_VALUE, error) from error
        elif fields["limit"] == Limit.HEAP:
            if size > device.memory.capacity:
                raise Refused(Status.OUT_OF_MEMORY)
            device.services.heap_bytes = size
        else:
            raise Refused(Status.INVALID_VALUE)
        return CallAnswer()

    def unsupported(self, fields: dict, data: bytes) -> CallAnswer:
        """Note a function that the program called in vain."""
        name = data[:_LONGEST_NAME].decode("utf-8", "replace")
        self.simulator.unsupported[clean(name)] += 1
        return CallAnswer()

    def encode_tensor_map(self, fields: dict, data: bytes) -> CallAnswer:
        """Describe an array for bulk tensor copies."""
        return CallAnswer(data=tensor_maps.encoded(fields, data))

    def move_tensor_map(self, fields: dict, data: bytes) -> CallAnswer:
        """Describe an array of the same kind somewhere else."""
        return CallAnswer(data=tensor_maps.moved(fields, data))

    # Code

    def load_module(self, fields: dict, data: bytes) -> CallAnswer:
        """Load the best image of a binary."""
        try:
            module = self._load(data)
        except NoImage as error:
            raise Refused(Status.NO_BINARY, error) from error
        except WorkloadError:
            raise
        except LockstepError as error:
            raise Refused(Status.INVALID_IMAGE, error) from error
        handle = self._handle()
        self._modules[handle], self._images[handle] = module, data
        return CallAnswer((handle,))

    def _load(self, data: bytes) -> Module:
        """The best image of a binary, or its PTX if the best one cannot be loaded."""
        try:
            return load_image(self.device, data, self.simulator.ptx)
        except NoImage:
            raise
        except LockstepError as problem:
            try:
                module = load_image(self.device, data, ptx=True)
            except LockstepError:
                raise problem from None
            self.simulator.report(f"{problem}; the module's PTX is executed instead")
            return module

    def unload_module(self, fields: dict, data: bytes) -> CallAnswer:
        """Forget a module."""
        del self._modules[fields["module"]], self._images[fields["module"]]
        return CallAnswer()

    def find_kernel(self, fields: dict, data: bytes) -> CallAnswer:
        """A kernel's handle, needs and parameters."""
        name = data.decode("utf-8", "replace")
        try:
            entry = find_entry(self._modules[fields["module"]], name)
        except WorkloadError as error:
            raise Refused(Status.NOT_FOUND, error) from error
        except LockstepError as error:
            entry = self._turn_to_ptx(fields["module"], name, error)
        handle = self._handle()
        self._entries[handle] = entry
        facts = (handle, entry.registers, entry.shared_bytes, entry.local_bytes, 0)
        counts = (entry.most_threads, len(entry.places), entry.parameter_bytes)
        cluster = entry.kernel.required_cluster or (0, 0, 0)
        return CallAnswer((*facts, *counts, *cluster), np.array(entry.places, "<u8").tobytes())

    def _turn_to_ptx(self, handle: int, name: str, problem: LockstepError) -> Entry:
        """A kernel whose machine code cannot be executed, from its module's PTX.

        The whole module is PTX from now on, kernels that were handed out before included, as far as
        theirs can be executed. Its variables stay where they are.
        """
        machine_code = self._modules[handle]
        try:
            module = load_image(self.device, self._images[handle], True, machine_code.addresses)
            entry = find_entry(module, name)
        except NoImage as error:
            why = f"{problem}; the program has no PTX of it (nvcc -gencode code=compute_XX adds it)"
            raise Refused(Status.NOT_SUPPORTED, why) from error
        except LockstepError as error:
            raise Refused(Status.NOT_SUPPORTED, f"{problem}; nor can its PTX: {error}") from error
        self._modules[handle] = module
        for number, before in self._entries.items():
            if before.kernel.module is machine_code:
                with contextlib.suppress(LockstepError):
                    self._entries[number] = find_entry(module, before.kernel.name)
        self.simulator.report(f"{problem}; the module's PTX is executed instead")
        return entry

    def find_variable(self, fields: dict, data: bytes) -> CallAnswer:
        """Where a variable is."""
        module = self._modules[fields["module"]]
        try:
            variable = module.symbol(data.decode("utf-8", "replace"))
        except WorkloadError as error:
            raise Refused(Status.INVALID_SYMBOL, error) from error
        return CallAnswer((variable.pointer, variable.nbytes))

    def occupancy(self, fields: dict, data: bytes) -> CallAnswer:
        """How many CTAs of a kernel an SM holds."""
        entry = self._entries[fields["kernel"]]
        sms = self.device.gpu.sm.count
        shape = ((1 << 20, 1, 1), (fields["threads"], 1, 1), fields["dynamic_shared"])
        try:
            return CallAnswer((entry.kernel.geometry(shape).places // sms,))
        except WorkloadError:
            return CallAnswer((0,))

    def clusters(self, fields: dict, data: bytes) -> CallAnswer:
        """How many clusters of a kernel the GPU holds."""
        entry, ctas = self._entries[fields["kernel"]], fields["ctas"]
        shape = ((ctas << 16, 1, 1), (fields["threads"], 1, 1), fields["dynamic_shared"])
        try:
            geometry = entry.kernel.geometry(shape, (ctas, 1, 1), bool(fields["portable"]))
        except WorkloadError:
            return CallAnswer((0,))
        return CallAnswer((geometry.places // geometry.cluster_ctas,))

    def launch(self, fields: dict, data: bytes) -> CallAnswer:
        """Check a launch; it is executed when the program has been told that it is fine."""
        cluster = (fields["cluster_x"], fields["cluster_y"], fields["cluster_z"])
        entry = self._entries[fields["kernel"]]
        grid = (fields["grid_x"], fields["grid_y"], fields["grid_z"])
        block = (fields["block_x"], fields["block_y"], fields["block_z"])
        if 0 in grid + block:
            raise Refused(Status.INVALID_CONFIGURATION)
        if entry.most_threads < block[0] * block[1] * block[2] <= MOST_THREADS:
            raise Refused(Status.LAUNCH_OUT_OF_RESOURCES)
        try:
            shape = grid, block, fields["dynamic_shared"]
            asked = cluster if all(cluster) else None
            geometry = entry.kernel.geometry(shape, asked, bool(fields["portable"]))
        except ClusterError as error:
            raise Refused(Status.INVALID_CLUSTER_SIZE, error) from error
        except WorkloadError as error:
            raise Refused(Status.INVALID_CONFIGURATION, error) from error
        if fields["cooperative"] and geometry.places < grid[0] * grid[1] * grid[2]:
            raise Refused(Status.COOPERATIVE_TOO_LARGE)
        if len(data) < entry.parameter_bytes:
            raise Refused(Status.INVALID_VALUE)
        stream = self.streams.find(fields["stream"])
        if fields["cooperative"]:
            geometry = replace(geometry, workspace=self.owned.workspace(stream))
        geometry = replace(geometry, stack_bytes=max(self.stack_bytes, geometry.stack_bytes))
        return CallAnswer(then=lambda: self.simulator.launch(entry, geometry, data, stream))


def _pass_on(error: Stopped) -> None:
    """Ctrl-C that ended a simulation ends the program, too."""
    if error.interrupted:
        again = KeyboardInterrupt()
        again.add_note(error.reason)
        raise again from error


# What a fault does not end. Code is loaded once, when it is first used: also for after a reset.
_ALWAYS = {
    Call.HELLO,
    Call.RESET,
    Call.UNSUPPORTED,
    Call.DESTROY_EVENT,
    Call.DESTROY_STREAM,
    Call.LOAD_MODULE,
    Call.FIND_KERNEL,
    Call.FIND_VARIABLE,
}
