"""From the tree of a hand-written kernel to the streams of its CTAs, one CTA at a time.

The tree has loops and segments: instructions in a row that execute under the same masks. All
executions of a segment, by all warps of a CTA, are evaluated in one NumPy expression. Masks only
ever remove lanes: a segment that no lane of a warp reaches is left out of that warp's stream.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from lockstep.builder.patterns import Mask, Pattern, Site
from lockstep.errors import LockstepError
from lockstep.isa.instruction import WARP_SIZE
from lockstep.plain_bytes import together
from lockstep.workload import ADDRESS, RUN, WARP, Cta

ALL = -1  # mask of all lanes that a warp has
_BITS = np.int64(1) << np.arange(64, dtype=np.int64)  # the last one is the sign
_ELEMENTS = 1 << 20  # lane addresses evaluated at once: bounds the memory of a long loop
_STRIDE_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True)
class DivergentRegion:
    """A divergent region: only these lanes enter. ``depth`` is how many loops are around it."""

    mask: Mask
    depth: int
    negated: bool = False

    def bits(self, site: Site) -> np.ndarray:
        """The lanes that enter, as integers that broadcast to (warps, executions)."""
        bits = mask_bits(self.mask, replace(site, loops=site.loops[: self.depth]))
        return ~bits if self.negated else bits


@dataclass(slots=True)
class Segment:
    """``count`` instructions from static index ``first``, under the same masks.

    ``depth`` is how many loops are around them.
    """

    first: int
    depth: int
    blocks: tuple[DivergentRegion, ...]
    predicate: Mask
    count: int = 0
    accesses: list[Pattern] = field(default_factory=list)


@dataclass(slots=True)
class Loop:
    """A body that repeats; the count may be a function of the place in the grid."""

    count: int | Callable[[Site], np.ndarray]
    body: list["Segment | Loop"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which segment executes when, for a warp in which no lane is masked off."""

    segment: np.ndarray  # index into the list of segments
    loops: np.ndarray  # (depth, executions): iteration of each loop around
    positions: list[np.ndarray]  # of each segment in the two arrays above
    access: np.ndarray  # number of memory accesses before each execution; one more at the end


def mask_bits(mask: Mask, site: Site) -> np.ndarray:
    """A mask as integers that broadcast to (warps, executions); bits of no lane may be set."""
    if not callable(mask):
        return np.full((1, 1), mask, np.int64)
    lanes = np.asarray(mask(site), bool)
    return _packed(np.broadcast_to(lanes, np.broadcast_shapes(lanes.shape, site.lane.shape)))


def _packed(lanes: np.ndarray) -> np.ndarray:
    """The last axis, one boolean a lane, as bits of integers."""
    return np.where(lanes, _BITS[: lanes.shape[-1]], 0).sum(axis=-1)


def lanes_of(masks: np.ndarray) -> np.ndarray:
    """How many lanes each mask has; of a negative number NumPy counts other bits."""
    return np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)


