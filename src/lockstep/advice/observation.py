"""What a rule looks at: launches of one kernel, or all, with counters, metrics and source."""

import math
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec

from lockstep.gpus.spec import GPU
from lockstep.metrics import facts, source
from lockstep.metrics.result import Result
from lockstep.model.counters import Stall

if TYPE_CHECKING:  # importing the engine imports the compiler: advice needs no model
    import pandas

    from lockstep.engine.record import KernelRun

AT_LIMIT = 0.6  # of the peak of a unit: below that others wait for latencies instead
_MEMORY = (Stall.LONG_SCOREBOARD, Stall.MEMORY_QUEUE)
_ISSUE = (Stall.ISSUED, Stall.FETCH, Stall.SCOREBOARD, Stall.WAIT, Stall.UNIT_BUSY, Stall.OPERANDS)
_LATENCY = (Stall.SCOREBOARD, Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD, Stall.WAIT)


class Observation(msgspec.Struct, frozen=True, dict=True):
    """Launches together. Metrics have the names of the registry; undefined ones are 0."""

    result: Result
    runs: "list[KernelRun]"

    @property
    def gpu(self) -> GPU:
        """The GPU that they ran on."""
        return self.result.gpu

    @cached_property
    def facts(self) -> facts.Facts:
        """Counters, summed over units and launches."""
        return facts.of_kernels(self.runs, self.gpu)

    @property
    def sm(self) -> SimpleNamespace:
        """Counters of the SMs, summed."""
        return self.facts.sm

    @property
    def running(self) -> int:
        """Cycles in which CTAs ran: what shares are of."""
        return self.facts.running

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Every metric that is not one kernel's."""
        return self.result.metrics_of(self.runs)

    def __getitem__(self, name: str) -> float:
        value = self.metrics[name]
        return 0.0 if math.isnan(value) else value

    @cached_property
    def source(self) -> "pandas.DataFrame | None":
        """What each instruction did; None where nobody counted."""
        if any(run.source is None for run in self.runs):
            return None
        return source.instructions(self.runs)

    @cached_property
    def active(self) -> int:
        """SM-cycles with a CTA."""
        return max(1, self.sm.active_cycles)

    def spent(self, *reasons: Stall) -> float:
        """Scheduler-cycles spent in some states, from 0 to 1 of those in which it had a warp."""
        total = max(1, sum(self.sm.stalls) - self.sm.stalls[Stall.NO_WARP])
        return sum(self.sm.stalls[reason] for reason in reasons) / total

    @property
    def memory_bound(self) -> float:
        """How much the memory system holds the kernel up: by waiting, or by a part at its limit."""
        busy = min(1.0, self["sim__memory_throughput.pct"] / 100)
        return max(self.spent(*_MEMORY), busy if busy > AT_LIMIT else 0.0)

    @property
    def issue_bound(self) -> float:
        """How much of the time goes with the number of instructions, and not with memory."""
        return self.spent(*_ISSUE)

    @property
    def latency_bound(self) -> float:
        """How much of the time no warp could issue because all waited for results."""
        return self.spent(*_LATENCY)

    @property
    def busiest(self) -> float:
        """The speed of light of the unit that is nearest to its limit, from 0 to 1."""
        return max(self["sim__compute_throughput.pct"], self["sim__memory_throughput.pct"]) / 100

    @cached_property
    def warps_launched(self) -> int:
        """Warps of all CTAs."""
        size = self.gpu.sm.warp_size
        return max(1, sum(run.ctas * -(-math.prod(run.block) // size) for run in self.runs))

    @cached_property
    def lanes_launched(self) -> float:
        """Threads of a warp as the launches made them: fewer than its size where blocks are odd."""
        threads = sum(run.ctas * math.prod(run.block) for run in self.runs)
        return threads / self.warps_launched
