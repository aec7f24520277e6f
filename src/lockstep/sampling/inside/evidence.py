"""What rules inside launches have seen, from which a whole launch is projected."""

import heapq
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

from lockstep.sampling.inside.warps import WarpStreams

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.stop import KernelCounters


class Mark(NamedTuple):
    """What a launch had done at a cycle."""

    cycle: int
    counters: "KernelCounters"

    @property
    def instructions(self) -> int:
        """Warp instructions since its launch."""
        return int(self.counters.sm["warp_instructions"])

    def ipc_until(self, end: "Mark") -> float:
        """Warp instructions of the GPU a cycle, up to a later mark."""
        return (end.instructions - self.instructions) / (end.cycle - self.cycle)


class Stable(NamedTuple):
    """The time in which a launch was found to be steady."""

    begin: Mark
    end: Mark
    deviation: float  # of IPC in the bins between, weighted by their lengths

    @property
    def ipc(self) -> float:
        """Mean IPC of the GPU between the marks."""
        return self.begin.ipc_until(self.end)


class Unit(NamedTuple):
    """A part of a launch that was measured; behind it, whole waves were left out, or none."""

    begin: Mark
    end: Mark

    @property
    def ipc(self) -> float:
        """Warp instructions of the GPU a cycle."""
        return self.begin.ipc_until(self.end)


class Lasting(NamedTuple):
    """When a launch was stable, and how long its CTAs took by then."""

    at: Mark
    level: str  # of LEVELS
    duration: float  # cycles: of the last warps, in the mean; where blocks are stable, of CTAs
    kept: float  # by what factor the last CTAs kept their places longer
    ended: int  # CTAs that had ended
    streams: WarpStreams | None = None  # of its CTAs, where somebody told of them

    def durations(self) -> Sequence[float]:
        """Of the CTAs that have not ended, in their order."""
        left = self.at.counters.ctas - self.at.counters.ctas_done
        if self.level == "warps" or self.streams is None or self.streams.durations is None:
            return [self.duration] * left
        known = self.streams.durations[:left]
        return [*known, *repeat(self.duration, left - len(known))]

    def last_end(self, places_of: str) -> float:
        """The cycle at which the last CTA ends, place by place, which it keeps as ``PLACES`` say.

        Those on the SMs started when the last ones ended, as each takes the place of another.
        """
        factor = self.kept if places_of == "ctas" else 1.0
        counters, cycle = self.at.counters, float(self.at.cycle)
        ends = sorted(each[1] for each in counters.ended[: self.ended])
        here = counters.begun - counters.ctas_done
        starts = [counters.started] * max(0, here - len(ends)) + ends[max(0, len(ends) - here) :]
        durations = [factor * each for each in self.durations()]
        on_sms, left = durations[:here], durations[here:]
        places = [max(start + d, cycle) for start, d in zip(starts, on_sms, strict=True)]
        last = max(places, default=cycle)
        if left:  # a place that a CTA has just left is free
            places = list(chain(places, repeat(cycle, max(0, counters.wave - here))))
        heapq.heapify(places)
        for duration in left:
            last = max(last, end := places[0] + duration)
            heapq.heapreplace(places, end)
        return last
