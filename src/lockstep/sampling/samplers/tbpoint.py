"""TBPoint between launches (Huang et al., IPDPS 2014): a hierarchy of launches, cut at a distance.

Features are instructions, lanes that are active in them, and sectors of global and local memory,
each divided by its mean. Of 20 distances the largest is taken whose groups project the time with an
error below the target, as PKA's authors did for their comparison with it. Of complete linkage, no
two launches of a group are further apart than that, however often each is launched.
"""

from collections.abc import Iterator

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.extras import one_thread, sklearn
from lockstep.sampling.features import INSTRUCTIONS, LANES, PKA
from lockstep.sampling.groups import (
    DistinctRows,
    Grouping,
    check_target,
    choose,
    distinct,
    grouping,
    selection_notes,
)
from lockstep.sampling.plan import Plan
from lockstep.sampling.readings import check_profiled, work
from lockstep.sampling.sampler import OneStep, register
from lockstep.sampling.table import LaunchTable

DISTANCES = tuple(k / 100 for k in range(20, 0, -1))
MOST = 10_000  # distinct launches: 400 MB of distances, twice


@register
class TbPoint(OneStep):
    """``target``: the projected error that is low enough.

    ``without_times``: the distance by times predicted of the profile, where those of the launches
    are not known.
    """

    name, level = "tbpoint", 1
    same_strata = True

    def __init__(self, target: float = 0.05, without_times: bool = False):
        check_target(target)
        self.target, self.times = target, not without_times

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are the groups, their first launches are chosen."""
        check_profiled(table, self.name)
        features = _features(table)
        rows = distinct(features)
        if len(rows.first) > MOST:
            raise LockstepError(
                f"{self.name} compares every two of {len(rows.first)} different launches, and has "
                f"memory for {MOST}: use pks"
            )
        times = table.times if self.times else work(table)
        found = choose(_candidates(features[rows.first], rows, times), self.target, least=False)
        notes = selection_notes(found, self.target, self.times, "distance")
        parameters = {"target": self.target, "without_times": not self.times}
        return Plan.of(
            table,
            self.name,
            found.groups[rows.row],
            rows.first[found.leads],
            drawn=False,
            parameters=parameters,
            notes=notes,
        )


def _features(table: LaunchTable) -> np.ndarray:
    """Float64 [launches, 3], each with a mean of 1, or 0 throughout."""
    sectors = np.sum([table.column(name) for name in PKA[:3]], axis=0)
    columns = [table.column(INSTRUCTIONS), np.nan_to_num(table.column(LANES)), sectors]
    return np.stack([column / (column.mean() or 1.0) for column in columns], axis=1)


def _candidates(points: np.ndarray, rows: DistinctRows, times: np.ndarray) -> Iterator[Grouping]:
    """Groupings from the largest distance to the smallest."""
    children, heights = np.zeros((0, 2), np.int64), np.zeros(0)
    if len(points) > 1:
        tree = sklearn("cluster").AgglomerativeClustering(
            n_clusters=None, distance_threshold=0, linkage="complete"
        )
        with one_thread():
            tree.fit(points)
        children, heights = tree.children_, tree.distances_
    for distance in DISTANCES:
        groups = cut(children, heights, distance)
        yield grouping(groups, rows.first, rows.counts, times[rows.first], times.sum())


def cut(children: np.ndarray, heights: np.ndarray, distance: float) -> np.ndarray:
    """A label of each leaf: that of the highest node above it which is no higher than so.

    ``children`` int64 [nodes, 2]: leaves, or nodes behind the leaves, from the lowest to the root.
    """
    leaves = len(children) + 1
    label = np.arange(leaves + len(children))
    for node in range(int(np.searchsorted(heights, distance, "right")) - 1, -1, -1):
        label[children[node]] = label[leaves + node]
    return label[:leaves]
