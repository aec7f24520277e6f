"""Launch tables of what a device executes: a row a launch, and nothing else of it is kept."""

import sys
from array import array
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
import pandas as pd

from lockstep.device import Device, Launch
from lockstep.device.arguments import described
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.execution.streams.accesses import Requests, reads_and_writes
from lockstep.gpus.library import totals
from lockstep.sampling.history import SectorHistory, Touched
from lockstep.sampling.launched import SampledLaunch, TracedLaunch, light_of
from lockstep.sampling.streams import StreamCounts
from lockstep.sampling.table import BLOCKS, LIGHT, MEMORY, TIME, LaunchTable
from lockstep.workload import Cta, Kernel, Workload

LEVELS = (0, 1, 2, 3)
LEVELS_OF_TRACES = (0, 1, 3)
Told = Callable[[int, str], None]
"""Gets the number of launches so far, and the kernel of the last one."""


class Profiler:
    """Watches a device from now on, and makes a launch table of what it launches.

    ``level``: of the columns, see :class:`LaunchTable`; from 1 on the device profiles. What is
    timed has its cycles as ``time``. A launch that fails is left out, as is one that has not ended.
    ``l2_bytes``: of the L2 of level 3, the GPU's unless it is given. ``told`` is called for each
    launch that has ended. Raises :class:`LockstepError` if the device does not count what the level
    needs.
    """

    def __init__(
        self,
        device: Device,
        level: int = 2,
        *,
        l2_bytes: int | None = None,
        told: Told | None = None,
    ):
        _check_level(level, LEVELS)
        if level and not device.profiling:
            raise LockstepError(f"level {level} needs a device with profile=True")
        self.level, self.reads = level, level == 3
        self._device, self._rows, self._told = device, _Rows(), told
        self._memory = _Memory(totals(device.gpu).l2_bytes if l2_bytes is None else l2_bytes)
        self._begun: dict[int, tuple] = {}  # what is known of launches that have not ended
        device.watch(self)

    def __len__(self) -> int:
        return len(self._rows.light)

    def launched(self, launch: Launch) -> None:
        """Note what is known before it runs: later its memory may be somebody else's."""
        self._begun[launch.id] = _light(launch, self._device)
        if self.reads:
            self._memory.begin()

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """Look at what a CTA accesses."""
        self._memory.read(kernel, cta)

    def ended(self, launch: Launch) -> None:
        """Make its row."""
        rows = self._rows
        if self.level:
            rows.count(launch.profiled().metrics())
        if self.level >= 2:
            rows.list_blocks(launch.profiled().counted()[0])
        if self.reads:
            rows.memory.append(self._memory.end())
        run = launch.run  # of one that a stop rule has cut, nobody knows how long all of it takes
        rows.times.append(float("nan") if run is None or not run.complete else run.cycles)
        rows.light.append((launch.id, *self._begun.pop(launch.id)))
        if self._told:
            self._told(len(self), launch.kernel.name)

    def table(self) -> LaunchTable:
        """The launches that have ended so far, in program order; level 4 if all were timed.

        Raises :class:`LockstepError` if there is none.
        """
        frame = self._rows.frame()
        source = f"simulated, {self._device.gpu.name}" if TIME in frame else ""
        return LaunchTable(frame, source=source)


class LightRows:
    """The columns of level 0 of launches that are about to run."""

    def __init__(self) -> None:
        self._rows: list[tuple] = []

    def add(self, launch: SampledLaunch) -> None:
        """Note what is known of a launch before it runs."""
        if isinstance(launch, TracedLaunch):
            self._rows.append(launch.light)
        else:
            self._rows.append(_light(cast(Launch, launch), cast(OwningDevice, launch.device)))

    def table(self) -> LaunchTable:
        """All of them, in the order in which they came."""
        return LaunchTable(pd.DataFrame(self._rows, columns=list(LIGHT[:-1])))


def table_of(kernels: Iterable[Kernel]) -> LaunchTable:
    """What is known of the kernels of a trace without reading them: level 0."""
    return LaunchTable(pd.DataFrame(map(light_of, kernels), columns=list(LIGHT[:-1])))


def _light(launch: Launch, device: OwningDevice) -> tuple:
    """The columns of level 0, but the range: a device knows no markers."""
    shape, kernel = launch.geometry, launch.kernel
    return (
        sys.intern(kernel.name),
        sys.intern(launch.code),
        *shape.grid,
        *shape.block,
        launch.shared_bytes,
        launch.registers,
        launch.stream,
        sys.intern(described(kernel.parameters, launch.parameters, device.memory)),
    )


