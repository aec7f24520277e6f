"""Principal Kernel Selection (Avalos Baddouh et al., MICRO 2021, section 3.1).

Principal components of twelve features, k-means, and of each group the first launch. Of K = 1, 2,
... 20 groups the fewest are taken whose projected time is off by less than a target. The paper
says neither whether features are scaled, without which instructions rule, nor how much variance is
kept; its baseline in later work takes the K of the least error, never more groups than components,
and random launches: ``least_error``, ``within_components``, ``pick="random"``.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from lockstep.errors import LockstepError, unknown
from lockstep.sampling.extras import one_thread, sklearn
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
from lockstep.sampling.readings import check_profiled, pka_features, work
from lockstep.sampling.sampler import OneStep, register
from lockstep.sampling.table import LaunchTable

PICKS = ("first", "random", "centre")
GROUPS = 20
STARTS = 10
FITTED = 20_000  # rows that k-means sees; of more, as many launches are drawn


@register
class PrincipalKernelSelection(OneStep):
    """``target``: the projected error that is low enough; ``pick``: first, random or centre.

    ``standardise``: logarithms of features, with mean 0 and deviation 1; ``variance``: what the
    components keep of it; ``groups``: at most. ``without_times``: K by times predicted of the
    profile, where those of the launches are not known.
    """

    name, level = "pks", 1

    def __init__(
        self,
        target: float = 0.05,
        pick: str = "first",
        standardise: bool = True,
        variance: float = 0.9995,
        groups: int = GROUPS,
        least_error: bool = False,
        within_components: bool = False,
        without_times: bool = False,
    ):
        check_target(target)
        if pick not in PICKS:
            raise LockstepError(unknown("pick", pick, PICKS))
        if not 0 < variance <= 1:
            raise LockstepError(f"the variance kept is {variance:g}; expected a share")
        if groups < 1:
            raise LockstepError(f"there can be no {groups} groups")
        self.parameters: dict[str, Any] = {
            "target": target, "pick": pick, "standardise": standardise, "variance": variance,
            "groups": groups, "least_error": least_error, "within_components": within_components,
            "without_times": without_times,
        }  # fmt: skip
        self.target, self.pick, self.standardise, self.variance = (
            target, pick, standardise, variance,
        )  # fmt: skip
        self.groups, self.least_error = groups, least_error
        self.within_components, self.times = within_components, not without_times

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are the groups."""
        check_profiled(table, self.name)
        group, chosen, notes = self.select(table, random)
        return Plan.of(
            table, self.name, group, chosen, drawn=False, parameters=self.parameters, notes=notes
        )

    def select(
        self, table: LaunchTable, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """The group of each launch, the launch of each group (int64), and notes."""
        features = pka_features(table)
        rows = distinct(features)
        times = table.times if self.times else work(table)
        leads, key = self._leads(rows, random)
        points = components(features[rows.first], rows.counts, self.standardise, self.variance)
        with one_thread():
            candidates = self._candidates(points, rows, key, times[leads], times.sum(), random)
            found = choose(candidates, self.target, self.least_error)
        return found.groups[rows.row], leads[found.leads], self._notes(found, rows)

    def _leads(
        self, rows: DistinctRows, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """A launch of each row, and which of them goes first; by a random order, or by time."""
        if self.pick != "random":
            return rows.first, rows.first
        order = random.permutation(len(rows.row))
        leads = order[np.unique(rows.row[order], return_index=True)[1]]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return leads, place[leads]

    def _candidates(
        self,
        points: np.ndarray,
        rows: DistinctRows,
        key: np.ndarray,
        times: np.ndarray,
        total: float,
        random: np.random.Generator,
    ) -> Iterator[Grouping]:
        """Groupings of 1, 2, ... groups."""
        weights = rows.counts
        if len(points) > FITTED:
            weights = random.multinomial(FITTED, rows.counts / rows.counts.sum())
        fitted = weights > 0
        most = min(self.groups, int(fitted.sum()))
        if self.within_components:
            most = min(most, points.shape[1])
        for k in range(1, most + 1):
            means = sklearn("cluster").KMeans(
                k, n_init=STARTS, random_state=int(random.integers(2**31))
            )
            with warnings.catch_warnings():  # rows that differ by rounding alone: fewer groups
                warnings.simplefilter("ignore")
                means.fit(points[fitted], sample_weight=weights[fitted].astype(np.float64))
            groups = means.labels_ if fitted.all() else means.predict(points)
            if self.pick == "centre":
                key = ((points - means.cluster_centers_[groups]) ** 2).sum(axis=1)
            yield grouping(groups, key, rows.counts, times, total)

    def _notes(self, found: Grouping, rows: DistinctRows) -> tuple[str, ...]:
        notes = selection_notes(found, self.target, self.times, "number of groups")
        if len(rows.first) > FITTED:
            notes += (f"k-means saw {FITTED} launches, drawn of {len(rows.row)}",)
        return notes


def components(
    features: np.ndarray, counts: np.ndarray, standardise: bool, variance: float
) -> np.ndarray:
    """Principal components of rows that stand for so many launches each; float64 [rows, kept].

    Those are kept that have the share ``variance`` of the variance together; one at least.
    """
    x = np.log1p(features) if standardise else features
    share = counts / counts.sum()
    x = x - share @ x
    if standardise:
        deviation = np.sqrt(share @ x**2)
        x = x / np.where(deviation > 1e-9, deviation, 1)
    values, vectors = np.linalg.eigh((x * share[:, None]).T @ x)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    kept = 1
    if values[0] > 0:
        kept += int(np.searchsorted(np.cumsum(values) / values.sum(), variance))
    return x @ vectors[:, : min(kept, len(values))]
