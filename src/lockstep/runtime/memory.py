"""The calls of a program about device memory, and what it has of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lockstep.device import Stream
from lockstep.execution.launches.resident import WORKSPACE_BYTES
from lockstep.execution.memory.device_memory import DeviceMemoryError
from lockstep.execution.memory.textures import remove
from lockstep.execution.state import WRITTEN
from lockstep.frontend.cuda.calls import Allocation
from lockstep.host_calls import Direction, Managed, MemoryCopy, Synchronize
from lockstep.runtime import host, textures
from lockstep.runtime.answers import CallAnswer, Handles, Refused
from lockstep.runtime.simulator import Simulator
from lockstep.runtime.status import Status
from lockstep.runtime.streams import ProgramStreams

_COUNTED = {
    Direction.TO_DEVICE: "to device",
    Direction.TO_HOST: "to host",
    Direction.ON_DEVICE: "on device",
}


@dataclass(frozen=True)
class DeviceRegion:
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

    def __init__(self, simulator: Simulator, streams: ProgramStreams):
        self.simulator, self.device = simulator, simulator.device
        self.streams = streams
        self._allocations: dict[int, Allocation] = Handles()
        self._textures: set[int] = set()
        self._warned = False
        self._workspaces: dict[Stream, int] = {}  # of cooperative launches

    def unannounced(self) -> list[tuple[int, int]]:
        """Memory, as (address, bytes), that the program writes without a call."""
        kinds = (Allocation.MANAGED, Allocation.HOST)
        starts = (a for a, kind in self._allocations.items() if kind in kinds)
        return [part for start in starts if (part := self.device.memory.find(start))]

    def note_leaks(self) -> None:
        """Tell the checks what the program has not freed."""
        found = (self.device.memory.find(a) for a in sorted(self._allocations))
        self.device.findings.leaks += [place for place in found if place is not None]

    def free_memory(self) -> None:
        """Free all of it."""
        for addresses in (self._allocations, self._workspaces.values()):
            for address in addresses:
                self.device.memory.free(address)
        for handle in self._textures:
            remove(self.device.memory, handle)
        for table in (self._allocations, self._workspaces, self._textures):
            table.clear()

    def workspace(self, stream: Stream) -> int:
        """Where the grids of a stream, one at a time, have their barrier."""
        if stream not in self._workspaces:
            address = self.device.memory.allocate(WORKSPACE_BYTES)
            self.device.memory.view(address, WORKSPACE_BYTES)[:] = 0
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
        if not self._warned and self.device.memory.used > host.memory_bytes():
            self._warned = True
            self.simulator.report(
                f"{self.device.memory.used} bytes of device memory are allocated and this host has "
                f"{host.memory_bytes()}: if all are used, the system may end lockstep"
            )
        return CallAnswer((address,))

    def free(self, fields: dict, data: bytes) -> CallAnswer:
        """Free memory, when nothing uses it any more."""
        if fields["address"] not in self._allocations:
            self._note_wrong_free(fields["address"])
            raise Refused(Status.INVALID_VALUE)
        self.device.asks(Synchronize(kind="free"))
        found = self.device.memory.find(fields["address"])
        if found and self._allocations[found[0]] == Allocation.MANAGED:
            self.device.asks(Managed(*found, managed=False))
        self.device.drain()
        self.device.memory.free(fields["address"])
        del self._allocations[fields["address"]]
        return CallAnswer()

    def pointer(self, fields: dict, data: bytes) -> CallAnswer:
        """The allocation that holds an address."""
        found = self.device.memory.find(fields["address"])
        if found is None:
            raise Refused(Status.INVALID_VALUE)
        return CallAnswer((*found, self._allocations.get(found[0], Allocation.DEVICE)))

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
        size = region.width * region.rows
        self.device.asks(MemoryCopy(region.address, size, Direction.TO_HOST, stream.number))
        self.device.drain()
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
        self.device.copied(region.address, region.end - region.address, stream.number, waits)
        return CallAnswer()

    def copy(self, fields: dict, data: bytes) -> CallAnswer:
        """Copy within device memory."""
        width, rows = fields["width"], fields["rows"]
        to = DeviceRegion(fields["to"], fields["to_pitch"], width, rows)
        source = DeviceRegion(fields["source"], fields["source_pitch"], width, rows)
        self._checked(to), self._checked(source)
        direction = self._direction(to, source)

        def perform() -> None:
            self._rows(to)[...] = self._rows(source).copy()
            self._pass_on(source, to)

        device = source if direction is Direction.TO_HOST else to
        self._in_turn(device, direction, fields["stream"], perform)
        self.simulator.copies[_COUNTED[direction]].add(width * rows)
        return CallAnswer()

    def _direction(self, to: DeviceRegion, source: DeviceRegion) -> Direction:
        """Where a copy goes: memory of the host that CUDA allocated lies in the device's, too."""
        if not self.device.host_takes_time:
            return Direction.ON_DEVICE
        ends = [self.device.memory.find(region.address) for region in (to, source)]
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
        if not self.device.host_takes_time:
            self.device.drain()
            perform()
            return
        size = region.width * region.rows
        copy = MemoryCopy(region.address, size, direction, stream.number, waits, perform)
        self.device.asks(copy)
        if waits:
            self.device.drain()

    def fill(self, fields: dict, data: bytes) -> CallAnswer:
        """Repeat a value."""
        unit, value, stream = fields.pop("unit"), fields.pop("value"), fields.pop("stream")
        region = self._checked(DeviceRegion(**fields))
        if unit not in (1, 2, 4) or region.width % unit:
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
            self.device.memory.view(region.address, region.end - region.address)
        except DeviceMemoryError as error:
            self._note_wrong_access(region)
            raise Refused(Status.INVALID_VALUE, error) from error
        return region

    def _note_wrong_free(self, address: int) -> None:
        memory = self.device.memory
        freed, found = memory.freed(address), memory.find(address)
        why = "which was never allocated"
        if freed is not None and freed[0] == address:
            why = "which has been freed already"
        elif found is not None:
            why = f"{address - found[0]} bytes behind the start of an allocation"
        self.device.findings.add_host("invalid_free", f"free of {address:#x}, {why}", address)

    def _note_wrong_access(self, region: DeviceRegion) -> None:
        size = region.end - region.address
        message = f"copy or fill of {size} bytes at {region.address:#x}"
        where = self.device.memory.distance(region.address, size)
        findings = self.device.findings
        findings.add_host("invalid_copy", f"{message}, {where}", region.address, size)

    def _note_written(self, region: DeviceRegion) -> None:
        """The host wrote the rows of a region."""
        shadow = self.device.memory.shadow
        if shadow:
            self._rows_of(shadow.of, region)[...] = WRITTEN

    def _pass_on(self, source: DeviceRegion, to: DeviceRegion) -> None:
        """Rows were copied: those that nobody had written are so, still."""
        shadow = self.device.memory.shadow
        if shadow:
            self._rows_of(shadow.of, to)[...] = self._rows_of(shadow.of, source).copy()

    def _rows(self, region: DeviceRegion) -> np.ndarray:
        """The bytes of a region that was checked: uint8 [rows, width]."""
        return self._rows_of(self.device.memory.view, region)

    @staticmethod
    def _rows_of(view: Callable[[int, int], np.ndarray], region: DeviceRegion) -> np.ndarray:
        """The same of bytes, or of what tells of them."""
        flat = view(region.address, region.end - region.address)
        strides = (region.pitch if region.rows > 1 else region.width, 1)
        return np.lib.stride_tricks.as_strided(flat, (region.rows, region.width), strides)

    def create_texture(self, fields: dict, data: bytes) -> CallAnswer:
        """A texture or surface over elements in device memory."""
        handle = textures.create(self.device, fields)
        self._textures.add(handle)
        return CallAnswer((handle,))

    def destroy_texture(self, fields: dict, data: bytes) -> CallAnswer:
        """Free a texture."""
        if fields["texture"] not in self._textures:
            raise Refused(Status.INVALID_HANDLE)
        self._textures.remove(fields["texture"])
        self.device.drain()
        remove(self.device.memory, fields["texture"])
        return CallAnswer()