class TraceProfiler:
    """Makes a launch table of the kernels of a trace, each of which it reads.

    ``level``: 0, 1, or 3 with an L2 of ``l2_bytes``; a trace has no basic blocks, no arguments, and
    of lanes that a predicate leaves out no sign: they do not count as threads. Kernels of one name
    and one architecture are one code. ``told``: as of :class:`Profiler`.
    """

    def __init__(
        self, workload: Workload, level: int = 1, *, l2_bytes: int = 0, told: Told | None = None
    ):
        _check_level(level, LEVELS_OF_TRACES)
        self.level = level
        self._workload, self._rows, self._told = workload, _Rows(), told
        self._memory = _Memory(l2_bytes)

    def __len__(self) -> int:
        return len(self._rows.light)

    def read(self) -> None:
        """Read all of the trace; what ends early leaves the kernels before."""
        for number, kernel in enumerate(self._workload.kernels):
            if self.level:
                self._read(kernel)
            self._rows.light.append((number, *light_of(kernel)))
            if self._told:
                self._told(len(self), kernel.name)

    def _read(self, kernel: Kernel) -> None:
        counts = StreamCounts(kernel, self._memory.touch if self.level == 3 else None)
        self._memory.begin()
        for cta in kernel.ctas():
            counts.take(cta)
        self._rows.count(counts.metrics())
        if self.level == 3:
            self._rows.memory.append(self._memory.end())

    def table(self) -> LaunchTable:
        """The kernels that were read so far; raises :class:`LockstepError` if there is none."""
        return LaunchTable(self._rows.frame())


def _check_level(level: int, known: tuple[int, ...]) -> None:
    if level not in known:
        raise LockstepError(f"level {level}; expected one of {', '.join(map(str, known))}")


class _Memory:
    """The sectors that launches touch, one launch after the other."""

    def __init__(self, l2_bytes: int):
        self._history = SectorHistory(l2_bytes)
        self._streams: StreamCounts | None = None

    def begin(self) -> None:
        """A launch begins."""
        self._history.begin()
        self._streams = None

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """A CTA of it was executed."""
        if self._streams is None:
            self._streams = StreamCounts(kernel, self.touch)
        self._streams.take(cta)

    def touch(self, requests: Requests, code: np.ndarray) -> None:
        """Requests were made, in their order."""
        reads, writes = reads_and_writes(requests, code)
        owner = requests.owner
        self._history.touch(requests.touched, reads[owner], writes[owner])

    def end(self) -> Touched:
        """What the launch has touched."""
        if self._streams is not None:
            self._streams.finish()
        return self._history.end()


class _Rows:
    """What is kept of launches, in the order in which they ended.

    Launches with the same counts of blocks share the lists: most of a program's do.
    """

    def __init__(self) -> None:
        self.light: list[tuple] = []
        self.times = array("d")
        self.memory: list[Touched] = []
        self._names: list[str] = []
        self._counters = array("d")
        self._lists: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []

    def count(self, counters: dict[str, float]) -> None:
        """Keep the counters of a launch."""
        self._names = self._names or list(counters)
        self._counters.extend(counters.values())

    def list_blocks(self, times: np.ndarray) -> None:
        """Keep how often each block of a launch was executed, without those that were not."""
        ran = np.flatnonzero(times)
        lists = ran, times[ran]
        self._blocks.append(self._lists.setdefault(lists[0].tobytes() + lists[1].tobytes(), lists))

    def frame(self) -> pd.DataFrame:
        """All rows, in the order in which they were launched."""
        frame = pd.DataFrame(self.light, columns=["id", *LIGHT[:-1]])
        if self._names:
            counters = np.array(self._counters).reshape(len(frame), len(self._names))
            frame[self._names] = counters
        if self._blocks:
            for column, lists in zip(BLOCKS, zip(*self._blocks)):
                frame[column] = pd.Series(lists, dtype=object)
        if self.memory:
            frame[list(MEMORY)] = np.array(self.memory, np.int64)
        if len(self.times) and not np.isnan(self.times).any():
            frame[TIME] = np.array(self.times)
        return frame.sort_values("id").drop(columns="id")
