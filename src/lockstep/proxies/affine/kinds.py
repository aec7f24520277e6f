"""Kinds of CTAs: what those that do the same have in common, with its bases as functions."""

from dataclasses import dataclass

import numpy as np

from lockstep.frontend.proxy.affine.tables import NOTHING
from lockstep.frontend.proxy.affine.templates import NOWHERE_OFFSET
from lockstep.frontend.tracefile.columns import modular
from lockstep.isa.instruction import OpClass, Space
from lockstep.proxies.affine import functions
from lockstep.proxies.affine.collect import Shape, SiteSequence, joined
from lockstep.proxies.affine.functions import UNKNOWN, GridPlaces, PlaceFunction
from lockstep.proxies.affine.patterns import LISTED, SINGLE, Patterns, describe
from lockstep.proxies.regions import Regions
from lockstep.workload import NOWHERE, Kernel

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
    origin: int = -1  # number of the CTA that stands for them, if they differ in more


@dataclass(frozen=True, slots=True)
class AddressRecords:
    """Address records: an element each, but ``pool``, in which lists begin at ``place``, or -1."""

    static: np.ndarray
    mask: np.ndarray
    address: np.ndarray  # ADDRESS
    place: np.ndarray
    pool: np.ndarray

    def offsets(self, i: int) -> np.ndarray:
        """The addresses of the lanes of record ``i``, from the first one on."""
        lanes = (int(self.mask[i]) & (1 << 64) - 1).bit_count()
        if self.place[i] < 0:
            return np.int64(self.address["stride"][i]) * np.arange(lanes)
        addresses = self.pool[self.place[i] : self.place[i] + lanes]
        return np.where(addresses == NOWHERE, NOWHERE_OFFSET, addresses - addresses[0])


