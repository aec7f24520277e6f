"""Reads a kernel's CTAs in the order of the grid, and makes the model that G-MAP draws from."""

from typing import NamedTuple

import numpy as np

from lockstep.caches.accesses import Coalescer, CtaAccesses
from lockstep.frontend.proxy.gmap import FiveTuple, GmapModel, Paths
from lockstep.frontend.proxy.gmap.draw import PUBLISHED
from lockstep.frontend.proxy.gmap.sites import (
    COLD,
    LINE_BYTES,
    MOST_DISTANCE,
    MOST_LINES,
    ORDINAL_BITS,
)
from lockstep.proxies.gmap.clustering import THRESHOLD, cluster
from lockstep.proxies.gmap.counting import PairCounts
from lockstep.proxies.gmap.distances import stack_distances
from lockstep.proxies.gmap.entries import PathEntries, SourceSites, entries_of
from lockstep.proxies.gmap.firsts import FirstLines
from lockstep.workload import Cta, Kernel

_MOST_LINES, _MOST_CTAS = 1 << 16, 1 << 10  # that are looked at together


class GmapProfile(NamedTuple):
    """A model, the numbers of the allocations that it knows, and how large the one behind these is:
    the local memory of all CTAs, in bytes. There is none if that is 0."""

    model: GmapModel
    allocations: list[int]
    local_bytes: int


class GmapProfiler:
    """Makes the model of one kernel launch from its CTAs.

    Local memory becomes an allocation, with a piece for each CTA.
    """

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self._coalesce = Coalescer(kernel)
        self._waiting: list[CtaAccesses] = []
        self._lines = 0
        self._sources = SourceSites(kernel)
        self._firsts = FirstLines()
        self._paths: dict[bytes, int] = {}
        self._taken: list[int] = []  # warps that take each path
        self._intra, self._reuse = PairCounts(), PairCounts()

    def read(self, cta: Cta) -> None:
        """Look at the next CTA."""
        self._waiting.append(self._coalesce(cta))
        self._lines += len(self._waiting[-1].lines)
        if self._lines >= _MOST_LINES or len(self._waiting) == _MOST_CTAS:
            self._look()

    def model(self, base: np.ndarray, counting: str = PUBLISHED) -> GmapProfile:
        """What has been read so far, if these are all CTAs of the launch.

        ``base``: addresses at which allocations begin, ascending; an address belongs to the last
        one that does not begin behind it. ``counting``: one of :data:`.draw.REUSES`.
        """
        self._look()
        inter = self._firsts.finish()
        paths = [np.frombuffer(path, np.int32).astype(np.int64) for path in self._paths]
        clusters = cluster(paths, self._taken, THRESHOLD)
        sites, number = self._sources.sites()
        chosen = [_renumbered(paths[i], number) for i in clusters.representatives]
        known = FiveTuple(
            sites,
            Paths.of(chosen, np.bincount(clusters.member, self._taken, len(chosen))),
            inter.histograms(number, len(sites)),
            self._intra.histograms(number, len(sites)),
            self._reuse.histograms(clusters.member, len(chosen)),
        )
        used = self._place(sites, number, np.asarray(base, np.int64))
        local = self._firsts.local_lines * LINE_BYTES
        count = len(used) + (local > 0)
        model = GmapModel(known, count, counting, 0.0, len(paths), clusters.forced)
        return GmapProfile(model, used, local)

    def _place(self, sites: np.ndarray, number: np.ndarray, base: np.ndarray) -> list[int]:
        """Give sites the allocations that they begin in; numbers of these, local memory behind."""
        first = self._firsts.base
        found = {
            source: max(int(np.searchsorted(base, line * LINE_BYTES, side="right")) - 1, 0)
            for source, line in first.items()
            if not source & 1
        }
        used = sorted(set(found.values()))
        for source, line in first.items():
            site = sites[number[source]]
            allocation = found.get(source)
            if allocation is None:
                site["allocation"], site["base"] = len(used), line
            else:
                site["allocation"] = used.index(allocation)
                site["base"] = line - base[allocation] // LINE_BYTES
        return used

    def _look(self) -> None:
        """Count what waits."""
        if not self._waiting:
            return
        entries = entries_of(self._waiting)
        self._sources.see(entries)
        path = self._count_paths(entries)
        there = entries.accesses
        warp, source, line = entries.warp[there], entries.source[there], entries.line[there]
        begin = np.searchsorted(warp, np.arange(entries.warps + 1))
        distances = stack_distances(begin, line)
        distances[distances > MOST_DISTANCE] = COLD
        self._reuse.add(path[warp], distances)
        order = np.lexsort((warp, source))  # stable: equal ones stay in the order of time
        source, warp, line = source[order], warp[order], line[order]
        again = (source[1:] == source[:-1]) & (warp[1:] == warp[:-1])
        self._intra.add(source[1:][again], np.diff(line)[again])
        first = np.concatenate([[True], ~again])[: len(line)]
        self._firsts.see(source, line, first, entries.cta[there][order], len(self._waiting))
        self._waiting, self._lines = [], 0

    def _count_paths(self, entries: PathEntries) -> np.ndarray:
        """Count the path of each warp; its number."""
        codes = entries.codes.astype(np.int32).tobytes()
        ends = 4 * np.searchsorted(entries.warp, np.arange(entries.warps + 1))
        path = np.empty(entries.warps, np.int64)
        begin = 0
        for w, end in enumerate(ends[1:].tolist()):
            number = self._paths.setdefault(codes[begin:end], len(self._paths))
            if number == len(self._taken):
                self._taken.append(0)
            self._taken[number] += 1
            path[w], begin = number, end
        return path


def _renumbered(path: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The entries of a path, with sites for sources."""
    return number[path >> ORDINAL_BITS] << ORDINAL_BITS | path & (MOST_LINES - 1)
