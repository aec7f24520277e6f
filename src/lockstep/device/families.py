"""What follows from a launch: the kernels that it launched, those that these launched, and so on.

A grid has ended when all that it left to be done has. What is left begins when its grid has been
executed, in waves: all tasks of all grids of the family that wait for nothing any more run at the
same time, each in a stream of its own; the next wave begins when they have ended.
"""

from dataclasses import dataclass
from typing import Protocol, cast

from lockstep.device.launch import Launch, LaunchedKernel
from lockstep.device.owner import OwningDevice
from lockstep.device.streams import Stream
from lockstep.errors import WorkloadError
from lockstep.execution.device_runtime.tasks import ChildLaunch, DeviceTransfer, GridTask
from lockstep.execution.launches.faults import LaunchError
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.memory.device_memory import DeviceMemoryError


class FamilyDevice(OwningDevice, Protocol):
    """A device, as far as families of launches need it."""

    def stream(self, blocking: bool = True) -> Stream:
        """A new stream."""
        ...

    def begin(
        self,
        kernel: LaunchedKernel,
        geometry: Geometry,
        parameters: bytes,
        stream: Stream,
        parent: Launch,
    ) -> Launch:
        """Queue a launch by a kernel, or execute it."""
        ...


@dataclass(eq=False)
class _Grid:
    """A launch that has been executed; ``number``: of its task in its parent's."""

    launch: Launch
    parent: "_Grid | None" = None
    number: int = 0

    def __post_init__(self) -> None:
        self.waiting = dict.fromkeys(range(len(self.tasks)))  # tasks that have not begun, in order
        self.left = set(self.waiting)  # that have not ended
        self._tails = [k for k in self.waiting if self.tasks[k].is_tail]
        self._others = len(self.left) - len(self._tails)  # that have not ended, and are no tails
        self._followers: list[list[int]] = [[] for _ in self.tasks]
        for number, task in enumerate(self.tasks):
            for before in task.awaits:
                self._followers[before].append(number)

    @property
    def tasks(self) -> list[GridTask]:
        """What it left to be done."""
        return self.launch.tasks.tasks if self.launch.tasks is not None else []

    def awaits(self, number: int) -> set[int]:
        """The tasks that have to end before one begins: of the tail, all others."""
        task = self.tasks[number]
        others = {k for k in self.left if not self.tasks[k].is_tail} if task.is_tail else set()
        return self.left & {*task.awaits, *others}

    def may_follow(self, number: int) -> set[int]:
        """Those that wait and may be able to begin when a task has begun, or has ended."""
        tails = self._tails if self._others <= 1 else ()
        return {k for k in (*self._followers[number], *tails) if k in self.waiting}

    def end(self, number: int) -> None:
        """A task has ended; with the last one the grid has, too."""
        self.left.discard(number)
        self._others -= not self.tasks[number].is_tail
        if not self.left and self.parent is not None:
            self.parent.end(self.number)


_Task = tuple[_Grid, int]


class Families:
    """The launches by kernels of one device."""

    def __init__(self, device: FamilyDevice):
        self._device = device
        self._streams: list[Stream] = []
        self._used = 0  # streams of the wave
        self._last: dict[_Task, Stream] = {}  # by their last tasks, if these can have no tasks

    def check(self, kernel: LaunchedKernel) -> None:
        """Refuse a kernel that launches where launches by kernels have no time."""
        if self._device.host_takes_time and kernel.program.launches:
            raise WorkloadError(
                f"kernel {kernel.name}: kernels that launch kernels have no time where the host "
                "takes time: set host.copy=instant and one GPU, or --timing none"
            )

    def follow(self, launch: Launch, stream: Stream) -> None:
        """Do all that follows from a launch in a stream, which was queued or executed.

        The first task of a wave is in the same stream. Raises the first error of a launch.
        """
        self._device.drain()
        self._streams[:1] = [stream]
        grids = [_Grid(launch)]
        while grids := [grid for grid in grids if grid.left]:
            begun = self._wave(grids)
            self._device.drain()
            for grid, number, child in begun:
                made = _Grid(child, grid, number)
                grids.append(made)
                if not made.left:
                    grid.end(number)

    def _wave(self, grids: list[_Grid]) -> list[tuple[_Grid, int, Launch]]:
        """Begin what waits for nothing, and then what follows that in its stream, round by round.

        So no launch waits behind one of another stream that cannot begin yet. Each round tries what
        the one before it may have made possible.
        """
        begun: list[tuple[_Grid, int, Launch]] = []
        self._used, self._last = 0, {}
        places = {grid: place for place, grid in enumerate(grids)}
        tried = [(grid, k) for grid in grids for k in grid.waiting if not grid.awaits(k)]
        while tried:
            after = set[tuple[int, int]]()
            for grid, number in tried:
                stream = self._stream_for(grid, number)
                if stream is not None:
                    self._begin(grid, number, stream, begun)
                    after.update((places[grid], k) for k in grid.may_follow(number))
            tried = [(grids[place], number) for place, number in sorted(after)]
        return begun

    def _begin(
        self, grid: _Grid, number: int, stream: Stream, begun: list[tuple[_Grid, int, Launch]]
    ) -> None:
        """Begin a task; a launch is added to those that ``begun``."""
        del grid.waiting[number]
        what = grid.tasks[number].what
        if isinstance(what, ChildLaunch):
            begun.append((grid, number, self._launch(grid, number, what, stream)))
        else:
            self._transfer(grid, number, what)

    def _stream_for(self, grid: _Grid, number: int) -> Stream | None:
        """A stream in which a task may begin now; None: it has to wait."""
        awaits = grid.awaits(number)
        if not awaits:
            self._used += 1
            if self._used > len(self._streams):
                self._streams.append(self._device.stream(blocking=False))
            return self._streams[self._used - 1]
        if len(awaits) > 1 or not isinstance(grid.tasks[number].what, ChildLaunch):
            return None
        (before,) = awaits
        return self._last.get((grid, before))

    def _launch(self, grid: _Grid, number: int, what: ChildLaunch, stream: Stream) -> Launch:
        kernel = cast(LaunchedKernel, what.kernel)  # of a module of the device
        launch = self._device.begin(kernel, what.geometry, what.parameters, stream, grid.launch)
        for before in grid.awaits(number):
            self._last.pop((grid, before), None)
        if not kernel.program.launches:
            self._last[grid, number] = stream
        return launch

    def _transfer(self, grid: _Grid, number: int, what: DeviceTransfer) -> None:
        try:
            what.perform(self._device.memory)
        except DeviceMemoryError as error:
            name = grid.launch.kernel.name
            message = f"a copy or fill that it asked for: {error}"
            raise LaunchError("illegal_address", name, message) from error
        grid.end(number)
