"""Configurations of caches that are explored."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import msgspec

from lockstep.caches.accesses import LINE_BYTES
from lockstep.caches.ahead import MOST, NAMES
from lockstep.caches.geometry import LINES, MOST_ROWS, Sets
from lockstep.caches.stacks import MOST_WAYS
from lockstep.caches.tagged import REPLACEMENTS
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU


class CachePoint(msgspec.Struct, frozen=True):
    """One configuration of an L1, or of a whole L2.

    ``sectored``: what misses brings sectors of 32 bytes, not the line. ``slices`` are of an L2.
    ``replacement`` is one of REPLACEMENTS; ``prefetcher`` is "stride" of an L1, "stream" of an L2,
    or "user", with parameters as of GPUs. With LRU and without prefetchers all ways of the same
    sets take one pass, else each takes its own.
    """

    bytes: int
    ways: int
    line_bytes: int = 128
    sectored: bool = False
    hash: str = "linear"
    slices: int = 1
    slice_hash: str = "linear"
    interleave_bytes: int = 256
    replacement: str = "lru"
    prefetcher: str = "none"
    degree: int = 1
    distance: int = 1
    window: int = 16

    @property
    def in_stack(self) -> bool:
        """Whether a pass can be shared by all ways of the same sets."""
        return self.replacement == "lru" and self.prefetcher == "none"

    @property
    def sets(self) -> Sets:
        """How lines are spread over its sets."""
        count = self.bytes // (self.ways * self.line_bytes)
        return Sets(
            count, self.line_bytes, self.hash, self.slices, self.slice_hash, self.interleave_bytes
        )

    @property
    def problem(self) -> str:
        """Why there is no such cache, or nothing."""
        if self.line_bytes not in LINES:
            return f"lines have {', '.join(map(str, LINES))} bytes"
        if not 1 <= self.ways <= MOST_WAYS:
            return f"there are 1 to {MOST_WAYS} ways"
        if self.bytes <= 0 or self.bytes % (self.ways * self.line_bytes):
            return "it is no multiple of ways times line"
        if self.replacement not in REPLACEMENTS:
            return (
                f"there is no replacement {self.replacement!r}; there are {', '.join(REPLACEMENTS)}"
            )
        if self.sets.count > MOST_ROWS:
            return f"there are at most {MOST_ROWS} sets"
        if self.sets.count % self.slices:
            return f"{self.slices} slices do not divide its sets"
        if self.prefetcher not in NAMES:
            return f"there is no prefetcher {self.prefetcher!r}; there are {', '.join(NAMES)}"
        if not 1 <= self.degree <= MOST or self.distance < 1 or self.window < 1:
            return f"a prefetcher asks for 1 to {MOST} lines, from a distance of 1 on, in a window"
        return ""


def fitting(points: Iterable[CachePoint]) -> tuple[CachePoint, ...]:
    """Those that can be built, each once.

    Raises :class:`WorkloadError` if there is none, which says why the first one cannot.
    """
    all_of = tuple(dict.fromkeys(points))
    some = tuple(point for point in all_of if not point.problem)
    if not some:
        raise WorkloadError(_why_not(all_of[0]) if all_of else "there are no caches to look at")
    return some


def left_out(points: Iterable[CachePoint]) -> str:
    """How many of some points ``fitting`` leaves out, and why the first of these; or nothing."""
    all_of = tuple(dict.fromkeys(points))
    others = [point for point in all_of if point.problem]
    return f"{len(others)} of {len(all_of)}: {_why_not(others[0])}" if others else ""


def _why_not(point: CachePoint) -> str:
    return (
        f"no cache of {point.bytes} bytes has {point.ways} ways with lines of "
        f"{point.line_bytes} bytes: {point.problem}"
    )


def grid(
    sizes: Iterable[int], ways: Iterable[int], lines: Iterable[int] = (LINE_BYTES,), **others: Any
) -> tuple[CachePoint, ...]:
    """All caches of these sizes, ways and lines that can be built; errors as of ``fitting``."""
    return fitting(CachePoint(*each, **others) for each in product(sizes, ways, lines))


def l1_of(
    gpu: GPU,
    size: int = 0,
    ways: int = 0,
    line_bytes: int = 0,
    *,
    whole: bool = False,
    **others: Any,
) -> CachePoint:
    """The L1 of a GPU, or one of another size, with other ways or lines.

    Of a unified memory it is what is left where shared memory takes nothing. ``whole``: without
    sectors. ``others`` are fields of the point, such as ``replacement``, that are not the GPU's.
    """
    l1 = gpu.l1
    others = _decided(l1) | others
    own = max(1, l1.bytes // (l1.sets * l1.line_bytes))
    line = line_bytes or l1.line_bytes
    ways = ways or own
    size = size or own * l1.sets * l1.line_bytes
    return CachePoint(size, ways, line, not whole and l1.sector_bytes < line, l1.hash, **others)


def l2_of(
    gpu: GPU,
    size: int = 0,
    ways: int = 0,
    line_bytes: int = 0,
    *,
    whole: bool = False,
    **others: Any,
) -> CachePoint:
    """The L2 of a GPU as one cache, or one of another size, with other ways or lines.

    It keeps the slices of the GPU where they divide its sets, else it has one. ``others`` as above.
    """
    l2 = gpu.l2
    others = _decided(l2) | others
    slices = gpu.dram.channels * l2.slices_per_channel
    ways, line = ways or l2.ways, line_bytes or l2.line_bytes
    size = size or slices * l2.sets * l2.ways * l2.line_bytes
    sectored = not whole and l2.sector_bytes < line
    point = CachePoint(size, ways, line, sectored, l2.set_hash, **others)
    if point.problem or point.sets.count % slices:
        return point
    return msgspec.structs.replace(
        point, slices=slices, slice_hash=l2.slice_hash, interleave_bytes=l2.interleave_bytes
    )


def _decided(cache: Any) -> dict[str, Any]:
    """What a cache of a GPU displaces, and what it prefetches if it does."""
    given = {"replacement": cache.replacement, "prefetcher": cache.prefetcher}
    if cache.prefetcher != "none":
        given |= {"degree": cache.prefetch_degree, "distance": cache.prefetch_distance}
        if hasattr(cache, "prefetch_window"):
            given["window"] = cache.prefetch_window
    return given
