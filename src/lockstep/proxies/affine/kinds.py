"""Kinds of CTAs: what those that do the same have in common, with its bases as functions."""

from dataclasses import dataclass

import numpy as np

from lockstep.frontend.proxy.affine.tables import NOTHING
from lockstep.frontend.proxy.affine.templates import NOWHERE_OFFSET
from lockstep.isa.instruction import OpClass, Space
from lockstep.proxies.affine import functions
from lockstep.proxies.affine.collect import Sequence, Shape, joined
from lockstep.proxies.affine.functions import UNKNOWN, GridPlaces, PlaceFunction
from lockstep.proxies.affine.patterns import LISTED, SINGLE, Patterns, describe
from lockstep.proxies.regions import Regions
from lockstep.workload import NOWHERE

_HASH = np.int64(-7046029254386353131)  # odd
_TILES = (OpClass.TILE_COPY, OpClass.TILE_STORE, OpClass.OBJECT_WAIT)
APERTURE = 1 << 24  # bytes of the generic windows of shared and local memory


@dataclass(frozen=True, slots=True)
class Kind:
    """CTAs that differ in nothing but the functions' values: an element an execution of a site."""

    ctas: np.ndarray  # linear numbers, rising
    warp: np.ndarray
    static: np.ndarray
    mask: np.ndarray
    function: np.ndarray  # number, or -1
    pattern: np.ndarray  # number, or -1
    added: np.ndarray  # bytes


@dataclass(frozen=True, slots=True)
class Bases:
    """Bases and patterns of the records of a shape's CTAs: int64 [CTAs, records]."""

    base: np.ndarray  # in the region
    region: np.ndarray  # of each record's column, or -1
    pattern: np.ndarray
    lanes: np.ndarray  # of records that list: how many offsets; 0: none
    address: np.ndarray  # where lists begin, as an address


