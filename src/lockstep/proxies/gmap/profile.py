"""Reads a kernel's CTAs in the order of the grid, and makes the model that G-MAP draws from."""

import numpy as np

from lockstep.caches.coalescer import Coalescer, CtaAccesses
from lockstep.frontend.proxy.gmap import FiveTuple, GmapModel, Paths
from lockstep.frontend.proxy.gmap.sites import (
    COLD,
    LINE_BYTES,
    LOCAL,
    MOST_DISTANCE,
    MOST_LINES,
    NOTHING,
    ORDINAL_BITS,
)
from lockstep.proxies.gmap.clustering import THRESHOLD, cluster
from lockstep.proxies.gmap.counting import PairCounts
from lockstep.proxies.gmap.distances import stack_distances
from lockstep.proxies.gmap.entries import PathEntries, SourceSites, entries_of
from lockstep.proxies.gmap.firsts import FirstLines
from lockstep.proxies.profiles import Fitted
from lockstep.proxies.regions import Regions
from lockstep.workload import Cta, Kernel

_MOST_LINES, _MOST_CTAS = 1 << 16, 1 << 10  # that are looked at together


class GmapProfile:
    """Makes the model of one kernel launch from its CTAs.

    Local memory has a piece for each CTA, in a place of its own.
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

    def add(self, cta: Cta) -> None:
        """Look at the next CTA."""
        self._waiting.append(self._coalesce(cta))
        self._lines += len(self._waiting[-1].lines)
        if self._lines >= _MOST_LINES or len(self._waiting) == _MOST_CTAS:
            self._look()

    def fitted(self, regions: Regions) -> Fitted:
        """The model of what has been read so far, which are all CTAs of the launch."""
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
        used = self._place(sites, number, regions)
        model = GmapModel(known, len(used), distinct=len(paths), forced=clusters.forced)
        return Fitted(model, used)

    def _place(self, sites: np.ndarray, number: np.ndarray, regions: Regions) -> tuple[int, ...]:
        """Give sites the regions that they begin in, by their numbers among those that are used."""
        line = self._firsts.base
        near = [source for source in line if not source & 1]
        found = regions.of(np.array([line[source] for source in near], np.int64) * LINE_BYTES)
        used = np.unique(found[found >= 0]).tolist()
        at = {source: used.index(r) for source, r in zip(near, found.tolist()) if r >= 0}
        for source, first in line.items():
            site, where = sites[number[source]], at.get(source, NOTHING)
            base = regions.base[used[where]] // LINE_BYTES if where != NOTHING else 0
            start = LOCAL if source & 1 else 0
            site["allocation"], site["base"] = where, first + start - base
        return tuple(used)

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
