"""What all CTAs of a shape have in common: runs, and where their addresses come from."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lockstep.frontend.proxy.affine import programs
from lockstep.frontend.proxy.affine.coding import KernelCode
from lockstep.frontend.proxy.affine.tables import NOTHING, Tables
from lockstep.workload import WARP

KEPT_SHAPES, KEPT_CLASSES = 64, 1024
NOWHERE_OFFSET = -(1 << 60)  # offset of a lane that accesses nothing


@dataclass(frozen=True, slots=True)
class Warps:
    """The warps of a class: each array has an element for each address record, but runs."""

    runs: np.ndarray  # RUN
    thread_instructions: int
    site: np.ndarray
    function: np.ndarray
    added: np.ndarray  # bytes, to the value of the function
    shift: np.ndarray  # from there to the first active lane, where lanes are not listed
    stride: np.ndarray  # from one active lane to the next, there
    lanes: np.ndarray  # addresses that are listed; 0: none
    offsets: np.ndarray  # of those, from the function on: one record's after the other


@dataclass(frozen=True, slots=True)
class Template:
    """The CTAs of a shape."""

    warps: np.ndarray  # WARP
    runs: np.ndarray  # RUN
    source: np.ndarray  # of each record: function * warps of a CTA + warp
    added: np.ndarray
    shift: np.ndarray
    stride: np.ndarray
    listed: np.ndarray  # records whose addresses are listed
    pool: np.ndarray  # of each of these: where its list begins
    owner: np.ndarray  # of each listed address: its record
    offsets: np.ndarray  # and its place from the function on
    moves: np.ndarray  # of each record: whether its lines move


class Templates:
    """Makes the templates of a model's shapes; those used last are kept."""

    def __init__(self, tables: Tables, code: KernelCode, warps: int):
        self._t, self._code, self._warps = tables, code, warps
        self._places = programs.class_places(tables)
        self._masks = _Masks(tables.mask_lanes)
        self._pattern_first = np.cumsum(tables.pattern_lanes) - tables.pattern_lanes
        self._of_class = lru_cache(KEPT_CLASSES)(self._make_class)
        self.of_shape = lru_cache(KEPT_SHAPES)(self._make)

    def _make(self, shape: int) -> Template:
        """The template of a shape."""
        classes = self._t.shape_class[shape * self._warps : (shape + 1) * self._warps]
        parts = [self._of_class(int(c)) for c in classes]
        warps = np.zeros(self._warps, WARP)
        warps["runs"] = [len(p.runs) for p in parts]
        warps["addresses"] = [len(p.site) for p in parts]
        warps["first_run"] = np.cumsum(warps["runs"]) - warps["runs"]
        warps["first_address"] = np.cumsum(warps["addresses"]) - warps["addresses"]
        warps["warp_instructions"] = [p.runs["count"].sum() for p in parts]
        warps["thread_instructions"] = [p.thread_instructions for p in parts]

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(p, name) for p in parts])

        lanes, site = joined("lanes"), joined("site")
        listed = np.flatnonzero(lanes)
        counts = lanes[listed]
        warp = np.repeat(np.arange(self._warps), warps["addresses"])
        return Template(
            warps,
            joined("runs"),
            joined("function") * self._warps + warp,
            joined("added"),
            joined("shift"),
            joined("stride"),
            listed,
            np.cumsum(counts) - counts,
            np.repeat(listed, counts),
            joined("offsets"),
            self._t.site_moves[site] != 0,
        )

    def _make_class(self, number: int) -> Warps:
        t, places = self._t, self._places
        tokens = programs.unfold(t, int(places[number]), int(places[number + 1]))
        runs, threads = self._code.runs(t.token_site[tokens], t.mask_lanes[t.token_mask[tokens]])
        added = programs.added(t, tokens)
        has = t.token_pattern[tokens] != NOTHING
        tokens, added = tokens[has], added[has]
        pattern, mask = t.token_pattern[tokens], t.token_mask[tokens]
        gap, lanes = t.pattern_gap[pattern], t.pattern_lanes[pattern]
        scattered = (lanes == 0) & (gap != 0) & ~self._masks.contiguous[mask]
        offsets, lanes = self._offsets(pattern, mask, lanes, scattered)
        plain = lanes == 0
        return Warps(
            runs,
            threads,
            t.token_site[tokens],
            t.token_function[tokens],
            added,
            np.where(plain, gap * self._masks.lowest[mask], 0),
            np.where(plain & (self._masks.count[mask] > 1), gap, 0),
            lanes,
            offsets,
        )

    def _offsets(self, pattern, mask, lanes, scattered) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of the lanes that are listed, and how many there are of each record."""
        parts, lanes = [], lanes.copy()
        for i in np.flatnonzero(scattered | (lanes != 0)).tolist():
            if scattered[i]:
                part = self._t.pattern_gap[pattern[i]] * self._masks.lanes(int(mask[i]))
            else:
                first = self._pattern_first[pattern[i]]
                part = self._t.offset_bytes[first : first + lanes[i]]
            lanes[i] = len(part)
            parts.append(part)
        return np.concatenate([*parts, np.zeros(0, np.int64)]), lanes


class _Masks:
    """What is to be known of masks."""

    def __init__(self, masks: np.ndarray):
        bits = (masks[:, None] >> np.arange(64)) & 1
        self._bits = bits
        self.count = bits.sum(axis=1)
        self.lowest = bits.argmax(axis=1)
        highest = 63 - bits[:, ::-1].argmax(axis=1)
        self.contiguous = highest - self.lowest + 1 == self.count

    def lanes(self, mask: int) -> np.ndarray:
        """The lanes of a mask."""
        return np.flatnonzero(self._bits[mask])
