"""Groups of launches that look alike, and one launch that stands for each.

What samplers share that pick: they work on distinct rows of features, each with the number of
launches that it stands for, since millions of launches have few of them; and they choose among
groupings by the error of the projected time.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from lockstep.errors import LockstepError


class DistinctRows(NamedTuple):
    """Distinct rows of features.

    ``row`` int64 [launches], numbered by first launch; ``first`` int64 [rows], that launch;
    ``counts`` int64 [rows].
    """

    row: np.ndarray
    first: np.ndarray
    counts: np.ndarray


class Grouping(NamedTuple):
    """``groups`` int64 [rows]: of each row; ``leads`` int64 [groups]: the row that stands for it.

    ``error``: of the projected time, relative.
    """

    groups: np.ndarray
    leads: np.ndarray
    error: float


def distinct(columns: np.ndarray | pd.DataFrame) -> DistinctRows:
    """The distinct rows of a table without NaN."""
    frame = pd.DataFrame(columns)
    row = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy(np.int64)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(row), prepend=-1))
    return DistinctRows(row, first, np.bincount(row))


def least_of_each(groups: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The row of each group 0, 1, ... with the smallest key; int64, the first one of equals."""
    order = np.lexsort((key, groups))
    return order[np.flatnonzero(np.diff(groups[order], prepend=-1))]


def grouping(
    groups: np.ndarray, key: np.ndarray, counts: np.ndarray, times: np.ndarray, total: float
) -> Grouping:
    """Groups of any labels, with the row of the smallest key as lead, and their projected error.

    ``times``: of the launch of each row that would be simulated; ``total``: of all launches.
    """
    groups = pd.factorize(groups)[0]  # in the order of their first launches
    leads = least_of_each(groups, key)
    projected = np.bincount(groups, counts) @ times[leads]
    return Grouping(groups, leads, float(abs(projected - total) / total))


def choose(candidates: Iterable[Grouping], target: float, least: bool) -> Grouping:
    """The first with an error below the target; with ``least``, or if none is, the best one."""
    best: Grouping | None = None
    for found in candidates:
        if found.error < target and not least:
            return found
        if best is None or found.error < best.error:
            best = found
    assert best is not None
    return best


def check_target(target: float) -> None:
    """Raise :class:`LockstepError` unless it is a relative error."""
    if not 0 < target < 1:
        raise LockstepError(f"the target is {target:g}; expected an error between 0 and 1")


def selection_notes(found: Grouping, target: float, times: bool, what: str) -> tuple[str, ...]:
    """Notes of a plan: how many groups, and what was wrong. ``what`` was varied to get them."""
    notes = [f"groups: {len(found.leads)}; projected error: {found.error:.2%}"]
    if not times:
        notes.append("groups were chosen by times that the profile predicts")
    if found.error >= target:
        notes.append(f"no {what} has an error below {target:.2%}: this is the best one")
    return tuple(notes)