class Expansion:
    """Makes the CTAs of one kernel; nothing is kept from one CTA to the next."""

    def __init__(
        self,
        grid: tuple[int, int, int],
        threads: int,
        body: list[Segment | Loop],
        warp_size: int = WARP_SIZE,
    ):
        self._grid, self._threads, self._body = grid, threads, body
        self._warp_size, self._warps = warp_size, -(-threads // warp_size)
        self._segments = list(_segments(body))
        self._loops = list(_loops(body))
        self._depth = _depth(body)
        self._firsts = np.array([s.first for s in self._segments], np.int64)
        self._counts = np.array([s.count for s in self._segments], np.int64)
        self._schedule = functools.lru_cache(maxsize=4)(self._make_schedule)

    def ctas(self) -> Iterator[Cta]:
        """Every CTA of the grid, x fastest, made when it is asked for."""
        for cta in range(self._grid[0] * self._grid[1] * self._grid[2]):
            yield self.cta(cta)

    def cta(self, cta: int) -> Cta:
        """The streams of the CTA with this linear index."""
        schedule = self._schedule(self._trip_counts(cta))
        together = max(1, _ELEMENTS // (self._warp_size * max(1, len(schedule.segment))))
        parts = [
            self._streams(cta, schedule, np.arange(w, min(w + together, self._warps)))
            for w in range(0, self._warps, together)
        ]
        return _join(self._block_index(cta), parts)

    def _block_index(self, cta: int) -> tuple[int, int, int]:
        x, y, _ = self._grid
        return cta % x, cta // x % y, cta // (x * y)

    def _site(self, cta: int, warps: np.ndarray, loops: np.ndarray) -> Site:
        executions = np.arange(loops.shape[1], dtype=np.int64).reshape(1, -1, 1)
        iterations = tuple(row.reshape(1, -1, 1) for row in loops)
        block = self._block_index(cta)
        warp = warps.reshape(-1, 1, 1)
        return Site(cta, block, self._threads, warp, iterations, executions, self._warp_size)

    def _trip_counts(self, cta: int) -> tuple[int, ...]:
        """How often each loop goes around at most, in this CTA."""
        site = self._site(cta, np.arange(self._warps), np.zeros((0, 1), np.int64))
        return tuple(
            max(0, int(np.max(loop.count(site)))) if callable(loop.count) else loop.count
            for loop in self._loops
        )

    def _make_schedule(self, trips: tuple[int, ...]) -> Schedule:
        segment, loops = self._unroll(self._body, 0, iter(range(len(self._segments))), iter(trips))
        order = np.argsort(segment, kind="stable")
        ends = np.cumsum(np.bincount(segment, minlength=len(self._segments)))[:-1]
        accesses = np.array([len(s.accesses) for s in self._segments], np.int64)
        before = np.concatenate(([0], np.cumsum(accesses[segment])))
        return Schedule(segment, loops, np.split(order, ends), before)

    def _unroll(self, body, depth: int, numbers: Iterator[int], trips: Iterator[int]):
        """The segment numbers in execution order, and the iteration of each loop around them."""
        segments, loops = [np.zeros(0, np.int64)], [np.zeros((self._depth, 0), np.int64)]
        for node in body:
            if isinstance(node, Segment):
                segments.append(np.array([next(numbers)]))
                loops.append(np.zeros((self._depth, 1), np.int64))
                continue
            count = next(trips)
            inner, around = self._unroll(node.body, depth + 1, numbers, trips)
            around = np.tile(around, count)
            around[depth] = np.repeat(np.arange(count), len(inner))
            segments.append(np.tile(inner, count))
            loops.append(around)
        return np.concatenate(segments), np.concatenate(loops, axis=1)

    def _streams(self, cta: int, schedule: Schedule, warps: np.ndarray):
        """The streams of some warps: WARP, RUN and ADDRESS records and the pool."""
        shape = (len(warps), len(schedule.segment))
        reached, masks = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        records = np.zeros((len(warps), schedule.access[-1]), ADDRESS)
        pool: list[np.ndarray] = [np.zeros(0, np.int64)]
        whole = self._whole_warps(warps)
        for segment, at in zip(self._segments, schedule.positions):
            site = self._site(cta, warps, schedule.loops[: segment.depth, at])
            entered = np.broadcast_to(whole, (len(warps), len(at)))
            for block in segment.blocks:
                entered = entered & block.bits(site)
            reached[:, at] = entered
            masks[:, at] = active = entered & mask_bits(segment.predicate, site)
            for j, pattern in enumerate(segment.accesses):
                lanes = np.asarray(pattern(site), np.int64)
                if lanes.shape != (*active.shape, self._warp_size):
                    lanes = np.broadcast_to(lanes, (*active.shape, self._warp_size))
                records[:, schedule.access[at] + j] = _encode(lanes, active, pool)
        taken = np.repeat(masks != 0, np.diff(schedule.access), axis=1)
        runs, table = self._runs(schedule.segment, reached != 0, masks)
        table["addresses"] = taken.sum(axis=1)
        return table, runs, records[taken], np.concatenate(pool)

    def _whole_warps(self, warps: np.ndarray) -> np.ndarray:
        """The lanes that exist: the last warp of a CTA may be partial."""
        lanes = np.arange(self._warp_size)
        return _packed(lanes < (self._threads - warps * self._warp_size).reshape(-1, 1, 1))

    def _runs(self, segment: np.ndarray, reached: np.ndarray, masks: np.ndarray):
        """RUN records of warps one after the other, neighbours joined, and their WARP records."""
        warp, at = np.nonzero(reached)
        first, count = self._firsts[segment[at]], self._counts[segment[at]]
        mask = masks[warp, at]
        joins = (first[1:] == first[:-1] + count[:-1]) & (mask[1:] == mask[:-1])
        joins &= warp[1:] == warp[:-1]
        starts = np.nonzero(np.concatenate((np.ones(min(1, len(at)), bool), ~joins)))[0]
        runs = np.zeros(len(starts), RUN)
        runs["static"], runs["mask"] = first[starts], mask[starts]
        runs["count"] = np.add.reduceat(count, starts) if len(starts) else 0
        threads = runs["count"] * lanes_of(runs["mask"])
        table = np.zeros(len(masks), WARP)
        owner = warp[starts]
        table["runs"] = np.bincount(owner, minlength=len(table))
        np.add.at(table["warp_instructions"], owner, runs["count"])
        np.add.at(table["thread_instructions"], owner, threads)
        return runs, table


def _segments(body) -> Iterator[Segment]:
    for node in body:
        if isinstance(node, Segment):
            yield node
        else:
            yield from _segments(node.body)


def _loops(body) -> Iterator[Loop]:
    for node in body:
        if isinstance(node, Loop):
            yield node
            yield from _loops(node.body)


def _depth(body) -> int:
    return max((1 + _depth(node.body) for node in body if isinstance(node, Loop)), default=0)


def _encode(lanes: np.ndarray, active: np.ndarray, pool: list[np.ndarray]) -> np.ndarray:
    """ADDRESS records (warps, executions); what is no arithmetic sequence goes to the pool.

    ``lanes`` are the addresses of all lanes.
    """
    warp_size = lanes.shape[-1]
    rank = np.arange(warp_size)
    number = lanes_of(active)[..., None]
    whole = bool((number == warp_size).all())
    if not whole:  # active lanes first, in lane order
        inactive = active[..., None] & _BITS[:warp_size] == 0
        order = np.argsort(inactive, axis=-1, kind="stable")
        lanes = np.take_along_axis(lanes, order, axis=-1)
    if (lanes < 0).any() and ((lanes < 0) & (rank < number)).any():
        raise LockstepError("an address pattern gives a negative address")
    steps = lanes[..., 1:] - lanes[..., :-1]
    stride = steps[..., 0] if whole else np.where(number[..., 0] > 1, steps[..., 0], 0)
    same = steps == stride[..., None]
    if not whole:
        same |= rank[1:] >= number
    regular = same.all(axis=-1) & (np.abs(stride) < _STRIDE_LIMIT)
    records = np.zeros(active.shape, ADDRESS)
    records["first"], records["stride"], records["pool"] = lanes[..., 0], stride, -1
    if not regular.all():
        rows, sizes = lanes[~regular], number[~regular]
        start = sum(map(len, pool)) + np.cumsum(sizes) - sizes[:, 0]
        records["pool"][~regular], records["stride"][~regular] = start, 0
        pool.append(rows[rank < sizes])
    return records


def _join(index: tuple[int, int, int], parts: list) -> Cta:
    """One CTA from the streams of its groups of warps."""
    tables, runs, addresses, pools = zip(*parts)
    shift = 0
    for records, pool in zip(addresses, pools):
        if shift:
            records["pool"][records["pool"] >= 0] += shift
        shift += len(pool)
    warps = together(tables, WARP)
    warps["first_run"] = np.cumsum(warps["runs"]) - warps["runs"]
    warps["first_address"] = np.cumsum(warps["addresses"]) - warps["addresses"]
    pool = pools[0] if len(pools) == 1 else np.concatenate(pools)
    return Cta(index, warps, together(runs, RUN), together(addresses, ADDRESS), pool)
