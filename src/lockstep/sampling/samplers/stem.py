"""STEM+ROOT (MICRO 2025): strata of equal times, and as many launches as an error asks for.

STEM: of N launches with mean time u and standard deviation s, n = (z s / (e u))^2 launches estimate
the total within e, for a normal distribution (z = 1.96). Several strata share the error: with
A = sum N s sqrt(u) and B = sum N u, stratum i takes n_i = A (z / (e B))^2 N_i s_i / sqrt(u_i),
which makes the simulated time smallest. ROOT: the launches of a kernel are split in two by their
times, and the parts again, unless the parts together ask for more simulated time than the whole
with the launches that it was given.

As published a stratum may have a single sampled launch, and then nothing bounds the error: with
``least=2`` it has two; ``least=4`` is safer where a few launches take far longer than the others.
``least`` changes what is drawn, not the strata. Needs the time of every launch, and since strata
and sizes come from these times the error is that of redrawing, not that of another GPU.
"""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import Effort, OneStep, register
from lockstep.sampling.strata import members
from lockstep.sampling.table import LaunchTable

Z = 1.96  # 95 % of a normal distribution are as near to its mean, in standard deviations


@register
class Stem(OneStep):
    """``error``: the relative error that sizes are for; ``least``: launches drawn of a stratum."""

    name, level, times = "stem", 0, True
    effort, same_strata = Effort("error", 1e-5, 100.0), True

    def __init__(self, error: float = 0.05, least: int = 1):
        if not error > 0:
            raise LockstepError(f"stem: error is {error}; expected more than 0, such as 0.05")
        if least < 1 or least != int(least):
            raise LockstepError(f"stem: least is {least}; expected a number of launches, from 1 on")
        self.error, self.least = error, least

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are parts of a kernel's launches."""
        stratum = np.empty(len(table), np.int64)
        chosen: list[np.ndarray] = []
        alone = 0
        for rows in members(table.codes()):
            for part, size in root(table.times[rows], self.error):
                launches = rows[part]
                size = min(len(launches), max(self.least, size))
                alone += size == 1 < len(launches)
                stratum[launches] = len(chosen)
                chosen.append(random.choice(launches, size, replace=False))
        note = f"{alone} of {len(chosen)} strata have one sampled launch: no bound"
        parameters = {"error": self.error, "least": self.least}
        return Plan.of(
            table, self.name, stratum, np.concatenate(chosen), drawn=True,
            parameters=parameters, notes=(note,) * (alone > 0),
        )  # fmt: skip


def root(times: np.ndarray, error: float) -> list[tuple[np.ndarray, int]]:
    """Strata of one kernel's launches, from the shortest times to the longest.

    ``times``: float64 [launches]. Of each stratum its rows, and how many launches STEM draws of
    it. Takes O(launches log launches) to sort, and O(launches) for each level of splits.
    """
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    n, mean, deviation = (
        np.array([value]) for value in (len(ordered), ordered.mean(), ordered.std())
    )
    found: list[tuple[np.ndarray, int]] = []
    waiting = [(0, len(ordered), int(sizes(n, mean, deviation, error)[0]))]
    while waiting:
        begin, end, size = waiting.pop()
        part = ordered[begin:end]
        middle = two_means(part) if size > 1 else 0  # one launch of each half is more than one
        if middle:
            halves = part[:middle], part[middle:]
            n = np.array([middle, len(part) - middle])
            mean, deviation = (np.array([f(half) for half in halves]) for f in (np.mean, np.std))
            joint = sizes(n, mean, deviation, error)
            if joint @ mean <= size * part.mean() and (joint < n).any():
                cut = begin + middle
                waiting += [(cut, end, int(joint[1])), (begin, cut, int(joint[0]))]
                continue
        found.append((np.sort(order[begin:end]), size))
    return found


def two_means(ordered: np.ndarray) -> int:
    """Where to split ascending numbers so that the squares around two means are least.

    0 if all are equal. Exact, in one pass: the means of both sides of every place between two
    different numbers come from prefix sums.
    """
    n = len(ordered)
    below = np.cumsum(ordered - ordered.mean())[:-1]  # small numbers: sums that cancel stay exact
    left = np.arange(1, n)
    between = below**2 * (1 / left + 1 / (n - left))  # the sum over all of them is 0
    between[ordered[1:] == ordered[:-1]] = -1
    if n < 2 or between.max() < 0:
        return 0
    return int(between.argmax()) + 1


def sizes(n: np.ndarray, mean: np.ndarray, deviation: np.ndarray, error: float) -> np.ndarray:
    """Launches to draw of each stratum, at least one and at most all; int64."""
    a, b = (n * deviation * np.sqrt(mean)).sum(), (n * mean).sum()
    wanted = np.ceil(a * (Z / (error * b)) ** 2 * n * deviation / np.sqrt(mean))
    return np.clip(wanted, 1, n).astype(np.int64)
