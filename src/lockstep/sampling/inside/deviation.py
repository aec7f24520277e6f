"""How far off an estimate of what CTA windows left out may be.

Units vary, and so do waves of a gap that nobody has seen. How much follows from what units that
follow each other differ by (Wolter, Introduction to Variance Estimation, 8.2), as if there were one
difference more, of ``UNSEEN``: two or three units say little. Where the traffic between L2 and
memory tells units apart, a gap lies between them as its own traffic does, and most of their
difference is explained: ``UNEXPLAINED`` of it is left.

Both numbers were chosen so that 95 % intervals hold on the launches of
``benchmarks/sampling_inside.py``; nothing else is known of them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lockstep.sampling.extras import student

UNSEEN = 0.03
UNEXPLAINED = 0.25


class Gap(NamedTuple):
    """Warp instructions that were left out, and waves of CTAs."""

    instructions: int
    waves: float


class Deviation(NamedTuple):
    """The standard error of estimated cycles, and its degrees of freedom."""

    cycles: float
    freedom: int

    def half_width(self, confidence: float) -> float:
        """Half of an interval, in cycles."""
        return student((1 + confidence) / 2, self.freedom) * self.cycles


def deviation(
    rates: Sequence[float], explained: Sequence[bool], weights: Sequence[float], gaps: Sequence[Gap]
) -> Deviation:
    """That of what gaps take.

    ``rates``: cycles an instruction of each unit; ``explained``: whether traffic tells each unit
    from the next; ``weights``: instructions that each unit stands for; ``gaps``: where these are.
    """
    differences = [
        (UNEXPLAINED if told else 1.0) * (after - before)
        for (before, after), told in zip(pairwise(rates), explained, strict=True)
    ]
    square = np.square(differences).sum() / 2 + (UNSEEN * np.mean(rates)) ** 2
    units = np.square(weights).sum()  # a unit's mean for the mean of all waves like it ...
    waves = sum(gap.instructions**2 / max(gap.waves, 1) for gap in gaps)  # ... and theirs
    variance = square / len(rates) * (units + waves)
    return Deviation(float(np.sqrt(variance)), len(rates))
