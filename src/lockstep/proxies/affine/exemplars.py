"""CTAs that stand for those around them, where each does something else.

Of CTAs in the order of the grid every n-th is kept, literally but for what is regular. Bases that
follow the place in the grid keep doing so; those that follow nothing stay where they are, and the
lines that are accessed from there *move* from CTA to CTA (``moving.py`` of the model).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

import numpy as np

from lockstep.frontend.proxy.affine.tables import NOTHING
from lockstep.proxies.affine import functions
from lockstep.proxies.affine.collect import LaunchStreams, Shape, SiteSequence, joined, sequence
from lockstep.proxies.affine.functions import AXES, PlaceFunction
from lockstep.proxies.affine.kinds import AddressRecords, KernelFit, Kind
from lockstep.workload import Cta

SHARE = 12  # one of so many is kept
FEWEST, MOST = 4, 512  # that are kept, if there are as many
AGREE = 0.5  # of neighbours must differ by the same, for a base to be regular
TREND = 0.5  # of the variance must be a line's, for a base to follow the place in the grid
SHIFT = 20  # of factors of lines


@dataclass(frozen=True, slots=True)
class Exemplars:
    """What was kept, and which sites (``static``) move."""

    kinds: list[Kind]
    moving: set[int]


class _Samples:
    """CTAs whose streams are looked at, one after the other."""

    def __init__(self, shapes: Iterable[Shape], code: np.ndarray, is_site: np.ndarray):
        self._code, self._is_site = code, is_site
        self._places = {cta: (s, i) for s in shapes for i, cta in enumerate(s.ctas)}
        self._sequences: dict[int, SiteSequence] = {}
        self.ctas = np.array(sorted(self._places))

    def __contains__(self, cta: int) -> bool:
        return cta in self._places

    def sequence(self, cta: int) -> SiteSequence:
        """What the warps of a CTA do."""
        shape, _ = self._places[cta]
        if id(shape) not in self._sequences:
            self._sequences[id(shape)] = sequence(shape, self._code, self._is_site)
        return self._sequences[id(shape)]

    def records(self, ctas: Sequence[int]) -> tuple[AddressRecords, np.ndarray, np.ndarray]:
        """Address records of some CTAs, and of each its CTA and its warp."""
        parts, pools, owners, warps, at = [], [], [], [], 0
        for cta in ctas:
            shape, row = self._places[cta]
            own = self.sequence(cta)
            has = own.record >= 0
            records, pool = joined(shape, [row])
            records = records[0][own.record[has]]
            place = np.where(records["pool"] >= 0, records["pool"] + at, -1)
            parts.append((own.static[has], own.mask[has], records, place))
            pools.append(pool)
            owners.append(np.full(len(records), cta))
            warps.append(own.warp[has])
            at += len(pool)
        static, mask, records, place = (np.concatenate(each) for each in zip(*parts))
        made = AddressRecords(static, mask, records, place.astype(np.int64), np.concatenate(pools))
        return made, np.concatenate(owners), np.concatenate(warps)


def exemplars(found: KernelFit, shapes: Sequence[Shape], is_site: np.ndarray) -> Exemplars:
    """Keep some CTAs of these shapes for all of them."""
    samples = _Samples(shapes, found.code, is_site)
    total = len(samples.ctas)
    kept = min(total, max(FEWEST, min(MOST, total // SHARE)))
    bounds = np.linspace(0, total, kept + 1).astype(np.int64)
    strata = [samples.ctas[a:b] for a, b in pairwise(bounds.tolist())]
    chosen = [int(each[len(each) // 2]) for each in strata]
    records, owner, warp = samples.records(_with_neighbours(chosen, samples, found))
    base, gap, code = found.described(records)
    region = found.region(records)
    base -= found.region_base(region)
    fit = _SiteFunctions(found, records.static, region, owner, warp, base)
    rows = np.flatnonzero(np.isin(owner, chosen))
    pattern = found.numbered(records, gap, code, rows)
    function, added = fit.of_rows(rows)
    kinds = []
    starts = np.searchsorted(owner[rows], chosen)
    ends = np.searchsorted(owner[rows], chosen, side="right")
    for cta, members, a, b in zip(chosen, strata, starts, ends):
        own = samples.sequence(cta)
        columns = function[a:b], pattern[a:b], added[a:b]
        kinds.append(found.kind(own, members, *columns, origin=cta))
    return Exemplars(kinds, fit.moving)


def _with_neighbours(chosen: list[int], samples: _Samples, found: KernelFit) -> list[int]:
    """These CTAs, and the next of each along each axis."""
    x, y, _ = found.places.grid
    wanted = set(chosen)
    for step in (1, x, x * y):
        wanted |= {cta + step for cta in chosen if cta + step in samples}
    return sorted(wanted)


class _SiteFunctions:
    """The function of each site, from the first access of each warp there."""

    def __init__(self, found: KernelFit, static, region, owner, warp, base):
        self._found, self._owner, self._warp, self._base = found, owner, warp, base
        self.moving: set[int] = set()
        self._place, self._warp_place = found.places.place(owner), found.places.warp_place(warp)
        keys = np.stack([static, region])
        pairs, self._of = np.unique(keys, axis=1, return_inverse=True)
        self._of = self._of.reshape(-1)
        firsts = np.unique(np.stack([owner, warp, self._of]), axis=1, return_index=True)[1]
        self._functions = []
        for n, (site, where) in enumerate(pairs.T.tolist()):
            rows = firsts[self._of[firsts] == n]
            self._functions.append(self._fit(site, where, np.sort(rows)))

    def of_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the functions of records, and what is added to their values."""
        numbers, added = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for n, function in enumerate(self._functions):
            at = np.flatnonzero(self._of[rows] == n)
            if len(at):
                own = rows[at]
                value = functions.values(function, self._place[own], self._warp_place[own])
                numbers[at], added[at] = self._found.number(function), self._base[own] - value
        return numbers, added

    def _fit(self, site: int, region: int, rows: np.ndarray) -> PlaceFunction:
        base, place, warp = self._base[rows], self._place[rows], self._warp[rows]
        factors, regular = [], True
        for axis in range(AXES):
            others = [a for a in range(AXES) if a != axis]
            order = np.lexsort((place[:, axis], warp, *(place[:, a] for a in others)))
            keys = np.column_stack([place[:, others], warp])[order]
            next_to = (np.diff(keys, axis=0) == 0).all(axis=1)
            next_to &= np.diff(place[order, axis]) == 1
            factor, share = _most(np.diff(base[order])[next_to])
            factors.append(factor)
            regular &= share >= AGREE
        same = np.diff(self._owner[rows]) == 0
        _, share = _most((np.diff(base) // np.maximum(np.diff(warp), 1))[same])
        if regular and share >= AGREE:
            x, y, z = factors
            return PlaceFunction(region, x, y, z, *self._of_warps(rows))
        line = self._line(region, rows)
        if line is None:
            self.moving.add(site)
            return PlaceFunction(region)
        return line

    def _of_warps(self, rows: np.ndarray) -> tuple[int, int, int]:
        owners, count = np.unique(self._owner[rows], return_counts=True)
        own = rows[self._owner[rows] == owners[count.argmax()]]
        found = functions.warp_factors(self._base[own], self._warp_place[own])
        if any(found) or len(own) < 2:
            return found
        steps = np.diff(self._base[own]) // np.diff(self._warp[own])
        return _most(steps)[0], 0, 0

    def _line(self, region: int, rows: np.ndarray) -> PlaceFunction | None:
        """A function along the order of the grid, if bases follow it."""
        x, y, _ = self._found.places.grid
        warps = self._found.warps
        at = (self._owner[rows] * warps + self._warp[rows]).astype(np.float64)
        base = self._base[rows]
        if region == NOTHING or len(rows) < FEWEST or np.ptp(at) == 0 or np.ptp(base) == 0:
            return None
        slope, start = np.polyfit(at - at[0], (base - base[0]).astype(np.float64), 1)
        left = base - base[0] - (slope * (at - at[0]) + start)
        if left.var() > (1 - TREND) * base.astype(np.float64).var():
            return None
        factor = round(slope * (1 << SHIFT))
        align = max(1, gcd(*(base - base[0]).tolist()))
        of_cta = factor * warps
        return PlaceFunction(region, of_cta, of_cta * x, of_cta * x * y, factor, 0, 0, SHIFT, align)


def _most(values: np.ndarray) -> tuple[int, float]:
    """The most frequent value, and its share; of none 0, and all."""
    if not len(values):
        return 0, 1.0
    found, count = np.unique(values, return_counts=True)
    return int(found[count.argmax()]), float(count.max() / len(values))


def cta_of(streams: LaunchStreams, shape: Shape, row: int) -> Cta:
    """A CTA as it came."""
    x, y, _ = streams.kernel.grid
    number = shape.ctas[row]
    index = number % x, number // x % y, number // (x * y)
    return Cta(index, shape.warps, shape.runs, shape.addresses[row], shape.pools[row])
