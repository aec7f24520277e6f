"""Systematic sampling: every k-th launch of each kernel, from a random one on.

The launches between two sampled ones are a stratum in time. Two neighbouring strata are taken as
one with two samples, which gives the variance of successive differences (Wolter, Introduction to
Variance Estimation, 8.2); it is too large rather than too small where times drift.
"""

import numpy as np

from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import Effort, OneStep, check_every, register
from lockstep.sampling.strata import members
from lockstep.sampling.table import LaunchTable


@register
class Systematic(OneStep):
    """``every``: how many launches of a kernel one stands for."""

    name, level, times = "systematic", 0, False
    effort = Effort("every", 1, 1e9, whole=True)

    def __init__(self, every: int = 100):
        check_every(self.name, every)
        self.every = every

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are pairs of intervals of a kernel's launches."""
        stratum, chosen, first = np.zeros(len(table), np.int64), [], 0
        for rows in members(table.codes()):
            intervals = max(2, round(len(rows) / self.every)) // 2 * 2
            if len(rows) < 2 * intervals:  # nothing is saved
                stratum[rows] = first
                chosen.append(rows)
                first += 1
                continue
            ends = np.arange(intervals + 1) * len(rows) // intervals
            at = ends[:-1] + (random.random() * np.diff(ends)).astype(np.int64)
            chosen.append(rows[at])
            stratum[rows] = first + np.repeat(np.arange(intervals // 2), np.diff(ends[::2]))
            first += intervals // 2
        parameters = {"every": self.every}
        return Plan.of(
            table, self.name, stratum, np.concatenate(chosen), drawn=True, parameters=parameters
        )
