"""Sieve (ISPASS 2023): kernels in tiers by how much the instructions of their launches vary.

Tier 1, all launches of a kernel execute as many instructions: the first one stands for all. Tier 2,
their coefficient of variation is below 0.4: the first one with the commonest CTA size does. Tier 3,
above: the launches are cut where a kernel density estimate of their instructions is lowest, and
parts that vary by more than 0.5 again; the first launch of each part stands for it.

Weights are instructions, so the cycles of a stratum are its instructions times the cycles per
instruction of what was simulated, as published; ``weights="count"`` are launches, as in STEM's
version. The density is of the logarithms, with Silverman's bandwidth; ``bandwidth=1``, of one
instruction on the counts themselves, is STEM's version, which cuts nearly every count from the
next and simulates nearly everything. Picked on purpose: there is no bound.
"""

import numpy as np

from lockstep.errors import LockstepError, unknown
from lockstep.sampling.extras import scipy_signal
from lockstep.sampling.features import INSTRUCTIONS
from lockstep.sampling.plan import Plan
from lockstep.sampling.readings import check_profiled
from lockstep.sampling.sampler import OneStep, register
from lockstep.sampling.strata import members
from lockstep.sampling.table import LaunchTable

TIER_2, AGAIN = 0.4, 0.5  # coefficients of variation: tier 2 is below, parts above are cut again
WEIGHTS = {"instructions": "ratio", "count": "expansion"}
STEPS = 8  # at which a density is looked at, a bandwidth
REACH = 6  # bandwidths from a value to where it counts no more: exp(-18)
DEPTH = 1e-6  # of a valley, relative: less is rounding


@register
class Sieve(OneStep):
    """``weights``: "instructions" or "count"; ``bandwidth``: in instructions, None: Silverman's."""

    name, level, times = "sieve", 1, False
    same_strata = True

    def __init__(self, weights: str = "instructions", bandwidth: float | None = None):
        if weights not in WEIGHTS:
            raise LockstepError(unknown("weight", weights, WEIGHTS))
        if bandwidth is not None and not 0 < bandwidth < np.inf:
            raise LockstepError(f"sieve: bandwidth is {bandwidth}; expected instructions, above 0")
        self.weights, self.bandwidth = weights, bandwidth

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """A stratum is a kernel, or in tier 3 a part of its launches."""
        instructions, sizes = _instructions(table), _threads_of_a_cta(table)
        stratum = np.empty(len(table), np.int64)
        chosen: list[int] = []
        for rows in members(table.codes()):
            mine = instructions[rows]
            tier_2 = 0 < variation(mine) < TIER_2
            parts = [np.arange(len(rows))] if variation(mine) < TIER_2 else self._parts(mine)
            for part in parts:
                launches = rows[part]
                stratum[launches] = len(chosen)
                chosen.append(launches[_commonest(sizes[launches]) if tier_2 else 0])
        estimator = WEIGHTS[self.weights]
        return Plan.of(
            table, self.name, stratum, np.array(chosen), drawn=False, estimator=estimator,
            auxiliary=instructions if estimator == "ratio" else None,
            parameters={"weights": self.weights, "bandwidth": self.bandwidth},
        )  # fmt: skip

    def _parts(self, instructions: np.ndarray) -> list[np.ndarray]:
        """The rows of each part of a kernel of tier 3, ascending."""
        found: list[np.ndarray] = []
        waiting = [np.arange(len(instructions))]
        while waiting:
            rows = waiting.pop()
            parts = members(cut(instructions[rows], self.bandwidth))
            for part in parts:
                again = len(parts) > 1 and variation(instructions[rows[part]]) > AGAIN
                (waiting if again else found).append(rows[part])
        return found


def variation(numbers: np.ndarray) -> float:
    """Coefficient of variation: standard deviation by mean."""
    return float(numbers.std() / numbers.mean()) if np.ptp(numbers) > 0 else 0.0


def cut(instructions: np.ndarray, bandwidth: float | None) -> np.ndarray:
    """In which part each launch is, int64, numbered from few instructions to many.

    Parts end where the density has a local minimum. It is a sum of normal distributions, taken at
    steps of a fraction of the bandwidth, exactly but for what is below exp(-REACH^2 / 2); wider
    gaps than that reaches are made as wide.
    """
    numbers = np.log(instructions) if bandwidth is None else instructions
    values, inverse, launches = np.unique(numbers, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return inverse
    width = _silverman(numbers) if bandwidth is None else bandwidth
    gaps = np.minimum(np.diff(values) / width, 2 * REACH)
    at = np.concatenate([[0], np.cumsum(gaps)]) * STEPS
    density, nearest = np.zeros(int(at[-1]) + 2), np.rint(at).astype(np.int64)
    for offset in range(-REACH * STEPS, REACH * STEPS + 1):
        place = nearest + offset
        here = (place >= 0) & (place < len(density))
        share = launches * np.exp(-(((place - at) / STEPS) ** 2) / 2)
        np.add.at(density, place[here], share[here])
    around = 4 * REACH * STEPS + 1  # without it the time grows with the square
    valleys = scipy_signal().find_peaks(-np.log(density), prominence=DEPTH, wlen=around)[0]
    parts = np.unique(np.searchsorted(valleys, at), return_inverse=True)[1]
    return parts[inverse]


def _silverman(numbers: np.ndarray) -> float:
    """Silverman's bandwidth, as SciPy has it: of the standard deviation, whatever the shape."""
    return float(numbers.std(ddof=1) * (len(numbers) * 3 / 4) ** -0.2)


def _commonest(sizes: np.ndarray) -> int:
    """The first place of the commonest value; of several the earliest."""
    _, first, launches = np.unique(sizes, return_index=True, return_counts=True)
    return int(first[launches == launches.max()].min())


def _instructions(table: LaunchTable) -> np.ndarray:
    """Of each launch, at least one: a launch has cycles even if it executes nothing."""
    check_profiled(table, Sieve.name)
    return np.maximum(table.column(INSTRUCTIONS), 1)


def _threads_of_a_cta(table: LaunchTable) -> np.ndarray:
    return table.threads() / np.maximum(table.ctas(), 1)
