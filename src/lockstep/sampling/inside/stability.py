"""Principal kernel projection: a launch ends when its IPC has been steady for a while.

After Avalos Baddouh et al., "Principal Kernel Analysis" (MICRO 2021), section 3.2: the mean and the
standard deviation of IPC over the last 3,000 cycles; the launch is stable where the deviation is
below s = 0.25 and one wave of CTAs has finished, if the grid has as many. The paper does not say of
what 0.25 is: both readings are here. IPC is in warp instructions, of the whole GPU.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from lockstep.errors import LockstepError
from lockstep.sampling.inside.evidence import Mark, Stable
from lockstep.sampling.inside.projection import Projection, check_way, project

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun
    from lockstep.engine.stop import KernelCounters, Read
    from lockstep.workload import Cta, Kernel

THRESHOLD = 0.25  # s; PKA, section 3.2
WINDOW = 3000  # cycles; PKA, section 3.2
BIN = 50  # cycles; guess: the paper does not say how often IPC is looked at
LONG_WAVE = 60_000  # cycles; guess: the ramp of a wave is then below 5 % of it
READINGS = ("mean", "gpu")
"""What the threshold is a part of: ``mean``, the mean IPC; ``gpu``, none: it is IPC of the GPU."""


@dataclass
class _History:
    launched: int
    marks: deque[Mark] = field(default_factory=deque)


class Stability:
    """A stop rule for all kernels of a run: ``simulate(stop=rule, stop_interval=rule.bin)``.

    ``threshold`` is s, and ``of`` what it is a part of, see :data:`READINGS`; ``window`` and
    ``bin`` are cycles (a bin is as long as the engine's windows make it, ``bin`` at least). A grid
    of less than one wave is simulated whole, unless its first CTAs run for ``long_wave`` cycles: it
    ends as it began, all at once, and no rate tells its tail. Kernels that run beside others are
    not ended: counters are those of the GPU. ``stable`` has the evidence for each that was, by id.
    ``by``: how it is projected, see :func:`.project`. Raises :class:`LockstepError` for a number
    that is no length and for an unknown reading.
    """

    ends = True

    def __init__(
        self,
        threshold: float = THRESHOLD,
        of: str = "mean",
        *,
        window: int = WINDOW,
        bin: int = BIN,
        long_wave: int = LONG_WAVE,
        by: str = "instructions",
    ):
        check_way(by)
        if of not in READINGS:
            raise LockstepError(f"stability of {of!r}; expected one of: {', '.join(READINGS)}")
        if not threshold > 0:
            raise LockstepError(f"threshold = {threshold}: expected more than 0")
        if not 1 <= bin <= window:
            raise LockstepError(f"bins of {bin} cycles in {window}: expected 1 to {window}")
        self.threshold, self.of = threshold, of
        self.window, self.bin, self.long_wave = window, bin, long_wave
        self.by = by
        self.stable: dict[int, Stable] = {}
        self._instructions: dict[int, int] = {}  # warp instructions of launches, as they are read
        self._histories: dict[int, _History] = {}
        self._company = Company()

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> bool | str:
        """Whether the kernel is steady; the text says since when, and with which IPC."""
        for gone in self._company.ask(kernel.id, cycle):
            self._histories.pop(gone, None)
        if not self._company.alone or counters.started < 0:
            self._histories.pop(kernel.id, None)
            return False
        history = self._histories.setdefault(kernel.id, _History(counters.launched))
        if history.launched != counters.launched:  # another launch of that number
            history = self._histories[kernel.id] = _History(counters.launched)
        marks = history.marks
        if marks and cycle - marks[-1].cycle < self.bin:
            return False
        marks.append(Mark(cycle, counters))
        while len(marks) > 2 and cycle - marks[1].cycle >= self.window:
            marks.popleft()
        if cycle - marks[0].cycle < self.window or not self._may_end(cycle, counters):
            return False
        stable = Stable(marks[0], marks[-1], _deviation(marks))
        limit = self.threshold * (stable.ipc if self.of == "mean" else 1.0)
        if not stable.deviation < limit:
            return False
        self.stable[kernel.id] = stable
        del self._histories[kernel.id]
        return f"IPC is steady at {stable.ipc:.3g}, standard deviation {stable.deviation:.2g}"

    @property
    def read(self) -> "Read | None":
        """It is told of CTAs if it is to project by their instructions."""
        return self._read if self.by == "instructions" else None

    def _read(self, kernel: "Kernel", ctas: "Sequence[Cta]", before: int) -> None:
        done = self._instructions.get(kernel.id, 0) if before else 0
        more = sum(int(cta.warps["warp_instructions"].sum()) for cta in ctas)
        self._instructions[kernel.id] = done + more

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch would have taken."""
        stable, instructions = self.stable.get(run.id), self._instructions.get(run.id)
        return project(run, stable=stable, instructions=instructions, by=self.by)

    def _may_end(self, cycle: int, counters: "KernelCounters") -> bool:
        if counters.ctas < counters.wave:
            return cycle - counters.started >= self.long_wave
        return counters.ctas_done >= counters.wave


class Company:
    """Which kernels run together, from the questions to a rule: in a cycle, in launch order."""

    def __init__(self) -> None:
        self._cycle = -1
        self._now: list[int] = []
        self._before: list[int] = []

    def ask(self, kernel: int, cycle: int) -> set[int]:
        """Note a question; the kernels that are asked about no more."""
        gone: set[int] = set()
        if cycle != self._cycle:
            gone = set(self._before) - set(self._now)
            self._cycle, self._before, self._now = cycle, self._now, []
        self._now.append(kernel)
        return gone

    @property
    def alone(self) -> bool:
        """Whether the kernel of the last question runs alone, as far as is known.

        Earlier launches would have been asked about in this cycle; later ones were in the last.
        """
        (*earlier, kernel) = self._now
        return not earlier and (kernel not in self._before or self._before[-1] == kernel)


def _deviation(marks: deque[Mark]) -> float:
    """Of IPC between marks that follow each other, weighted by cycles."""
    bins = [(b.cycle - a.cycle, b.instructions - a.instructions) for a, b in pairwise(marks)]
    cycles = sum(length for length, _ in bins)
    mean = sum(done for _, done in bins) / cycles
    return math.sqrt(sum(n * (done / n - mean) ** 2 for n, done in bins) / cycles)
