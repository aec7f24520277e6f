"""Photon (MICRO 2023), its kernel level: launches that execute the same blocks as often.

Launches come in program order. One whose counts of basic blocks are nearer than a distance to those
of an earlier simulated launch of the same code is not simulated: the one of these with the nearest
number of warps stands for it. The distance of counts v from those of a simulated launch, u, is
|v - u| / |v|, the error of the counts if u stands for v.

Picked on purpose: there is no bound. Warp and block level need a model that is asked while it runs.
"""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.isa.instruction import WARP_SIZE
from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import Effort, OneStep, register
from lockstep.sampling.strata import members
from lockstep.sampling.table import BLOCKS, LaunchTable

BATCH = 64  # launches; with 100,000 simulated ones their comparison takes 50 MB
DOUBT = 1e-5  # of squares of lengths: what single precision may be wrong by, and more


@register
class Photon(OneStep):
    """``distance``: relative; launches whose counts are nearer stand for each other."""

    name, level, times = "photon", 2, False
    effort, same_strata = Effort("distance", 1e-6, 100.0), True

    def __init__(self, distance: float = 0.05):
        if not 0 <= distance < np.inf:
            raise LockstepError(f"photon: distance is {distance}; expected 0 or more, such as 0.05")
        self.distance = distance

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """A stratum is a simulated launch and those that it stands for."""
        blocks, executions = (_lists(table, name) for name in BLOCKS)
        for k, (names, times) in enumerate(zip(blocks, executions, strict=True)):
            if len(names) != len(times):
                raise LockstepError(f"launch {k}: {len(names)} blocks, and counts of {len(times)}")
        stands, warps = np.empty(len(table), np.int64), _warps(table)
        for rows in members(table.codes()):
            counts = Counts([blocks[row] for row in rows], [executions[row] for row in rows])
            stands[rows] = rows[representatives(counts, warps[rows], self.distance)]
        parameters = {"distance": self.distance}
        chosen = np.unique(stands)
        return Plan.of(table, self.name, stands, chosen, drawn=False, parameters=parameters)


def representatives(counts: "Counts", warps: np.ndarray, distance: float) -> np.ndarray:
    """Which launch stands for each launch of one code, itself or an earlier one; int64.

    ``warps``: float64 [launches]. Launches are compared with all that are simulated a batch at a
    time, by products of matrices.
    """
    stands = np.empty(len(warps), np.int64)
    simulated = _Vectors(counts.width)
    for begin in range(0, len(warps), BATCH):
        end = min(begin + BATCH, len(warps))
        old = len(simulated)
        simulated.append(np.arange(begin, end), counts.dense(begin, end))
        near = simulated.near(old, distance)
        is_simulated = np.arange(len(simulated)) < old
        for k in range(old, len(simulated)):
            others = np.flatnonzero(near[k - old, :k] & is_simulated[:k])
            if len(others):
                apart = np.abs(warps[simulated.launch[others]] - warps[begin + k - old])
                best = others[apart.argmin()]  # the earliest of several
            else:
                best, is_simulated[k] = k, True
            stands[begin + k - old] = simulated.launch[best]
        simulated.keep(is_simulated, old)
    return stands


class Counts:
    """How often each block ran in each launch of one code; most blocks of large codes never do."""

    def __init__(self, blocks: list[np.ndarray], executions: list[np.ndarray]):
        self._ends = np.cumsum([0, *map(len, blocks)])
        self._times = np.concatenate(executions)
        names, self._column = np.unique(np.concatenate(blocks), return_inverse=True)
        self.width = len(names)

    def dense(self, begin: int, end: int) -> np.ndarray:
        """Of launches ``begin`` to ``end``, float64 [launches, blocks]."""
        entries = slice(self._ends[begin], self._ends[end])
        row = np.repeat(np.arange(end - begin), np.diff(self._ends[begin : end + 1]))
        place = row * self.width + self._column[entries]
        size = (end - begin) * self.width
        return np.bincount(place, self._times[entries], size).reshape(-1, self.width)


class _Vectors:
    """Vectors of counts, of launches in program order; arrays of which the first rows are used."""

    def __init__(self, width: int):
        self._n = 0
        self._launch, self._length = np.empty(BATCH, np.int64), np.empty(BATCH)
        self._counts = np.empty((BATCH, width))
        self._unit = np.empty((BATCH, width), np.float32)

    def __len__(self) -> int:
        return self._n

    @property
    def launch(self) -> np.ndarray:
        """Of each vector, int64."""
        return self._launch[: self._n]

    def append(self, launch: np.ndarray, counts: np.ndarray) -> None:
        """Add vectors behind the others."""
        rows = slice(self._n, self._n + len(launch))
        self._n += len(launch)
        if self._n > len(self._launch):
            for name in ("_launch", "_length", "_counts", "_unit"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.empty_like(array)]))
        length = np.linalg.norm(counts, axis=1)
        self._launch[rows], self._counts[rows], self._length[rows] = launch, counts, length
        self._unit[rows] = counts / np.where(length > 0, length, 1)[:, None]

    def keep(self, kept: np.ndarray, first: int) -> None:
        """Of those from number ``first`` on, keep some."""
        rows = np.flatnonzero(kept[first:]) + first
        self._n = first + len(rows)
        for array in (self._launch, self._length, self._counts, self._unit):
            array[first : self._n] = array[rows]

    def near(self, first: int, distance: float) -> np.ndarray:
        """Whether each is near those from number ``first`` on; bool [those, all].

        The angle between two vectors, in single precision, and their lengths tell it, but for
        pairs that are near the limit: of these the difference is taken.
        """
        n = self._n
        cosine = self._unit[first:n] @ self._unit[:n].T
        mine, squares = self._length[first:n, None], self._length[:n] ** 2
        excess = (1 - distance**2) * mine**2 + squares - 2 * mine * self._length[:n] * cosine
        doubt = DOUBT * (mine**2 + squares)
        near = excess < -doubt
        for k, other in np.argwhere(np.abs(excess) <= doubt):
            gap = np.linalg.norm(self._counts[first + k] - self._counts[other])
            near[k, other] = gap < distance * mine[k, 0] or gap == 0
        return near


def _lists(table: LaunchTable, name: str) -> list[np.ndarray]:
    """A column of lists of whole numbers; raises :class:`LockstepError` if it is none."""
    if name not in table.frame:
        raise LockstepError(f"the launch table has no column {name}, which photon reads")
    try:
        return [np.asarray(values, np.int64).reshape(-1) for values in table.frame[name]]
    except (TypeError, ValueError, OverflowError):
        raise LockstepError(f"the column {name} does not have a list of counts a launch") from None


def _warps(table: LaunchTable) -> np.ndarray:
    """Warps of each launch, float64; the last one of a CTA may be partly empty."""
    ctas = table.ctas()
    return ctas * np.ceil(table.threads() / np.maximum(ctas, 1) / WARP_SIZE)
