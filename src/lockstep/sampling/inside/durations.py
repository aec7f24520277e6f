"""Photon: when warps, or basic blocks, take as long as those before them, the rest need not run.

After Liu et al., "Photon" (MICRO 2023), with the parameters of its authors' code. *Warp level*:
where nearly all warps are of one type, the first 1,024 warps that end are passed over; of the last
1,024 the time of the end is fitted to that of the start by least squares. They are stable where the
slope is within 1 +- 0.03 and the mean durations of the last 1,024 and of the last 512 differ by 3 %
of their sum at most. From then on each warp takes what the last 512 took in the mean. *Block
level*: the same of the executions of each basic block (``blocks.py``); when blocks with 95 % of the
instructions are stable, each warp takes the sum of what its blocks take. Whichever level is stable
first ends the launch: CTAs that are left take the places of those that ran, one after the other.

Warps are counted in CTAs, whose warps start together, as many as have them; so the fit is that of
warps, which end one by one. A CTA keeps its place until the last of its warps has ended and their
stores have left, longer than a warp that takes the mean: by the factor by which the last CTAs did,
or, as published, not at all.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.inside import blocks
from lockstep.sampling.inside.blocks import BlockTimes
from lockstep.sampling.inside.evidence import Lasting, Mark
from lockstep.sampling.inside.projection import (
    PLACES,
    Projection,
    check_places,
    project_durations,
)
from lockstep.sampling.inside.stability import BIN, Company
from lockstep.sampling.inside.warps import WarpStreams

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import Ended, KernelRun
    from lockstep.engine.stop import KernelCounters
    from lockstep.workload import Cta, Kernel

LEVELS = ("warps", "blocks")
WARPS = 1024  # Photon, as its authors brought it into MGPUSim
TOLERANCE = 0.03  # of the slope, and of mean durations; the same
DOMINANT = 0.95  # of the warps are of one type, where they are predicted as warps; guess


class Durations:
    """A stop rule for all kernels of a run: ``simulate(stop=rule, stop_interval=rule.bin)``.

    ``levels``: which of :data:`LEVELS` may end a launch; ``places``: see
    :data:`~lockstep.sampling.inside.projection.PLACES`. ``warps``:
    of the window, and of those passed over before it; ``dominant``: the share of the commonest
    type. ``executions``, ``slope`` and ``coverage``: of blocks, see ``blocks.py``. ``lasting`` has
    the evidence for each kernel that was ended, by id. Kernels that run beside others are not
    ended. Raises :class:`LockstepError` for numbers and names that are none of these.
    """

    ends = True

    def __init__(
        self,
        *,
        levels: Sequence[str] = LEVELS,
        places: str = PLACES[0],
        warps: int = WARPS,
        tolerance: float = TOLERANCE,
        dominant: float = DOMINANT,
        executions: int = blocks.EXECUTIONS,
        slope: float = blocks.SLOPE,
        coverage: float = blocks.COVERAGE,
        bin: int = BIN,
    ):
        if not levels or set(levels) - set(LEVELS):
            given = ", ".join(map(repr, levels)) or "none"
            raise LockstepError(f"levels {given}; expected some of: {', '.join(LEVELS)}")
        check_places(places)
        if not (warps >= 4 and executions >= 4 and bin >= 1 and tolerance > 0 and slope > 0):
            raise LockstepError(
                f"durations of {warps} warps and {executions} executions, tolerance {tolerance}, "
                f"slope {slope}, bin {bin}: expected at least 4, 4, above 0, above 0, at least 1"
            )
        if not (0 <= dominant <= 1 and 0 < coverage <= 1):
            raise LockstepError(f"shares {dominant} and {coverage}: expected 0 to 1")
        self.levels, self.warps, self.tolerance = tuple(levels), warps, tolerance
        self.places, self.dominant, self.executions = places, dominant, executions
        self.slope, self.coverage, self.bin = slope, coverage, bin
        self.lasting: dict[int, Lasting] = {}
        self._streams: dict[int, WarpStreams] = {}
        self._times: dict[int, BlockTimes] = {}
        self._company = Company()

    @property
    def counts_instructions(self) -> bool:
        """Whether it is to see what each instruction did."""
        return "blocks" in self.levels

    def read(self, kernel: "Kernel", ctas: "Sequence[Cta]", before: int) -> None:
        """What CTAs execute tells the types of warps, and what they would take."""
        if not before:
            self._streams[kernel.id] = WarpStreams(kernel.warps)
            self._times[kernel.id] = BlockTimes(self.executions, self.slope, self.tolerance)
        self._streams[kernel.id].add(ctas)

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> bool | str:
        """Whether warps or blocks have come to last as long as others; the text says how long."""
        for gone in self._company.ask(kernel.id, cycle):
            self._times.pop(gone, None)
        streams = self._streams.get(kernel.id)
        if streams is not None:
            streams.ended(max(0, counters.ctas_done - self._size(kernel)))
        if not self._company.alone or counters.begun >= counters.ctas:
            return False
        mark = Mark(cycle, counters)
        if "warps" in self.levels and (duration := self._of_warps(kernel, counters, streams)):
            last = counters.ended[-(self._size(kernel) // 2) :]
            kept = _mean(last) / duration
            found = Lasting(mark, "warps", duration, kept, len(counters.ended), streams)
            return self._end(kernel, found, f"warps last {duration:.0f} cycles")
        if "blocks" in self.levels and streams is not None and self._blocks(kernel, mark, streams):
            found = self._by_blocks(kernel, mark, streams)
            return self._end(kernel, found, "basic blocks take as long as before")
        return False

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch would have taken."""
        return project_durations(run, self.lasting.get(run.id), self.places)

    def _end(self, kernel: "Kernel", found: Lasting, reason: str) -> str:
        self.lasting[kernel.id] = found
        self._times.pop(kernel.id, None)
        return reason

    def _of_warps(
        self, kernel: "Kernel", counters: "KernelCounters", streams: WarpStreams | None
    ) -> float:
        """What a warp takes, in cycles, if that is stable, else 0."""
        size = self._size(kernel)
        if len(counters.ended) < 2 * size:
            return 0.0
        last = _lasted(counters.ended[-size:], kernel.warps)
        if not self._stable(last):
            return 0.0
        if streams is not None and streams.dominance(counters.begun) < self.dominant:
            return 0.0
        return float(last[size - size // 2 :, 1].mean())

    def _size(self, kernel: "Kernel") -> int:
        """CTAs that have as many warps as a window."""
        return max(4, math.ceil(self.warps / kernel.warps))

    def _stable(self, last: np.ndarray) -> bool:
        start = last[:, 0] - last[:, 0].mean()
        spread = (start**2).sum()
        if not spread or abs((start * last.sum(axis=1)).sum() / spread - 1) > self.tolerance:
            return False
        durations = last[:, 1]
        long, short = durations.mean(), durations[len(durations) // 2 :].mean()
        return abs(long - short) <= self.tolerance * (long + short)

    def _blocks(self, kernel: "Kernel", now: Mark, streams: WarpStreams) -> bool:
        """Whether nearly all instructions are in stable blocks."""
        times, counters = self._times[kernel.id], now.counters
        assert counters.instructions is not None, "a rule that counts instructions sees them"
        each = counters.instructions
        times.look(now.cycle, each["warp_instructions"], each["warp_cycles"])
        times.judge(streams.blocks)
        executions = streams.executions
        known = executions[: len(times.stable)][times.stable[: len(executions)]].sum()
        return bool(known >= self.coverage * executions.sum())

    def _by_blocks(self, kernel: "Kernel", now: Mark, streams: WarpStreams) -> Lasting:
        """CTAs that have not ended take what their blocks do, times what the last ones had."""
        counters, size = now.counters, self._size(kernel)
        last = counters.ended[-size:]
        streams.predict(
            self._times[kernel.id].times(streams.blocks), counters.ctas_done - len(last)
        )
        assert streams.durations is not None, "they are predicted"
        expected = [streams.durations.pop(0) for _ in last]
        duration = float(np.mean(expected or streams.durations or [0.0]))
        kept = _mean(last) / duration if last and duration else 1.0
        return Lasting(now, "blocks", duration, kept, len(counters.ended), streams)


def _lasted(ended: "Sequence[Ended]", warps: int) -> np.ndarray:
    """Start, and mean duration of the warps, of CTAs; float64 [CTAs, 2]."""
    return np.array([(start, lasted / warps) for start, _, lasted in ended], float)


def _mean(ended: "Sequence[Ended]") -> float:
    """Cycles that CTAs took."""
    return float(np.mean([end - start for start, end, _ in ended]))
