"""Photon: when CTAs take as long as those before them, the rest need not run.

After Liu et al., "Photon" (MICRO 2023), warp level, with the parameters of its authors' code: the
first 1,024 warps that end are passed over; of the last 1,024 the time of the end is fitted to that
of the start by least squares. They are stable where the slope is within 1 +- 0.03 and the mean
durations of the last 1,024 and of the last 512 differ by 3 % of their sum at most. From then on
each CTA occupies its place for the mean duration. Warps are counted here in CTAs, as many as have
them.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.inside.stability import BIN, Company, Mark

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.stop import KernelCounters
    from lockstep.workload import Kernel

WARPS = 1024  # Photon, as published with its code
TOLERANCE = 0.03  # of the slope, and of mean durations; the same


class Lasting(NamedTuple):
    """When a launch was stable, and how long its CTAs took by then."""

    at: Mark
    duration: float  # cycles, mean of the last warps
    ended: int  # CTAs that had ended

    def last_end(self) -> float:
        """The cycle at which the last CTA ends, if each takes ``duration``, place by place.

        Those on the SMs started when the last ones ended, as each takes the place of another.
        """
        counters, cycle = self.at.counters, float(self.at.cycle)
        ends = sorted(end for _, end in counters.ended[: self.ended])
        here, left = counters.begun - counters.ctas_done, counters.ctas - counters.begun
        starts = [counters.started] * max(0, here - len(ends)) + ends[max(0, len(ends) - here) :]
        running = [max(start + self.duration, cycle) for start in starts] if here else []
        if not left:
            return max(running, default=cycle)
        # A place that a CTA has just left is free.
        places = sorted(running + [cycle] * max(0, counters.wave - here))
        last = range(max(0, left - len(places)), left)
        ends_of = (places[k % len(places)] + (k // len(places) + 1) * self.duration for k in last)
        return max(*ends_of, places[-1])


class Durations:
    """A stop rule for all kernels of a run: ``simulate(stop=rule, stop_interval=rule.bin)``.

    ``warps``: of the window, and of those passed over before it. ``lasting`` has the evidence for
    each kernel that was ended, by id. Kernels that run beside others are not ended.
    """

    def __init__(self, *, warps: int = WARPS, tolerance: float = TOLERANCE, bin: int = BIN):
        if not (warps >= 4 and tolerance > 0 and bin >= 1):
            raise LockstepError(
                f"durations of {warps} warps, tolerance {tolerance}, bin {bin}: expected at least "
                "4, above 0, at least 1"
            )
        self.warps, self.tolerance, self.bin = warps, tolerance, bin
        self.lasting: dict[int, Lasting] = {}
        self._company = Company()

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> bool | str:
        """Whether CTAs have come to last as long as others; the text says how long."""
        self._company.ask(kernel.id, cycle)
        size = max(4, math.ceil(self.warps / kernel.warps))
        if not self._company.alone or len(counters.ended) < 2 * size:
            return False
        last = np.array(counters.ended[-size:], float)
        if not self._stable(last):
            return False
        duration = float((last[:, 1] - last[:, 0]).mean())
        mark = Mark(cycle, counters)
        self.lasting[kernel.id] = Lasting(mark, duration, len(counters.ended))
        return f"CTAs last {duration:.0f} cycles"

    def _stable(self, last: np.ndarray) -> bool:
        start, end = last[:, 0] - last[:, 0].mean(), last[:, 1]
        spread = (start**2).sum()
        if not spread or abs((start * end).sum() / spread - 1) > self.tolerance:
            return False
        durations = last[:, 1] - last[:, 0]
        long, short = durations.mean(), durations[len(durations) // 2 :].mean()
        return abs(long - short) <= self.tolerance * (long + short)
