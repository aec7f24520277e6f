"""The calls of a program about device memory, and what it has of it."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from lockstep.device import Device, Stream
from lockstep.device.peers import copy_between
from lockstep.execution.launches.resident import WORKSPACE_BYTES
from lockstep.execution.memory.device_memory import DeviceMemoryError
from lockstep.execution.memory.textures import remove
from lockstep.execution.state import WRITTEN
from lockstep.frontend.cuda.calls import Allocation
from lockstep.host_calls import Direction, Managed, MemoryCopy, Synchronize
from lockstep.host_memory import memory_bytes
from lockstep.runtime import textures
from lockstep.runtime.answers import CallAnswer, Handles, Refused
from lockstep.runtime.code import ManagedVariable
from lockstep.runtime.simulator import Simulator, Traffic
from lockstep.runtime.status import Status
from lockstep.runtime.streams import ProgramStreams

_COUNTED = {
    Direction.TO_DEVICE: "to device",
    Direction.TO_HOST: "to host",
    Direction.ON_DEVICE: "on device",
    Direction.PEER: "between devices",
}


class DeviceRegion(msgspec.Struct, frozen=True):
    """Rows in device memory."""

    address: int
    pitch: int
    width: int
    rows: int

    @property
    def end(self) -> int:
        """The first address after the last row."""
        return self.address + (self.rows - 1) * self.pitch + self.width


class ProgramMemory:
    """The allocations and textures of one program, and the calls about them."""

    def __init__(
        self,
        simulator: Simulator,
        streams: ProgramStreams,
        variables: Mapping[int, ManagedVariable],
    ):
        """``variables``: those that are managed memory, by address."""
        self.simulator, self.streams, self._variables = simulator, streams, variables
        self._allocations: dict[int, Allocation] = Handles()
        self._textures: dict[int, Device] = {}
        self._warned = False
        self._workspaces: dict[Stream, int] = {}  # of cooperative launches

    @property
    def device(self) -> Device:
        """That the program has set."""
        return self.streams.device

    def _find(self, address: int) -> tuple[int, int] | None:
        """The allocation (address, bytes) that contains an address, of whichever device."""
        return self.simulator.home(address).memory.find(address)

    def unannounced(self) -> list[tuple[int, int]]:
        """Memory, as (address, bytes), that the program writes without a call."""
        kinds = (Allocation.MANAGED, Allocation.HOST)
        starts = (a for a, kind in self._allocations.items() if kind in kinds)
        allocated = [part for start in starts if (part := self._find(start))]
        return allocated + [(start, v.bytes) for start, v in self._variables.items()]

    def note_leaks(self, device: Device | None = None) -> None:
        """Tell the checks what the program has not freed, of all devices or of one."""
        for address in sorted(self._allocations):
            home, place = self.simulator.home(address), self._find(address)
            if place is not None and device in (None, home):
                home.findings.leaks.append(place)

    def free_memory(self, device: Device | None = None) -> None:
        """Free all of it, or all of a device."""
        for stream in [s for s in self._workspaces if device in (None, s.device)]:
            stream.device.memory.free(self._workspaces.pop(stream))
        for address in list(self._allocations):
            home = self.simulator.home(address)
            if device in (None, home):
                home.memory.free(address)
                del self._allocations[address]
        for handle, home in list(self._textures.items()):
            if device in (None, home):
                remove(home.memory, handle)
                del self._textures[handle]

    def workspace(self, stream: Stream) -> int:
        """Where the grids of a stream, one at a time, have their barrier."""
        if stream not in self._workspaces:
            memory = stream.device.memory
            address = memory.allocate(WORKSPACE_BYTES)
            memory.view(address, WORKSPACE_BYTES)[:] = 0
            self._workspaces[stream] = address
        return self._workspaces[stream]

    def allocate(self, fields: dict, data: bytes) -> CallAnswer:
        """Allocate memory."""
        try:
            kind = Allocation(fields["kind"])
        except ValueError:
            raise Refused(Status.INVALID_VALUE) from None
        if fields["size"] == 0:
            return CallAnswer((0,))
        if kind == Allocation.MANAGED:
            address = self.device.allocate_managed(fields["size"])
        else:
            unwritten = kind == Allocation.DEVICE
            address = self.device.memory.allocate(fields["size"], unwritten=unwritten)
        self._allocations[address] = kind
        if kind != Allocation.DEVICE:
            self.device.memory.open_to_all(address)
        used, there = self.device.memory.used, memory_bytes()
        if not self._warned and there is not None and used > there:
            self._warned = True
            self.simulator.report(
                f"{used} bytes of device memory are allocated and this host has {there}: if all "
                "are used, the system may end lockstep"
            )
        return CallAnswer((address,))

    def free(self, fields: dict, data: bytes) -> CallAnswer:
        """Free memory, when nothing uses it any more."""
        if fields["address"] not in self._allocations:
            self._note_wrong_free(fields["address"])
            raise Refused(Status.INVALID_VALUE)
        home = self.simulator.home(fields["address"])
        home.asks(Synchronize(kind="free"))
        found = home.memory.find(fields["address"])
        if found and self._allocations[found[0]] == Allocation.MANAGED:
            home.asks(Managed(*found, managed=False))
        home.drain()
        home.memory.free(fields["address"])
        del self._allocations[fields["address"]]
        return CallAnswer()

    def pointer(self, fields: dict, data: bytes) -> CallAnswer:
        """The allocation that holds an address, or the managed variable."""
        found = self._find(fields["address"])
        if found is None:
            raise Refused(Status.INVALID_VALUE)
        kind = self._allocations.get(found[0], Allocation.DEVICE)
        for start, variable in self._variables.items():
            if start <= fields["address"] < start + variable.bytes:
                found, kind = (start, variable.bytes), Allocation.MANAGED
        return CallAnswer((*found, kind, self.simulator.home(found[0]).index))

    def memory(self, fields: dict, data: bytes) -> CallAnswer:
        """How much memory is free, and how much there is."""
        memory = self.device.memory
        return CallAnswer((memory.capacity - memory.used, memory.capacity))

    def read(self, fields: dict, data: bytes) -> CallAnswer:
        """Let the program read: everything before must have been done.

        The memory that it copies to is no CUDA's: such a copy is waited for, whatever its stream.
        """
        stream, _ = self.streams.find_for_copy(fields.pop("stream"))
        region = self._checked(DeviceRegion(**fields))
        size, home = region.width * region.rows, self.simulator.home(region.address)
        number = _number(stream, home)
        home.asks(MemoryCopy(region.address, size, Direction.TO_HOST, number))
        home.drain()
        self.simulator.copies["to host"].add(size)
        return CallAnswer()

    def write(self, fields: dict, data: bytes) -> CallAnswer:
        """Let the program write."""
        self._checked(DeviceRegion(**fields))
        self.device.drain()
        return CallAnswer()

    def written(self, fields: dict, data: bytes) -> CallAnswer:
        """Note what the program wrote."""
        stream, waits = self.streams.find_for_copy(fields.pop("stream"))
        region = self._checked(DeviceRegion(**fields))
        self.simulator.copies["to device"].add(region.width * region.rows)
        self._note_written(region)
        home = self.simulator.home(region.address)
        size = region.end - region.address
        home.copied(region.address, size, _number(stream, home), waits)
        return CallAnswer()

    def copy(self, fields: dict, data: bytes) -> CallAnswer:
        """Copy within device memory."""
        width, rows = fields["width"], fields["rows"]
        to = DeviceRegion(fields["to"], fields["to_pitch"], width, rows)
        source = DeviceRegion(fields["source"], fields["source_pitch"], width, rows)
        self._checked(to), self._checked(source)
        ends = self.simulator.home(to.address), self.simulator.home(source.address)
        direction = self._direction(to, source)
        if direction is Direction.ON_DEVICE and ends[0] is not ends[1]:
            direction = Direction.PEER

        def perform() -> None:
            self._rows(to)[...] = self._rows(source).copy()
            self._pass_on(source, to)

        self.simulator.copies.setdefault(_COUNTED[direction], Traffic()).add(width * rows)
        if direction is Direction.PEER:
            stream, waits = self.streams.find_for_copy(fields["stream"])
            places = (ends[0], to.address), (ends[1], source.address)
            copy_between(*places, width * rows, (stream.device, stream.number, waits), perform)
            if waits:
                stream.device.drain()
            return CallAnswer()
        device = source if direction is Direction.TO_HOST else to
        self._in_turn(device, direction, fields["stream"], perform)
        return CallAnswer()

    def _direction(self, to: DeviceRegion, source: DeviceRegion) -> Direction:
        """Where a copy goes: memory of the host that CUDA allocated lies in the device's, too."""
        if not self.device.host_takes_time:
            return Direction.ON_DEVICE
        ends = [self._find(region.address) for region in (to, source)]
        kinds = [self._allocations.get(end[0]) if end else None for end in ends]
        on_host = [kind == Allocation.HOST for kind in kinds]
        if on_host == [False, True]:
            return Direction.TO_DEVICE
        return Direction.TO_HOST if on_host == [True, False] else Direction.ON_DEVICE

    def _in_turn(
        self,
        region: DeviceRegion,
        direction: Direction,
        handle: int,
        perform: Callable[[], None],
    ) -> None:
        """Move data now; or when its stream is there, if the host takes time."""
        stream, waits = self.streams.find_for_copy(handle)
        home = self.simulator.home(region.address)
        if not home.host_takes_time:
            home.drain()
            perform()
            return
        size, number = region.width * region.rows, _number(stream, home)
        copy = MemoryCopy(region.address, size, direction, number, waits, perform)
        home.asks(copy)
        if waits:
            home.drain()

    def peek(self, fields: dict, data: bytes) -> CallAnswer:
        """A word, after all that was launched."""
        size = fields["bytes"]
        region = self._checked(DeviceRegion(fields["address"], size, size, 1))
        self.simulator.home(region.address).drain()
        return CallAnswer((int.from_bytes(self._rows(region).tobytes(), "little"),))

    def fill(self, fields: dict, data: bytes) -> CallAnswer:
        """Repeat a value."""
        unit, value, stream = fields.pop("unit"), fields.pop("value"), fields.pop("stream")
        region = self._checked(DeviceRegion(**fields))
        if unit not in (1, 2, 4, 8) or region.width % unit:
            raise Refused(Status.INVALID_VALUE)
        pattern = np.frombuffer(value.to_bytes(8, "little")[:unit], np.uint8)

        def perform() -> None:
            rows = self._rows(region)
            rows.reshape(region.rows, -1, unit)[...] = pattern
            self._note_written(region)

        self._in_turn(region, Direction.FILL, stream, perform)
        self.simulator.copies["fills"].add(region.width * region.rows)
        return CallAnswer()

    def _checked(self, region: DeviceRegion) -> DeviceRegion:
        if region.rows < 1 or region.width < 1 or (region.rows > 1 and region.pitch < region.width):
            raise Refused(Status.INVALID_VALUE)
        try:
            memory = self.simulator.home(region.address).memory
            memory.view(region.address, region.end - region.address)
        except DeviceMemoryError as error:
            self._note_wrong_access(region)
            raise Refused(Status.INVALID_VALUE, error) from error
        return region

    def _note_wrong_free(self, address: int) -> None:
        home = self.simulator.home(address)
        memory = home.memory
        freed, found = memory.freed(address), memory.find(address)
        why = "which was never allocated"
        if freed is not None and freed[0] == address:
            why = "which has been freed already"
        elif found is not None:
            why = f"{address - found[0]} bytes behind the start of an allocation"
        home.findings.add_host("invalid_free", f"free of {address:#x}, {why}", address)

    def _note_wrong_access(self, region: DeviceRegion) -> None:
        size = region.end - region.address
        message = f"copy or fill of {size} bytes at {region.address:#x}"
        home = self.simulator.home(region.address)
        where = home.memory.distance(region.address, size)
        home.findings.add_host("invalid_copy", f"{message}, {where}", region.address, size)

    def _note_written(self, region: DeviceRegion) -> None:
        """The host wrote the rows of a region."""
        shadow = self.simulator.home(region.address).memory.shadow
        if shadow:
            self._rows_of(shadow.of, region)[...] = WRITTEN

    def _pass_on(self, source: DeviceRegion, to: DeviceRegion) -> None:
        """Rows were copied: those that nobody had written are so, still."""
        shadow = self.simulator.home(to.address).memory.shadow
        before = self.simulator.home(source.address).memory.shadow
        if shadow and before:
            self._rows_of(shadow.of, to)[...] = self._rows_of(before.of, source).copy()

    def _rows(self, region: DeviceRegion) -> np.ndarray:
        """The bytes of a region that was checked: uint8 [rows, width]."""
        return self._rows_of(self.simulator.home(region.address).memory.view, region)

    @staticmethod
    def _rows_of(view: Callable[[int, int], np.ndarray], region: DeviceRegion) -> np.ndarray:
        """The same of bytes, or of what tells of them."""
        flat = view(region.address, region.end - region.address)
        strides = (region.pitch if region.rows > 1 else region.width, 1)
        return np.lib.stride_tricks.as_strided(flat, (region.rows, region.width), strides)

    def create_texture(self, fields: dict, data: bytes) -> CallAnswer:
        """A texture or surface over elements in device memory."""
        home = self.simulator.home(fields["address"])
        handle = textures.create(home, fields)
        self._textures[handle] = home
        return CallAnswer((handle,))

    def destroy_texture(self, fields: dict, data: bytes) -> CallAnswer:
        """Free a texture."""
        if fields["texture"] not in self._textures:
            raise Refused(Status.INVALID_HANDLE)
        home = self._textures.pop(fields["texture"])
        home.drain()
        remove(home.memory, fields["texture"])
        return CallAnswer()


def _number(stream: Stream, home: Device) -> int:
    """Of the stream in which a device's own copies are; the default one for that of another."""
    return stream.number if stream.device is home else 0
