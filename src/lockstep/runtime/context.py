"""What one program has on the device, and the execution of its calls."""

from msgspec.structs import replace

from lockstep.device import Device, Diverged, Stopped
from lockstep.device.cluster import ClusterError
from lockstep.device.limits import StackError, check_stack
from lockstep.device.peers import PeerError
from lockstep.device.properties import attributes
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches.faults import LaunchError
from lockstep.frontend.cuda.calls import FORMS, Call, Limit, PeerAction, key
from lockstep.host_calls import CallKind, HostCall, Synchronize
from lockstep.isa.instruction import MOST_THREADS
from lockstep.report.figures import clean
from lockstep.runtime import tensor_maps
from lockstep.runtime.answers import CallAnswer, Refused
from lockstep.runtime.code import ProgramCode
from lockstep.runtime.memory import ProgramMemory
from lockstep.runtime.simulator import Simulator
from lockstep.runtime.status import Status, status_of
from lockstep.runtime.streams import FIRST_HANDLE, ProgramStreams

_LONGEST_NAME = 100  # characters of a function's
_LONGEST_REASON = 500
KINDS: dict[Call, CallKind] = {
    Call.LOAD_MODULE: "register",
    Call.CHECK_PTX: "query",
    Call.CODE_PROBLEM: "query",
    Call.LIST_KERNELS: "query",
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
    Call.PEER_ACCESS: "query",
}
"""Calls that cost the host time by themselves; the others' is that of what they ask for."""


class ProgramContext:
    """The calls of one program. After a kernel failed, all calls fail the same way, as in CUDA.

    Each call is a method with its name, here, of the program's ``streams`` or of what it has in
    ``owned`` memory.
    """

    def __init__(self, simulator: Simulator):
        self.simulator = simulator
        self.device = simulator.device  # that the program has set
        self._next = FIRST_HANDLE
        self.streams = ProgramStreams(simulator, self._handle, lambda: self.device)
        self.code = ProgramCode(simulator, self._handle, lambda: self.device)
        self.owned = ProgramMemory(simulator, self.streams, self.code.managed)
        self.broken: Status | None = None
        self.stack_bytes = 0  # of a thread, that the program asked for

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
            places = (self, self.streams, self.owned, self.code)
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
        self.code.clear()
        self.streams.clear()

    def _handle(self) -> int:
        self._next += 1
        return self._next

    # The device

    def hello(self, fields: dict, data: bytes) -> CallAnswer:
        """Introduce the device."""
        if fields["key"] != key():
            raise Refused(Status.UNKNOWN, "the program speaks to another version of lockstep")
        devices, tables, names = self.simulator.devices, b"", b""
        for device in devices:
            table = attributes(device.gpu, device.index)
            tables += device.memory.capacity.to_bytes(8, "little") + table.tobytes()
            names += f"{device.gpu.name} (lockstep)".encode() + b"\0"
        everything = self.device.memory.range
        facts = (everything.base, everything.size, len(devices), len(table))
        return CallAnswer(facts, tables + names)

    def set_device(self, fields: dict, data: bytes) -> CallAnswer:
        """What follows is of another device."""
        self.device = self._find_device(fields["device"])
        return CallAnswer()

    def _find_device(self, number: int) -> Device:
        if number >= len(self.simulator.devices):
            raise Refused(Status.INVALID_DEVICE)
        return self.simulator.devices[number]

    def peer_access(self, fields: dict, data: bytes) -> CallAnswer:
        """Ask for, give or take away a device's access to the memory of another one."""
        device, peer = (self._find_device(fields[name]).index for name in ("device", "peer"))
        table = self.device.peers
        if table is None or device == peer:
            if fields["action"] == PeerAction.CAN:
                return CallAnswer((0,))
            raise Refused(Status.INVALID_DEVICE)
        try:
            if fields["action"] == PeerAction.ENABLE:
                self.device.drain()
                table.enable(device, peer)
            elif fields["action"] == PeerAction.DISABLE:
                self.device.drain()
                table.disable(device, peer)
        except PeerError as error:
            raise Refused(_PEER_STATUS[error.enabled], error) from error
        return CallAnswer((int(table.can_access(device, peer)),))

    def reset(self, fields: dict, data: bytes) -> CallAnswer:
        """Free everything the program has, as at its end."""
        self.device.asks(Synchronize())
        self.device.drain()
        self.owned.note_leaks(self.device)
        self.owned.free_memory(self.device)
        self.broken, self.stack_bytes = None, 0
        return CallAnswer()

    def set_limit(self, fields: dict, data: bytes) -> CallAnswer:
        """Change the stack of threads, what kernels may allocate, or how much they may launch.

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
            device.services.heap.bytes = size
        elif fields["limit"] == Limit.PENDING_LAUNCHES:
            device.services.cuda.most_pending = size
        else:
            raise Refused(Status.INVALID_VALUE)
        return CallAnswer()

    def stuck(self, fields: dict, data: bytes) -> CallAnswer:
        """The program waits for what never comes: it fails as with a kernel that cannot move."""
        self.simulator.report(data[:_LONGEST_REASON].decode("utf-8", "replace"))
        self.simulator.stuck, self.broken = True, Status.LAUNCH_TIMEOUT
        raise Refused(Status.LAUNCH_TIMEOUT)

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

    # Launches

    def occupancy(self, fields: dict, data: bytes) -> CallAnswer:
        """How many CTAs of a kernel an SM holds."""
        entry = self.code.entry(fields["kernel"])
        sms = self.device.gpu.sm.count
        shape = ((1 << 20, 1, 1), (fields["threads"], 1, 1), fields["dynamic_shared"])
        try:
            return CallAnswer((entry.kernel.geometry(shape).places // sms,))
        except WorkloadError:
            return CallAnswer((0,))

    def clusters(self, fields: dict, data: bytes) -> CallAnswer:
        """How many clusters of a kernel the GPU holds."""
        entry, ctas = self.code.entry(fields["kernel"]), fields["ctas"]
        shape = ((ctas << 16, 1, 1), (fields["threads"], 1, 1), fields["dynamic_shared"])
        try:
            geometry = entry.kernel.geometry(shape, (ctas, 1, 1), bool(fields["portable"]))
        except WorkloadError:
            return CallAnswer((0,))
        return CallAnswer((geometry.places // geometry.cluster_ctas,))

    def launch(self, fields: dict, data: bytes) -> CallAnswer:
        """Check a launch; it is executed when the program has been told that it is fine."""
        cluster = (fields["cluster_x"], fields["cluster_y"], fields["cluster_z"])
        entry = self.code.entry(fields["kernel"])
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
        stream = self.streams.find_for_kernel(fields["stream"])
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


_PEER_STATUS = {
    None: Status.PEER_ACCESS_UNSUPPORTED,
    True: Status.PEER_ACCESS_ALREADY_ENABLED,
    False: Status.PEER_ACCESS_NOT_ENABLED,
}

# What a fault does not end. Code is loaded once, when it is first used: also for after a reset.
_ALWAYS = {
    Call.HELLO,
    Call.RESET,
    Call.SET_DEVICE,
    Call.UNSUPPORTED,
    Call.DESTROY_EVENT,
    Call.DESTROY_STREAM,
    Call.LOAD_MODULE,
    Call.CHECK_PTX,
    Call.CODE_PROBLEM,
    Call.LIST_KERNELS,
    Call.FIND_KERNEL,
    Call.FIND_VARIABLE,
}
