"""What follows from a launch: the kernels that it launched, those that these launched, and so on.

A grid has ended when all that it left to be done has. What is left begins when its grid has been
executed, in waves: all tasks of all grids of the family that wait for nothing any more run at the
same time, each in a stream of its own; the next wave begins when they have ended.
"""

from dataclasses import dataclass, field
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
    waiting: list[int] = field(default_factory=list)  # numbers of tasks that have not begun
    left: set[int] = field(default_factory=set)  # of those that have not ended

    def __post_init__(self) -> None:
        self.waiting = list(range(len(self.tasks)))
        self.left = set(self.waiting)

    @property
    def tasks(self) -> list[GridTask]:
        """What it left to be done."""
        return self.launch.tasks.tasks if self.launch.tasks is not None else []

    def awaits(self, number: int) -> set[int]:
        """The tasks that have to end before one begins: of the tail, all others."""
        task = self.tasks[number]
        others = {k for k in self.left if not self.tasks[k].is_tail} if task.is_tail else set()
        return self.left & {*task.awaits, *others}

    def end(self, number: int) -> None:
        """A task has ended; with the last one the grid has, too."""
        self.left.discard(number)
        if not self.left and self.parent is not None:
            self.parent.end(self.number)


class Families:
    """The launches by kernels of one device."""

    def __init__(self, device: FamilyDevice):
        self._device = device
        self._streams: list[Stream] = []
        self._used = 0  # streams of the wave
        self._last: dict[int, tuple[_Grid, int]] = {}  # of each: the task, if it can have no tasks

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
        runtime = self._device.services.cuda
        try:
            while grids := [grid for grid in grids if grid.left]:
                begun = self._wave(grids)
                self._device.drain()
                for grid, number, child in begun:
                    made = _Grid(child, grid, number)
                    grids.append(made)
                    if not made.left:
                        grid.end(number)
        finally:
            runtime.pending = 0

    def _wave(self, grids: list[_Grid]) -> list[tuple[_Grid, int, Launch]]:
        """Begin what waits for nothing, and then what follows that in its stream, round by round.

        So no launch waits behind one of another stream that cannot begin yet.
        """
        begun: list[tuple[_Grid, int, Launch]] = []
        self._used, self._last = 0, {}
        waiting = -1
        while waiting != (waiting := sum(len(grid.waiting) for grid in grids)):
            last = dict(self._last)
            for grid in grids:
                for number in list(grid.waiting):
                    stream = self._stream_for(grid, number, last)
                    if stream is not None:
                        self._begin(grid, number, stream, begun)
        return begun

    def _begin(
        self, grid: _Grid, number: int, stream: Stream, begun: list[tuple[_Grid, int, Launch]]
    ) -> None:
        """Begin a task; a launch is added to those that ``begun``."""
        grid.waiting.remove(number)
        self._device.services.cuda.pending -= 1
        what = grid.tasks[number].what
        if isinstance(what, ChildLaunch):
            begun.append((grid, number, self._launch(grid, number, what, stream)))
        else:
            self._transfer(grid, number, what)

    def _stream_for(
        self, grid: _Grid, number: int, last: dict[int, tuple[_Grid, int]]
    ) -> Stream | None:
        """A stream in which a task may begin now; None: it has to wait.

        ``last``: what was last in each stream before this round.
        """
        awaits = grid.awaits(number)
        if not awaits:
            self._used += 1
            if self._used > len(self._streams):
                self._streams.append(self._device.stream(blocking=False))
            return self._streams[self._used - 1]
        if len(awaits) > 1 or not isinstance(grid.tasks[number].what, ChildLaunch):
            return None
        before = grid, *awaits
        return next((self._streams[k] for k, task in last.items() if task == before), None)

    def _launch(self, grid: _Grid, number: int, what: ChildLaunch, stream: Stream) -> Launch:
        kernel = cast(LaunchedKernel, what.kernel)  # of a module of the device
        launch = self._device.begin(kernel, what.geometry, what.parameters, stream, grid.launch)
        place = self._streams.index(stream)
        self._last.pop(place, None)
        if not kernel.program.launches:
            self._last[place] = grid, number
        return launch

    def _transfer(self, grid: _Grid, number: int, what: DeviceTransfer) -> None:
        try:
            what.perform(self._device.memory)
        except DeviceMemoryError as error:
            name = grid.launch.kernel.name
            message = f"a copy or fill that it asked for: {error}"
            raise LaunchError("illegal_address", name, message) from error
        grid.end(number)