class KernelFit:
    """What is found about a kernel, shape by shape."""

    def __init__(self, kernel: Kernel, regions: Regions):
        self._kernel, self._regions = kernel, regions
        self.code, self.warps = kernel.code.instructions, kernel.warps
        self.places = GridPlaces(kernel.grid, kernel.block, kernel.warp_size)
        self.patterns = Patterns()
        self.functions: dict[PlaceFunction, int] = {}
        self._of_site: dict[tuple[int, int], list[PlaceFunction]] = {}
        self._gaps: dict[int, int] = {}  # of sites, for executions by a single lane

    def number(self, function: PlaceFunction) -> int:
        """The number of a function."""
        return self.functions.setdefault(function, len(self.functions))

    @modular  # hashes are modulo 2**64
    def described(self, records: AddressRecords) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each record the address from which its pattern is, its gap, and a hash of its list."""
        base, gap, code = (np.zeros(len(records.static), np.int64) for _ in range(3))
        first = np.ascontiguousarray(records.address["first"])
        stride = records.address["stride"].astype(np.int64)
        describe(first, stride, records.place, records.pool, records.mask, base, gap, code)
        self._complete(records.static, base, gap, code)
        return base, gap, code

    def numbered(self, records: AddressRecords, gap, code, rows: np.ndarray) -> np.ndarray:
        """The numbers of the patterns of some records."""
        return self.patterns.number(gap[rows], code[rows], lambda i: records.offsets(int(rows[i])))

    def region(self, records: AddressRecords) -> np.ndarray:
        """The region of each record, by its first address; or -1."""
        code, address = self.code[records.static], records.address["first"]
        space = code["space"]
        known = (space == Space.GLOBAL) | (space == Space.TEXTURE) | (space == Space.GENERIC)
        known &= ~np.isin(code["op"], _TILES)
        for base in (self._kernel.shared_base, self._kernel.local_base):
            window = (address >= base) & (address < base + APERTURE) & (base > 0)
            known &= ~((space == Space.GENERIC) & window)
        return np.where(known, self._regions.of(address), NOTHING)

    def region_base(self, region: np.ndarray) -> np.ndarray:
        """Where regions begin; 0 for none."""
        return np.append(self._regions.base, 0)[region]

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

    def kinds(self, shape: Shape, sequence: SiteSequence, most: int) -> list[Kind] | None:
        """The CTAs of a shape by what they do; None if that is more than ``most`` things."""
        records, pool = joined(shape)
        ctas, has = np.array(shape.ctas), sequence.record >= 0
        records = records[:, sequence.record[has]]
        static, warp = sequence.static[has], sequence.warp[has]
        n, columns = records.shape
        flat = records.reshape(-1)
        mask = np.tile(sequence.mask[has], n)
        place = flat["pool"].astype(np.int64)
        given = AddressRecords(np.tile(static, n), mask, flat, place, pool)
        base, gap, code = self.described(given)
        one = AddressRecords(static, mask[:columns], records[0], place, pool)
        region = self.region(one)
        base = base.reshape(n, columns) - self.region_base(region)
        place = self.places.place(ctas)
        chosen = self._choose(base, region, place, static, warp)
        added = base - self._values(chosen, place, self.places.warp_place(warp))
        listed = np.where(gap == LISTED, code, gap).reshape(n, columns)
        keys = (added * _odd(columns, 1) + listed * _odd(columns, 2)).sum(axis=1)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) > most:
            return None
        rows = (first[:, None] * columns + np.arange(columns)).reshape(-1)
        pattern = self.numbered(given, gap, code, rows).reshape(len(first), columns)
        inverse = inverse.reshape(-1)
        order = np.argsort(inverse, kind="stable")
        members = np.split(ctas[order], np.cumsum(np.bincount(inverse))[:-1])
        others = np.array(shape.others, np.int64)
        known = inverse[nearest(ctas, others)] if len(others) else others
        return [
            self.kind(
                sequence,
                np.sort(np.concatenate([own, others[known == k]])),
                *(chosen, pattern[k], added[row]),
            )
            for k, (row, own) in enumerate(zip(first.tolist(), members))
        ]

    def kind(self, sequence: SiteSequence, ctas, function, pattern, added, origin=-1) -> Kind:
        """CTAs that do the same; the columns are of records alone."""
        has = sequence.record >= 0
        columns = []
        for values in (function, pattern, added):
            whole = np.full(len(has), NOTHING, np.int64)
            whole[has] = values
            columns.append(whole)
        function, pattern, added = columns
        added[~has] = 0
        steps = sequence.warp, sequence.static, sequence.mask
        return Kind(ctas, *steps, function, pattern, added, origin)

    def _values(self, chosen: np.ndarray, place: np.ndarray, warp_place: np.ndarray) -> np.ndarray:
        known = list(self.functions)
        found = np.zeros((len(place), len(chosen)), np.int64)
        for number in np.unique(chosen).tolist():
            columns = np.flatnonzero(chosen == number)
            found[:, columns] = functions.values(
                known[number], place[:, None], warp_place[columns][None]
            )
        return found

    def _choose(self, base, region, place, static, warp) -> np.ndarray:
        """The function of each column: an old one where that fits, else a new one."""
        slopes = functions.factors(base, place)
        keys = np.concatenate([static[None], region[None], slopes])
        found, inverse = np.unique(keys, axis=1, return_inverse=True)
        chosen = np.empty(len(static), np.int64)
        for n, (site, where, *slope) in enumerate(found.T.tolist()):
            columns = np.flatnonzero(inverse.reshape(-1) == n)
            function = self._known(site, where, slope)
            if function is None:
                function = self._new(where, slope, base, columns, (place, warp))
                self._of_site.setdefault((site, where), []).append(function)
            chosen[columns] = self.number(function)
        return chosen

    def _known(self, site: int, region: int, slope: list[int]) -> PlaceFunction | None:
        """A function of that site with these factors, where they are known."""
        for function in self._of_site.get((site, region), []):
            own = (function.x, function.y, function.z)
            if all(s in (UNKNOWN, o) for s, o in zip(slope, own)):
                return function
        return None

    def _new(self, region: int, slope: list[int], base, columns, where) -> PlaceFunction:
        place, warp = where
        x, y, z = (0 if s == UNKNOWN else s for s in slope)
        _, first = np.unique(warp[columns], return_index=True)
        of_warps = functions.warp_factors(
            base[0, columns[first]], self.places.warp_place(warp[columns][first])
        )
        split: tuple[tuple[int, int], ...] = ()
        if self.places.grid[1:] == (1, 1) and len(place) > 2:
            at = place[:, 0]
            split = functions.splits(at, base[:, columns[0]] - x * at)
        return PlaceFunction(region, x, y, z, *of_warps, splits=split)


def nearest(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each of some other numbers the place of the nearest of ``numbers``."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    middles = (ordered[1:] + ordered[:-1] + 1) // 2
    return order[np.searchsorted(middles, others, side="right")]


def _odd(count: int, seed: int) -> np.ndarray:
    """Odd numbers of 64 bits, the same each time."""
    return np.random.default_rng(seed).integers(-(1 << 62), 1 << 62, count) * 2 + 1
