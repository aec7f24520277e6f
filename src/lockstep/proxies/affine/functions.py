"""Functions of the place in the grid, found from addresses: exact integers, no regression.

How an address changes with an axis is the median over pairs of CTAs that are neighbours along it,
so that a few that are clamped at an edge do not matter.
"""

from dataclasses import dataclass

import numpy as np

PAIRS = 64  # that are looked at, of each axis
AXES = 3
MOST_SPLITS = 3  # of an index
UNKNOWN = -(1 << 62)  # a factor of an axis along which there are no neighbours


@dataclass(frozen=True, order=True, slots=True)
class PlaceFunction:
    """Byte offset in a region: the columns ``function_*`` of the tables."""

    region: int
    x: int = 0
    y: int = 0
    z: int = 0
    warp: int = 0
    row: int = 0
    plane: int = 0
    shift: int = 0
    align: int = 1
    splits: tuple[tuple[int, int], ...] = ()  # period and jump: what x // period adds


@dataclass(frozen=True, slots=True)
class GridPlaces:
    """Of a launch: where CTAs and warps lie."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_size: int

    def place(self, cta: np.ndarray) -> np.ndarray:
        """x, y, z of linear CTAs: int64 [CTAs, 3]."""
        x, y, _ = self.grid
        return np.stack([cta % x, cta // x % y, cta // (x * y)], axis=-1)

    def warp_place(self, warp: np.ndarray) -> np.ndarray:
        """Number, and row and plane of the first thread, of warps: int64 [warps, 3]."""
        row = warp * self.warp_size // self.block[0]
        return np.stack([warp, row, row // self.block[1]], axis=-1)


def neighbours(place: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of CTAs that differ in one axis alone, next to each other there; at most PAIRS."""
    others = [a for a in range(AXES) if a != axis]
    order = np.lexsort((place[:, axis], place[:, others[0]], place[:, others[1]]))
    same = (np.diff(place[order][:, others], axis=0) == 0).all(axis=1)
    at = np.flatnonzero(same)
    if len(at) > PAIRS:
        at = at[np.linspace(0, len(at) - 1, PAIRS).astype(np.int64)]
    return order[at], order[at + 1]


def factors(base: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The factors of x, y and z of each column of bases [CTAs, columns]: int64 [3, columns]."""
    found = np.full((AXES, base.shape[1]), UNKNOWN, np.int64)
    for axis in range(AXES):
        first, second = neighbours(place, axis)
        if len(first):
            steps = (place[second, axis] - place[first, axis])[:, None]
            slopes = (base[second] - base[first]) // steps
            slopes.sort(axis=0)
            found[axis] = slopes[len(slopes) // 2]
    return found


def splits(x: np.ndarray, value: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Periods and jumps that give ``value`` of CTAs at ``x`` but for a constant.

    They are those of an index of one axis that a kernel splits into several; none if it does not.
    """
    order = np.argsort(x, kind="stable")
    x, left = x[order], value[order]
    found: list[tuple[int, int]] = []
    for _ in range(MOST_SPLITS + 1):
        at = np.flatnonzero(np.diff(left)) + 1
        if not len(at):
            return tuple(found)
        period = _most(np.diff(x[at])) if len(at) > 1 else int(x[at[0]])
        jump = _most(left[at] - left[at - 1])
        if period < 2 or not jump:
            return ()
        found.append((period, jump))
        left = left - x // period * jump
    return ()


def _most(values: np.ndarray) -> int:
    """The most frequent value."""
    found, count = np.unique(values, return_counts=True)
    return int(found[count.argmax()])


def warp_factors(value: np.ndarray, place: np.ndarray) -> tuple[int, int, int]:
    """Factors of a warp's number, row and plane that give ``value`` [warps] but for a constant.

    All zero if no integers do.
    """
    chosen: list[int] = []
    centred = place - place[0]
    for column in range(place.shape[1]):
        matrix = centred[:, [*chosen, column]]
        if np.linalg.matrix_rank(matrix) == len(chosen) + 1:
            chosen.append(column)
    found = [0, 0, 0]
    if chosen:
        matrix = centred[:, chosen]
        given = value - value[0]
        solved = np.rint(np.linalg.lstsq(matrix, given.astype(float), rcond=None)[0])
        whole = solved.astype(np.int64)
        if np.array_equal(matrix @ whole, given):
            for column, factor in zip(chosen, whole.tolist()):
                found[column] = factor
    return found[0], found[1], found[2]


def values(function: PlaceFunction, place: np.ndarray, warp_place: np.ndarray) -> np.ndarray:
    """A function's values: of CTAs [n, 3] and warps [m, 3], or both of one each, as they pair."""
    of_cta = place @ np.array([function.x, function.y, function.z])
    for period, jump in function.splits:
        of_cta = of_cta + place[..., 0] // period * jump
    of_warp = warp_place @ np.array([function.warp, function.row, function.plane])
    value = (of_cta + of_warp) >> function.shift
    return value - value % function.align
