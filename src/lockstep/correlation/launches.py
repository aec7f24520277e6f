"""A launch of a kernel and its counters: what measurements and results are both read into."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lockstep.metrics.aliases import CYCLES, DURATION

TIMES = (CYCLES, DURATION)
_RATE = re.compile("cycles_|per_cycle|per_second|pct_of_peak")

Dimensions = tuple[int, ...]
"""Three numbers, or none where they are not known."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch, or all of a program as one where ``kernel`` is "" and ``number`` is 0.

    ``metrics`` have lockstep's names and units, and are finite. ``number`` counts the launches of
    the program from 1. ``section`` says which run of the program it was: columns and their values.
    ``complete``: it was executed whole.
    """

    program: str
    kernel: str
    number: int
    metrics: dict[str, float]
    grid: Dimensions = ()
    block: Dimensions = ()
    section: tuple[tuple[str, str], ...] = field(default=())
    stream: int = 0
    complete: bool = True

    @property
    def cycles(self) -> float:
        """Core cycles; NaN where they are not known."""
        return self.metrics.get(CYCLES, math.nan)


def is_rate(name: str) -> bool:
    """Whether a metric is a time, or an amount a time: it follows from the cycles."""
    return name == DURATION or bool(_RATE.search(name))


def is_sum(name: str) -> bool:
    """Whether a metric of several launches together is the sum of theirs, and no mean."""
    if name in TIMES or name.startswith("sm__cycles_elapsed"):
        return True
    return name.endswith(".sum") or (name.startswith("sim__cycles_") and "." not in name)


def together(launches: Sequence[Launch], names: Iterable[str]) -> dict[str, float]:
    """The metrics that all launches have, of all of them: sums, and means weighted by cycles.

    Where the cycles of a launch are not known, all launches weigh the same.
    """
    weights = [launch.cycles for launch in launches]
    if not all(w > 0 for w in weights):
        weights = [1.0] * len(launches)
    found = {}
    for name in names:
        values = [launch.metrics.get(name, math.nan) for launch in launches]
        if not all(map(math.isfinite, values)):
            continue
        if is_sum(name):
            total = sum(values)
        else:
            total = sum(v * w for v, w in zip(values, weights)) / sum(weights)
        if math.isfinite(total):
            found[name] = total
    return found
