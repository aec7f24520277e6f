"""Launch tables of what a device executes: a row a launch, and nothing else of it is kept."""

import sys
from array import array

import numpy as np
import pandas as pd

from lockstep.device import Device, Launch
from lockstep.device.arguments import described
from lockstep.errors import LockstepError
from lockstep.sampling.table import BLOCKS, LIGHT, TIME, LaunchTable

LEVELS = (0, 1, 2)


class Profiler:
    """Watches a device from now on, and makes a launch table of what it launches.

    ``level``: of the columns, see :class:`LaunchTable`; from 1 on the device profiles. What is
    timed has its cycles as ``time``. A launch that fails is left out, as is one that has not ended.
    Raises :class:`LockstepError` if the device does not count what the level needs.
    """

    def __init__(self, device: Device, level: int = 2):
        if level not in LEVELS:
            raise LockstepError(f"level {level}; expected one of {', '.join(map(str, LEVELS))}")
        if level and not device.profiling:
            raise LockstepError(f"level {level} needs a device with profile=True")
        self.level = level
        self._device, self._rows = device, _Rows()
        self._begun: dict[int, tuple] = {}  # what is known of launches that have not ended
        device.watch(self)

    def __len__(self) -> int:
        return len(self._rows.light)

    def launched(self, launch: Launch) -> None:
        """Note what is known before it runs: later its memory may be somebody else's."""
        self._begun[launch.id] = _light(launch, self._device)

    def ended(self, launch: Launch) -> None:
        """Make its row."""
        rows = self._rows
        if self.level:
            rows.count(launch.profiled().metrics())
        if self.level >= 2:
            rows.list_blocks(launch.profiled().counted()[0])
        cycles = launch.run.cycles if launch.run is not None else None
        rows.times.append(float("nan") if cycles is None else cycles)
        rows.light.append((launch.id, *self._begun.pop(launch.id)))

    def table(self) -> LaunchTable:
        """The launches that have ended so far, in program order; level 4 if all were timed.

        Raises :class:`LockstepError` if there is none.
        """
        frame = self._rows.frame()
        source = f"simulated, {self._device.gpu.name}" if TIME in frame else ""
        return LaunchTable(frame, source=source)


def _light(launch: Launch, device: Device) -> tuple:
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


class _Rows:
    """What is kept of launches, in the order in which they ended.

    Launches with the same counts of blocks share the lists: most of a program's do.
    """

    def __init__(self) -> None:
        self.light: list[tuple] = []
        self.times = array("d")
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
        if len(frame) and not np.isnan(self.times).any():
            frame[TIME] = np.array(self.times)
        return frame.sort_values("id").drop(columns="id")
