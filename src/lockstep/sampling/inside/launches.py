"""A rule for the launches of a run, and what all of them would have taken.

Of the launches that a rule ends early some, drawn at random, run to their end instead: what they
would have been projected to is known of them, too, and corrects the others (``doubling.py``), with
a variance. That needs no launch to run twice. A launch of which CTAs are left out cannot be both:
there each projection says how far off it may be, and launches of one kernel are taken to be off
together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.inside.doubling import Correction, correct
from lockstep.sampling.inside.evidence import Mark
from lockstep.sampling.inside.projection import Projection, cut

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun
    from lockstep.engine.stop import Answer, KernelCounters, Read
    from lockstep.workload import Kernel

PAIRS = 10  # launches that are ended early, of which one runs to its end; a tenth: a choice


class InsideRule(Protocol):
    """A stop rule of this package: ``bin``, and whether it ``ends`` launches or leaves CTAs out."""

    bin: int
    ends: bool

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> "Answer":
        """As of :class:`~lockstep.engine.stop.StopRule`."""
        ...

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch would have taken that this rule has ended or cut."""
        ...


class Projected(NamedTuple):
    """Launches that ran whole or in part.

    ``cycles``: float64, what each takes, corrected; ``deviations``: of each that was projected and
    not corrected, NaN where nobody knows; ``cut``: bool, whether it ran in part. ``projections``:
    of all, none where all ran whole.
    """

    projections: list[Projection]
    cycles: np.ndarray
    deviations: np.ndarray
    cut: np.ndarray
    correction: Correction | None = None  # of those that were ended early, with their weights
    pairs: int = 0  # launches that ran to their end though the rule would have ended them

    @classmethod
    def whole(cls, runs: "Sequence[KernelRun]") -> Self:
        """Of launches all of which ran to their end."""
        cycles = np.array([run.cycles for run in runs], np.float64)
        return cls([], cycles, np.zeros(len(runs)), np.zeros(len(runs), bool))

    def variances(self, weights: np.ndarray, kernels: np.ndarray) -> list[tuple[float, float]]:
        """Of the sum of weights times cycles, with degrees of freedom; NaN where nobody knows.

        ``weights``: float64, 0 for launches that are not asked for; ``kernels``: int64, the kernel
        of each.
        """
        found: list[tuple[float, float]] = []
        if self.correction is not None:
            part = weights[self.cut] @ self.cycles[self.cut]
            whole = self.correction.total
            found.append((self.correction.variance * (part / whole) ** 2, self.correction.degrees))
            return found if part else []
        for kernel in np.unique(kernels[self.cut & (weights > 0)]).tolist():
            mine = self.cut & (kernels == kernel)
            off = float(weights[mine] @ self.deviations[mine])
            freedoms = [p.deviation.freedom for p, m in zip(self.projections, mine)
                        if m and p.deviation is not None]  # fmt: skip
            found.append((off**2, min(freedoms, default=0)))
        return found


class Inside:
    """A rule for all launches of a run: ``simulate(stop=inside, stop_interval=inside.bin)``.

    ``rule``: of this package; ``pairs``: of so many launches that it would end one runs to its end,
    0: none; ``seed``: of the draws; ``name``: of the rule, as results have it. Raises
    :class:`LockstepError` for numbers that are none.
    """

    def __init__(self, rule: InsideRule, *, pairs: int = PAIRS, seed: int = 0, name: str = ""):
        if pairs < 0 or seed < 0:
            raise LockstepError(f"pairs = {pairs}, seed = {seed}: expected 0 or more")
        self.rule, self.pairs, self.bin = rule, pairs, rule.bin
        self.name = name or type(rule).__name__
        self._random = np.random.default_rng(seed)
        self._ended = 0  # launches that the rule wanted to end
        self._drawn = 0  # of the cell that they are in, the one that runs to its end
        self._marks: dict[int, tuple[Mark, str]] = {}  # of those that do: where it would have ended

    @property
    def counts_instructions(self) -> bool:
        """As of the rule."""
        return getattr(self.rule, "counts_instructions", False)

    @property
    def read(self) -> "Read | None":
        """As of the rule; None if it is not to be told of CTAs."""
        return getattr(self.rule, "read", None)

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> "Answer":
        """What the rule says, but for launches that are drawn to run to their end."""
        if kernel.id in self._marks:
            if cycle > self._marks[kernel.id][0].cycle:
                return False  # it was drawn; what the rule has seen of it stays as it was then
            del self._marks[kernel.id]  # of another run: cycles never decrease
        answer = self.rule(kernel, cycle, counters)
        if not answer or not self.rule.ends or not self.pairs:
            return answer
        place = self._ended % self.pairs
        if not place:
            self._drawn = int(self._random.integers(self.pairs))
        self._ended += 1
        if place != self._drawn:
            return answer
        self._marks[kernel.id] = Mark(cycle, counters), str(answer)
        return False

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch takes; one that was drawn ran whole."""
        return Projection.whole(run) if run.complete else self.rule.projection(run)

    def twin(self, run: "KernelRun") -> Projection | None:
        """What a launch that ran to its end would have been projected to; None: not drawn."""
        if not run.complete or run.id not in self._marks:
            return None
        return self.rule.projection(cut(run, *self._marks[run.id]))

    def together(self, runs: "Sequence[KernelRun]", weights: np.ndarray) -> Projected:
        """What launches take, each of which stands for as many as its weight, float64."""
        projections = [self.projection(run) for run in runs]
        cycles = np.array([p.cycles for p in projections], np.float64)
        is_cut = np.array([p.method != "whole" for p in projections], bool)
        deviations = np.array([p.deviation.cycles if p.deviation else np.nan for p in projections])
        deviations[~is_cut] = 0.0
        twins = [(n, twin.cycles) for n, run in enumerate(runs) if (twin := self.twin(run))]
        if not twins or not is_cut.any():
            return Projected(projections, cycles, deviations, is_cut, pairs=len(twins))
        both = [(weights[n] * seen, weights[n] * cycles[n]) for n, seen in twins]
        every = [*(weights[is_cut] * cycles[is_cut]), *(seen for seen, _ in both)]
        correction = correct(every, both)
        cycles[is_cut] *= correction.ratio
        # The exact ones are no estimates: what is uncertain is the rest.
        uncertain = float(weights[is_cut] @ cycles[is_cut])
        correction = correction._replace(total=uncertain)
        return Projected(projections, cycles, deviations, is_cut, correction, len(twins))
