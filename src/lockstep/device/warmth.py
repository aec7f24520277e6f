"""What launches that are not simulated leave in the caches for one that is."""

from typing import Protocol

import numpy as np

from lockstep.device.execution import workload_kernel
from lockstep.device.launch import Launch
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.touched import TouchedLines
from lockstep.execution.programs.program import Recording
from lockstep.execution.streams.accesses import reads_and_writes, requests_of
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.model.core import bind
from lockstep.workload import Cta, Kernel, MemoryCopy
from lockstep.workload.warm import L2_LINE, LAUNCHED, WarmSet

CAPACITIES = 2  # of an L2: lines that are brought to it, as its sets do not share them evenly


class NotedLines(Protocol):
    """Which lines were touched, and how."""

    def copy(self, copy: MemoryCopy) -> None:
        """The host writes memory."""
        ...

    def begin(self) -> None:
        """Forget all that was touched so far, but for constants."""
        ...

    def runs(self, most: int) -> np.ndarray:
        """What was touched, the ``most`` lines that were last: see :class:`.WarmSet`."""
        ...

    def constants(self) -> np.ndarray:
        """Addresses of sectors that were read as constants: int64."""
        ...


class WarmHistory:
    """The launches so far, and which lines those touched that are warmed.

    ``l2_bytes``: of the L2 that is warmed.
    """

    def __init__(self, lines: NotedLines, l2_bytes: int):
        self._lines, self.l2_bytes = lines, l2_bytes
        self._numbers: dict[str, int] = {}  # of kernels, by name
        self._launches = np.zeros(64, LAUNCHED)
        self._count = self._there = 0

    def copied(self, copy: MemoryCopy) -> None:
        """The host writes memory."""
        self._lines.copy(copy)

    def warm(self, name: str, ctas: int) -> None:
        """A launch of a kernel is next, and what it touches is noted."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if self._count == len(self._launches):
            self._launches = np.concatenate([self._launches, np.zeros_like(self._launches)])
        self._launches[self._count] = number, ctas
        self._count += 1

    def simulate(self, name: str, ctas: int) -> WarmSet | None:
        """A launch is simulated: what was warmed since the last one, if anything was."""
        there, warmed = self._there, self._count > self._there
        self.warm(name, ctas)
        self._there = self._count
        found = self._found(there, False) if warmed else None
        self._lines.begin()
        return found

    def before(self) -> WarmSet:
        """What was warmed so far, for the launch that was said to be next and has not run."""
        return self._found(0, True)

    def _found(self, there: int, alone: bool) -> WarmSet:
        runs = self._lines.runs(CAPACITIES * self.l2_bytes // L2_LINE)
        launches = self._launches[: self._count].copy()
        return WarmSet(runs, launches, there, alone, self._lines.constants())


class _MemoryLines:
    """The lines of a device's memory."""

    def __init__(self, memory: DeviceMemory):
        self._memory = memory

    def copy(self, copy: MemoryCopy) -> None:
        self._memory.touched.copy(copy)

    def begin(self) -> None:
        self._memory.touched.begin()

    def runs(self, most: int) -> np.ndarray:
        return self._memory.touched.runs(self._memory.end, most)

    def constants(self) -> np.ndarray:
        return self._memory.touched.constants(self._memory.end)


class LaunchHistory:
    """The launches of a device so far: a :class:`WarmHistory` of its memory.

    ``l2_bytes``: of the L2 that is warmed; that of the GPU if it is not given.
    """

    def __init__(self, gpu: GPU, memory: DeviceMemory, l2_bytes: int | None = None):
        self._gpu, self._memory = gpu, memory
        self.l2_bytes = totals(gpu).l2_bytes if l2_bytes is None else l2_bytes
        self._history = WarmHistory(_MemoryLines(memory), self.l2_bytes)
        memory.touched.most = self.l2_bytes // L2_LINE
        self._waves: dict[tuple, int] = {}  # how many CTAs the GPU holds, of each code and shape

    def copied(self, copy: MemoryCopy) -> None:
        """The host writes memory."""
        self._history.copied(copy)

    def warm(self, launch: Launch) -> None:
        """A launch is about to be executed, and notes what it touches."""
        self._history.warm(launch.kernel.name, launch.geometry.ctas)
        key = launch.code, launch.geometry.shape
        if key not in self._waves:
            kernel = workload_kernel(launch, Recording.LINES)
            self._waves[key] = bind.occupancy(kernel, self._gpu)[0] * self._gpu.sm.count
        self._memory.touched.wave = self._waves[key]

    def simulate(self, launch: Launch) -> WarmSet | None:
        """A launch is simulated: what was warmed since the last one, if anything was."""
        return self._history.simulate(launch.kernel.name, launch.geometry.ctas)

    def before(self) -> WarmSet:
        """What was warmed so far, for the launch that was said to be next and has not run."""
        return self._history.before()


class StreamLines:
    """Notes the lines of a kernel whose code does not do that itself: from its streams."""

    def __init__(self, kernel: Kernel, touched: TouchedLines):
        self._kernel, self._touched = kernel, touched

    def take(self, cta: Cta) -> None:
        """A CTA was executed."""
        if len(cta.addresses):
            requests = requests_of(self._kernel, [cta])
            _, writes = reads_and_writes(requests, self._kernel.code.instructions)
            self._touched.touch(requests.touched, writes[requests.owner])