class KernelFit:
    """What is found about a kernel, shape by shape."""

    def __init__(self, kernel, regions: Regions):
        self._kernel, self._regions = kernel, regions
        self.places = GridPlaces(kernel.grid, kernel.block, kernel.warp_size)
        self.patterns = Patterns()
        self.functions: dict[PlaceFunction, int] = {}
        self._of_site: dict[tuple[int, int], list[PlaceFunction]] = {}
        self._gaps: dict[int, int] = {}  # of sites, for executions by a single lane

    def bases(self, shape: Shape, sequence: Sequence, rows: list[int] | None = None) -> Bases:
        """The bases of a shape's CTAs."""
        records, pool = joined(shape, rows)
        has = sequence.record >= 0
        order = sequence.record[has]
        static, mask = sequence.static[has], sequence.mask[has]
        records = records[:, order]
        flat = records.reshape(-1)
        masks = np.tile(mask, len(records))
        base, gap, code = (np.zeros(len(flat), np.int64) for _ in range(3))
        place = flat["pool"].astype(np.int64)
        first = np.ascontiguousarray(flat["first"])
        stride = flat["stride"].astype(np.int64)
        describe(first, stride, place, pool, masks, base, gap, code)
        self._complete(np.tile(static, len(records)), base, gap, code)

        def offsets(i: int) -> np.ndarray:
            lanes = (int(masks[i]) & (1 << 64) - 1).bit_count()
            if place[i] >= 0:
                return _offsets(pool[place[i] : place[i] + lanes])
            return stride[i] * np.arange(lanes)

        numbers = self.patterns.number(gap, code, offsets)
        region = self._region(static, first.reshape(records.shape))
        base = base.reshape(records.shape) - np.append(self._regions.base, 0)[region]
        listed = np.where(gap == LISTED, np.bitwise_count(masks.view(np.uint64)), 0)
        return Bases(base, region, numbers.reshape(records.shape), listed, first)

    def _complete(self, static, base, gap, code) -> None:
        """Give records of a single lane the gap that their site has else."""
        for site in np.unique(static[gap == SINGLE]).tolist():
            if site not in self._gaps:
                others = gap[(static == site) & (gap != SINGLE) & (gap != LISTED)]
                if not len(others):
                    continue
                found, count = np.unique(others, return_counts=True)
                self._gaps[site] = int(found[count.argmax()])
            rows = (static == site) & (gap == SINGLE)
            gap[rows] = self._gaps[site]
            base[rows] -= self._gaps[site] * code[rows]
        left = gap == SINGLE
        gap[left] = 0
        code[gap != LISTED] = 0

    def _region(self, static: np.ndarray, first: np.ndarray) -> np.ndarray:
        """The region of each column: that of its first record, or -1."""
        code, address = self._kernel.code.instructions[static], first[0]
        space = code["space"]
        known = (space == Space.GLOBAL) | (space == Space.TEXTURE) | (space == Space.GENERIC)
        known &= ~np.isin(code["op"], _TILES)
        for base in (self._kernel.shared_base, self._kernel.local_base):
            window = (address >= base) & (address < base + APERTURE) & (base > 0)
            known &= ~((space == Space.GENERIC) & window)
        return np.where(known, self._regions.of(address), NOTHING)

    def kinds(self, shape: Shape, sequence: Sequence) -> list[Kind]:
        """The CTAs of a shape by what they do."""
        bases = self.bases(shape, sequence)
        ctas = np.array(shape.ctas)
        place = self.places.place(ctas)
        has = sequence.record >= 0
        static, warp = sequence.static[has], sequence.warp[has]
        chosen = self._choose(bases, place, static, warp)
        added = bases.base - self._values(chosen, place, self.places.warp_place(warp))
        columns = added.shape[1]
        keys = (added * _odd(columns, 1) + bases.pattern * _odd(columns, 2)).sum(axis=1)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        order = np.argsort(inverse, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
        found = []
        for row, own in zip(first.tolist(), members):
            what = chosen, bases.pattern[row], added[row]
            found.append(self._kind(sequence, np.sort(ctas[own]), *what))
        return found

    def _kind(self, sequence: Sequence, ctas, chosen, pattern, added) -> Kind:
        has = sequence.record >= 0
        columns = []
        for values in (chosen, pattern, added):
            whole = np.full(len(has), NOTHING, np.int64)
            whole[has] = values
            columns.append(whole)
        columns[2][~has] = 0
        return Kind(ctas, sequence.warp, sequence.static, sequence.mask, *columns)

    def _values(self, chosen: np.ndarray, place: np.ndarray, warp_place: np.ndarray) -> np.ndarray:
        known = list(self.functions)
        found = np.zeros((len(place), len(chosen)), np.int64)
        for number in np.unique(chosen).tolist():
            columns = np.flatnonzero(chosen == number)
            found[:, columns] = functions.values(
                known[number], place[:, None], warp_place[columns][None]
            )
        return found

    def _choose(self, bases: Bases, place, static, warp) -> np.ndarray:
        """The function of each column: an old one where that fits, else a new one."""
        slopes = functions.factors(bases.base, place)
        keys = np.concatenate([static[None], bases.region[None], slopes])
        found, inverse = np.unique(keys, axis=1, return_inverse=True)
        chosen = np.empty(len(static), np.int64)
        for n, (site, region, *slope) in enumerate(found.T.tolist()):
            columns = np.flatnonzero(inverse.reshape(-1) == n)
            function = self._known(site, region, slope)
            if function is None:
                function = self._new(region, slope, bases.base, columns, warp)
                self._of_site.setdefault((site, region), []).append(function)
            chosen[columns] = self.functions.setdefault(function, len(self.functions))
        return chosen

    def _known(self, site: int, region: int, slope: list[int]) -> PlaceFunction | None:
        """A function of that site with these factors, where they are known."""
        for function in self._of_site.get((site, region), []):
            own = (function.x, function.y, function.z)
            if all(s in (UNKNOWN, o) for s, o in zip(slope, own)):
                return function
        return None

    def _new(self, region: int, slope: list[int], base, columns, warp) -> PlaceFunction:
        x, y, z = (0 if s == UNKNOWN else s for s in slope)
        _, first = np.unique(warp[columns], return_index=True)
        place = self.places.warp_place(warp[columns][first])
        of_warps = functions.warp_factors(base[0, columns[first]], place)
        return PlaceFunction(region, x, y, z, *of_warps)


def _offsets(addresses: np.ndarray) -> np.ndarray:
    return np.where(addresses == NOWHERE, NOWHERE_OFFSET, addresses - addresses[0])


def _odd(count: int, seed: int) -> np.ndarray:
    """Odd numbers of 64 bits, the same each time."""
    return np.random.default_rng(seed).integers(-(1 << 62), 1 << 62, count) * 2 + 1
