"""What a grid leaves to be done when it has ended: kernels, copies and fills, in its streams.

These are the streams of CUDA's device runtime: those that the grid made, one of each block, one of
each thread, and two with names. Tasks of a stream follow each other; one that is launched to the
stream "fire and forget" waits for nothing, and one of the tail stream for all that are not there.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.programs.program import Program

TAIL, FORGET = 3, 4  # cudaStreamTailLaunch, cudaStreamFireAndForget


Triple = tuple[int, int, int]


class SizedParameter(Protocol):
    """A parameter of a kernel, as far as its place matters."""

    @property
    def offset(self) -> int:
        """In the block of all parameters."""
        ...

    @property
    def bytes(self) -> int:
        """That it takes there."""
        ...


class Launchable(Protocol):
    """A kernel that kernels may launch."""

    name: str

    @property
    def parameters(self) -> Sequence[SizedParameter]:
        """In their order."""
        ...

    @property
    def program(self) -> Program:
        """It as machine code of this host."""
        ...

    @property
    def most_threads(self) -> int:
        """In the largest block that it was compiled for."""
        ...

    @property
    def required_cluster(self) -> Triple | None:
        """The clusters that it was compiled for, if it says so."""
        ...

    def geometry(self, shape: tuple[Triple, Triple, int]) -> Geometry:
        """A launch of a grid, a block and so much dynamic shared memory.

        Raises :class:`WorkloadError` if the GPU cannot run it.
        """
        ...


class Launchables(Protocol):
    """The kernels of a module."""

    def kernel_at(self, address: int) -> Launchable | None:
        """The kernel that has an address in device code, if one has."""
        ...


class ChildLaunch(NamedTuple):
    """A kernel that a kernel launched."""

    kernel: Launchable
    geometry: Geometry
    parameters: bytes


class ByteRows(NamedTuple):
    """Where rows of bytes are: the first one, and from row to row and from slice to slice."""

    address: int
    pitch: int = 0
    slice: int = 0

    def at(self, y: int, z: int) -> int:
        """Where a row begins."""
        return self.address + z * self.slice + y * self.pitch


class DeviceTransfer(NamedTuple):
    """Rows of bytes that are copied, or filled with one if there is no source.

    ``size``: bytes of a row, rows of a slice, slices.
    """

    target: ByteRows
    source: ByteRows | None
    value: int
    size: Triple

    def perform(self, memory: DeviceMemory) -> None:
        """Raises :class:`DeviceMemoryError` where a row is not inside an allocation."""
        width, height, depth = self.size
        for z in range(depth):
            for y in range(height):
                place = self.target.at(y, z)
                row = memory.view(place, width)
                row[:] = self.value if self.source is None else self._read(memory, y, z)
                memory.written(place, width)

    def _read(self, memory: DeviceMemory, y: int, z: int) -> np.ndarray:
        assert self.source is not None, "it is a copy"
        return memory.view(self.source.at(y, z), self.size[0])


class GridTask(msgspec.Struct):
    """One of them; ``awaits``: the numbers of those of the same grid that have to end before."""

    what: ChildLaunch | DeviceTransfer
    awaits: tuple[int, ...]
    is_tail: bool


class UnknownHandle(LockstepError):
    """A stream or an event that the grid has not made."""


class Prepared(NamedTuple):
    """A buffer for parameters, and what is to be launched with them if that is known."""

    kernel: Launchable | None
    geometry: Geometry | None
    size: int


class GridTasks(msgspec.Struct):
    """The tasks of one grid by their numbers, its streams and its events.

    ``errors``: the last one of each thread. ``buffers``: those for parameters by their addresses.
    """

    tasks: list[GridTask] = []
    errors: dict[Hashable, int] = {}
    buffers: dict[int, Prepared] = {}
    _of_block: dict[Hashable, int] = {}  # how many each has asked for
    _ends: dict[Hashable, tuple[int, ...]] = {}  # of each stream: awaited
    _events: dict[int, tuple[int, ...]] = {}
    _streams: set[int] = set()

    def of_block(self, block: Hashable) -> int:
        """How many tasks a block has asked for."""
        return self._of_block.get(block, 0)

    def add(self, what: ChildLaunch | DeviceTransfer, stream: Hashable, block: Hashable) -> None:
        """A task at the end of a stream, for a block."""
        self._of_block[block] = self.of_block(block) + 1
        awaits = () if stream == FORGET else self._ends.get(stream, ())
        self.tasks.append(GridTask(what, awaits, stream == TAIL))
        self._ends[stream] = (len(self.tasks) - 1,)

    def open_stream(self, handle: int) -> None:
        """A new stream."""
        self._streams.add(handle)

    def check_stream(self, handle: int) -> None:
        """Raise :class:`UnknownHandle` if the grid has no such stream."""
        if handle not in self._streams:
            raise UnknownHandle(f"stream {handle:#x}")

    def close_stream(self, handle: int) -> None:
        """What is in it will be done."""
        self.check_stream(handle)
        self._streams.remove(handle)

    def open_event(self, handle: int) -> None:
        """A new event: nobody waits for it until it is recorded."""
        self._events[handle] = ()

    def close_event(self, handle: int) -> None:
        """Those who wait for it go on waiting."""
        self._check_event(handle)
        del self._events[handle]

    def record(self, event: int, stream: Hashable) -> None:
        """An event happens when all has ended that a stream has now."""
        self._check_event(event)
        self._events[event] = self._ends.get(stream, ())

    def wait(self, stream: Hashable, event: int) -> None:
        """What comes to a stream from now on waits for an event."""
        self._check_event(event)
        self._ends[stream] = (*self._ends.get(stream, ()), *self._events[event])

    def _check_event(self, handle: int) -> None:
        if handle not in self._events:
            raise UnknownHandle(f"event {handle:#x}")
