"""One iteration of a program that iterates, scaled by the launches.

Iterations are what markers enclose, where the program has them, else periods of the sequence of
kernels. The second one is simulated: the first warms up. What is before, between and after them
counts as one of their launches does on average.
"""

import numpy as np
import pandas as pd

from lockstep.sampling.period import period, steady
from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import OneStep, register
from lockstep.sampling.table import LaunchTable


@register
class SingleIteration(OneStep):
    """It has no parameters."""

    name, level, times = "single-iteration", 0, False
    same_strata = True

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """All launches are one stratum; without iterations, all are simulated."""
        begin, end, note = _second(table)
        return Plan.of(
            table,
            self.name,
            np.zeros(len(table), np.int64),
            np.arange(begin, end),
            drawn=False,
            notes=(note,),
        )


def _second(table: LaunchTable) -> tuple[int, int, str]:
    """Where the second iteration begins and ends, and how it was found."""
    markers, kernels = pd.factorize(table.frame["range"])[0], table.codes()
    begins = np.flatnonzero(np.diff(markers, prepend=-1))
    ends = np.append(begins[1:], len(table))
    marked = table.frame["range"].to_numpy(object)[begins] != ""
    begins, ends = begins[marked], ends[marked]
    if len(begins) > 1:
        # Names that come again in turns, as of a forward and a backward pass, are one iteration.
        lag, first = _period(markers[begins])
        return int(begins[first]), int(ends[first + lag - 1]), "iterations by their markers"
    if not period(kernels):
        return 0, len(table), "the launches repeat in no period: all are simulated"
    lag, first = _period(kernels)
    return first, first + lag, f"iterations of {lag} launches, by their kernels"


def _period(labels: np.ndarray) -> tuple[int, int]:
    """The period of labels, 1 if there is none, and where the second one begins."""
    lag = period(labels)
    return (lag, steady(labels, lag) + lag) if lag else (1, 1)
