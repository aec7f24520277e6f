"""The streams of a launch's CTAs as they come, by their shapes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lockstep.isa.instruction import OpClass
from lockstep.workload import ADDRESS, Cta, Kernel

MOST_BYTES = 1 << 30  # of addresses that are kept
FEWEST_CTAS = 64  # however long they are
WAITING = (
    OpClass.BARRIER,
    OpClass.ARRIVE,
    OpClass.FENCE,
    OpClass.LOCAL_FENCE,
    OpClass.COMMIT_GROUP,
    OpClass.WAIT_GROUP,
    OpClass.CACHE_CONTROL,
    OpClass.SLEEP,
    OpClass.CLUSTER_ARRIVE,
    OpClass.CLUSTER_WAIT,
    OpClass.GMMA,
    OpClass.GMMA_ARRIVE,
    OpClass.GMMA_WAIT,
)
"""Classes of sites that access nothing."""


@dataclass(slots=True)
class Shape:
    """CTAs whose warps execute the same instructions under the same masks."""

    warps: np.ndarray  # WARP
    runs: np.ndarray  # RUN
    ctas: list[int] = field(default_factory=list)  # linear numbers of those that are kept
    addresses: list[np.ndarray] = field(default_factory=list)
    pools: list[np.ndarray] = field(default_factory=list)
    others: list[int] = field(default_factory=list)  # numbers of those that are not

    def keep(self, wanted: Callable[[int], bool]) -> None:
        """Forget the addresses of CTAs, but for those that are wanted, or one."""
        rows = [row for row, number in enumerate(self.ctas) if wanted(number)]
        rows = rows or [0]
        kept = set(rows)
        self.others += [n for row, n in enumerate(self.ctas) if row not in kept]
        self.ctas = [self.ctas[row] for row in rows]
        self.addresses = [self.addresses[row] for row in rows]
        self.pools = [self.pools[row] for row in rows]


class LaunchStreams:
    """Keeps the streams of a launch; of a very long one those of CTAs here and there.

    CTAs that are not kept are known by their shape, or, if it is another, by their neighbours.
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.shapes: dict[tuple[bytes, bytes], Shape] = {}
        self.ctas = 0
        self._bytes, self._every = 0, 1
        x, y, _ = kernel.grid
        self._steps = 1, x, x * y  # to the next CTA along each axis

    def add(self, cta: Cta) -> None:
        """The next CTA."""
        key = cta.warps.tobytes(), cta.runs.tobytes()
        _, x, plane = self._steps
        number = cta.index[0] + x * cta.index[1] + plane * cta.index[2]
        shape = self.shapes.get(key)
        self.ctas += 1
        if not self._wanted(number):
            if shape is not None:
                shape.others.append(number)
            return
        if shape is None:
            shape = self.shapes[key] = Shape(cta.warps.copy(), cta.runs.copy())
            self._bytes += cta.warps.nbytes + cta.runs.nbytes
        shape.ctas.append(number)
        shape.addresses.append(cta.addresses.copy())
        shape.pools.append(cta.pool.copy())
        self._bytes += cta.addresses.nbytes + cta.pool.nbytes
        if self._bytes > MOST_BYTES and self.ctas > FEWEST_CTAS:
            self._thin()

    def _wanted(self, number: int) -> bool:
        """Whether it is one of few, or a neighbour of one along an axis."""
        every = self._every
        return number % every == 0 or any((number - step) % every == 0 for step in self._steps)

    def _thin(self) -> None:
        self._every = 2 * self._every + 5  # odd: not always the same columns of a grid
        for shape in self.shapes.values():
            shape.keep(self._wanted)
        kept = [a for shape in self.shapes.values() for a in (*shape.addresses, *shape.pools)]
        self._bytes = sum(a.nbytes for a in kept)


@dataclass(frozen=True, slots=True)
class SiteSequence:
    """What the warps of a shape do, one after the other: an element an execution of a site."""

    warp: np.ndarray
    static: np.ndarray  # index of the instruction
    mask: np.ndarray
    record: np.ndarray  # index of its address record in the CTA, or -1
    gaps: np.ndarray  # index in ``executed`` of each execution
    executed: np.ndarray  # static index of all instructions, warp after warp
    ends: np.ndarray  # where each warp's end there


def sequence(shape: Shape, code: np.ndarray, is_site: np.ndarray) -> SiteSequence:
    """The executions of sites by the warps of a shape; ``is_site``: of each instruction."""
    order = _in_order(shape.warps["first_run"], shape.warps["runs"])
    runs = shape.runs[order]
    counts = runs["count"].astype(np.int64)
    begins = np.cumsum(counts) - counts
    executed = np.repeat(runs["static"] - begins, counts) + np.arange(counts.sum())
    masks = np.repeat(runs["mask"], counts)
    of_run = np.repeat(np.arange(len(shape.warps)), shape.warps["runs"])
    warp = np.repeat(of_run, counts)
    at = np.flatnonzero(is_site[executed] & (masks != 0))
    static = executed[at]
    has = code["width"][static] > 0
    record = np.full(len(at), -1, np.int64)
    record[has] = _in_order(shape.warps["first_address"], shape.warps["addresses"])
    ends = np.cumsum(np.bincount(warp, minlength=len(shape.warps)))
    return SiteSequence(warp[at], static, masks[at], record, at, executed, ends)


def _in_order(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The places first..first+count-1 of each warp, one after the other."""
    begins = np.cumsum(counts) - counts
    return np.repeat(first - begins, counts) + np.arange(counts.sum())


def joined(shape: Shape, rows: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Address records [CTAs, records] of a shape, and the pool that they refer to."""
    chosen = range(len(shape.ctas)) if rows is None else rows
    pools = [shape.pools[i] for i in chosen]
    records = np.concatenate([shape.addresses[i] for i in chosen] or [np.zeros(0, ADDRESS)])
    records = records.reshape(len(pools), -1)
    sizes = np.array([len(pool) for pool in pools], np.int64)
    shift = (np.cumsum(sizes) - sizes)[:, None]
    records["pool"] = np.where(records["pool"] >= 0, records["pool"] + shift, -1)
    return records, np.concatenate([*pools, np.zeros(0, np.int64)])
