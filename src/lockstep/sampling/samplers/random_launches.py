"""Simple random sampling: one launch in so many of each kernel, at least two."""

import numpy as np

from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import Effort, OneStep, check_every, register
from lockstep.sampling.strata import members
from lockstep.sampling.table import LaunchTable


@register
class RandomLaunches(OneStep):
    """``every``: how many launches of a kernel one stands for."""

    name, level, times = "random", 0, False
    effort, same_strata = Effort("every", 1, 1e9, whole=True), True

    def __init__(self, every: int = 100):
        check_every(self.name, every)
        self.every = every

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are kernels."""
        codes = table.codes()
        chosen = [
            random.choice(rows, min(len(rows), max(2, round(len(rows) / self.every))), False)
            for rows in members(codes)
        ]
        parameters = {"every": self.every}
        return Plan.of(
            table, self.name, codes, np.concatenate(chosen), drawn=True, parameters=parameters
        )
