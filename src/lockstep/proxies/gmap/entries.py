"""The accesses of some CTAs as entries of paths, and what is known of the instructions in them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lockstep.caches.accesses import (
    ATOMIC,
    BARRIER,
    INVALIDATE,
    LINE,
    PAST_L1,
    PRIVATE,
    READ,
    SECTOR_BYTES,
    STEP,
    WRITE,
)
from lockstep.caches.coalescer import CtaAccesses
from lockstep.frontend.proxy.gmap.sites import MOST_LINES, ORDINAL_BITS, SITE
from lockstep.isa.instruction import OpClass
from lockstep.proxies.gmap.counting import PairCounts
from lockstep.workload import Kernel

APART = 1 << 50  # added to lines of local memory, so that they are none of global memory
_OPS = np.zeros(INVALIDATE + 1, np.int64)
_OPS[[READ, WRITE, ATOMIC]] = OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC
_OPS[[BARRIER, INVALIDATE]] = OpClass.BARRIER, OpClass.CACHE_CONTROL
_BULK = (OpClass.BULK_STORE, OpClass.TILE_STORE)


class PathEntries(NamedTuple):
    """The entries of the paths of some warps, one after the other; int64 arrays of one length.

    ``source``: of the instruction, its index * 2, + 1 if it accesses local memory, which makes two
    sites of one that does both.
    """

    warp: np.ndarray
    cta: np.ndarray
    source: np.ndarray
    ordinal: np.ndarray
    kind: np.ndarray
    past_l1: np.ndarray
    line: np.ndarray  # of markers, 0
    sectors: np.ndarray
    warps: int

    @property
    def codes(self) -> np.ndarray:
        """As paths have them, with sources for sites."""
        return self.source << ORDINAL_BITS | self.ordinal

    @property
    def accesses(self) -> np.ndarray:
        """Which are no markers."""
        return self.kind < BARRIER


def entries_of(ctas: Sequence[CtaAccesses]) -> PathEntries:
    """The entries of some CTAs, warp by warp."""
    steps = np.concatenate([np.zeros(0, STEP), *(c.steps for c in ctas)])
    lines = np.concatenate([np.zeros(0, LINE), *(c.lines for c in ctas)])
    in_warp = np.concatenate([np.diff(c.first) for c in ctas])
    of_cta = np.repeat(np.arange(len(ctas)), [len(c.steps) for c in ctas])
    marker = steps["kind"] >= BARRIER
    count = np.where(marker, 1, steps["lines"])
    step = np.repeat(np.arange(len(steps)), count)
    private = steps["flags"] & PRIVATE != 0
    place = np.arange(len(step)) - np.repeat(np.cumsum(count) - count, count)
    line, sectors = np.zeros((2, len(step)), np.int64)
    there = ~marker[step]
    line[there], sectors[there] = lines["line"], lines["sectors"]
    line += np.where(private[step], APART, 0)
    return PathEntries(
        np.repeat(np.arange(len(in_warp)), in_warp)[step],
        of_cta[step],
        (steps["site"].astype(np.int64) * 2 + private)[step],
        place % MOST_LINES,
        steps["kind"].astype(np.int64)[step],
        (steps["flags"] & PAST_L1 != 0).astype(np.int64)[step],
        line,
        sectors,
        len(in_warp),
    )


class SourceSites:
    """What is known of the instructions of a kernel from their accesses."""

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self._known: dict[int, tuple[int, int]] = {}  # op, and whether it passes the L1
        self._masks = PairCounts()
        self._instructions = PairCounts()

    def see(self, entries: PathEntries) -> None:
        """Look at what some CTAs accessed."""
        found, first = np.unique(entries.source, return_index=True)
        for source, i in zip(found.tolist(), first.tolist()):
            self._known.setdefault(source, (int(_OPS[entries.kind[i]]), int(entries.past_l1[i])))
        there = entries.accesses
        self._masks.add(entries.source[there], entries.sectors[there])
        begins = entries.source[there & (entries.ordinal == 0)]
        self._instructions.add(begins, np.zeros_like(begins))

    def sites(self) -> tuple[np.ndarray, np.ndarray]:
        """SITE records but for their lines, and the number of each source's, -1 if it has none."""
        sources = np.array(sorted(self._known), np.int64)
        number = np.full(int(sources.max(initial=-1)) + 1, -1, np.int64)
        number[sources] = np.arange(len(sources))
        code = self._kernel.code.instructions[sources >> 1]
        sites = np.zeros(len(sources), SITE)
        sites["pc"] = code["pc"]
        sites["op"], sites["past_l1"] = (
            np.array([self._known[source] for source in sources.tolist()], np.int64)
            .reshape(-1, 2)
            .T
        )
        source, mask, count = self._masks.pairs()
        order = np.argsort(count, kind="stable")  # the last one of a site stays
        sites["sectors"][number[source[order]]] = mask[order]
        sites["whole"] = self._whole(sites, number, code)
        return sites, number

    def _whole(self, sites: np.ndarray, number: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Which stores write all bytes of their sectors, if all lanes of a warp take part."""
        touched, asked = np.zeros((2, len(sites)), np.int64)
        source, mask, count = self._masks.pairs()
        np.add.at(touched, number[source], np.bitwise_count(mask) * SECTOR_BYTES * count)
        source, _, count = self._instructions.pairs()
        asked[number[source]] = count * self._kernel.warp_size
        full = (touched <= asked * code["width"]) | np.isin(code["op"], _BULK)
        return full & (sites["op"] == OpClass.STORE)
