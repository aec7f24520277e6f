"""From the streams of a launch to the tables of the affine model."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from lockstep.frontend.proxy.affine import AffineModel, Tables
from lockstep.frontend.proxy.affine.tables import COLUMNS, FACTORS, NOTHING
from lockstep.proxies.affine.collect import WAITING, LaunchStreams, Shape, SiteSequence, sequence
from lockstep.proxies.affine.exemplars import cta_of, exemplars
from lockstep.proxies.affine.functions import PlaceFunction
from lockstep.proxies.affine.gaps import GapReader, Gaps
from lockstep.proxies.affine.kinds import KernelFit, Kind, nearest
from lockstep.proxies.affine.loops import Loops
from lockstep.proxies.affine.popularity import Row, circles
from lockstep.proxies.profiles import Fitted
from lockstep.proxies.regions import Regions
from lockstep.workload import Code, Cta, Kernel

_SITE = ("op", "space", "width", "cache", "immediate", "threads")


FEW_KINDS, MOST_KINDS = 32, 64  # of CTAs: edges of three axes make 27; so many are kept at most
KIND_SHARE = 16  # but one for so many CTAs, of large grids
SHOWN = 16  # shapes whose instructions between sites are looked at, those of most CTAs
MOST_COUNTED = 2048  # CTAs whose lines are counted


def fit(streams: LaunchStreams, regions: Regions) -> Fitted:
    """The model of a launch whose CTAs are collected."""
    kernel = streams.kernel
    code = kernel.code.instructions
    is_site = (code["width"] > 0) | np.isin(code["op"], WAITING)
    found = KernelFit(kernel, regions)
    kinds: list[Kind] = []
    found.number(PlaceFunction(NOTHING))
    most = max(FEW_KINDS, min(streams.ctas // 2, max(MOST_KINDS, streams.ctas // KIND_SHARE)))
    shapes = sorted(streams.shapes.values(), key=lambda s: -len(s.ctas))
    various = []
    for shape in shapes if len(shapes) <= most else ():
        own = found.kinds(shape, sequence(shape, code, is_site), max(1, len(shape.ctas) // 2))
        if own is None or len(kinds) + len(own) > most:
            various.append(shape)
        else:
            kinds += own
    lines: list[Row] = []
    moving: set[int] = set()
    if various := various if len(shapes) <= most else shapes:
        stand = exemplars(found, various, is_site)
        kinds, moving = kinds + stand.kinds, stand.moving
        lines = circles(kernel, _counted(streams, various), moving, regions) if moving else []
    shown = [sequence(shape, code, is_site) for shape in shapes[:SHOWN]]
    return _Assembly(kernel, found, kinds).fitted(moving, lines, shown)


@lru_cache(maxsize=8)
def _reader(code: Code, length: int) -> GapReader:
    """What reads gaps of a code, which launches share, and which may become longer."""
    return GapReader(code.instructions)


def _counted(streams: LaunchStreams, shapes: list[Shape]) -> Iterator[Cta]:
    """CTAs of shapes, evenly taken."""
    places = [(shape, row) for shape in shapes for row in range(len(shape.ctas))]
    for at in np.linspace(0, len(places) - 1, min(len(places), MOST_COUNTED)).astype(int):
        yield cta_of(streams, *places[at])


class _Assembly:
    """Numbers what kinds of CTAs consist of."""

    def __init__(self, kernel: Kernel, found: KernelFit, kinds: list[Kind]):
        self._kernel, self._found, self._kinds = kernel, found, kinds
        self._nothing = found.number(PlaceFunction(NOTHING))
        self._columns: dict[str, Any] = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))

    def fitted(
        self, moving: set[int], lines: list[Row], sequences: Iterable[SiteSequence]
    ) -> Fitted:
        """The model; sites that move, how popular lines are, and CTAs that gaps are taken from."""
        self._sites(moving)
        regions = self._functions({region for region, _, _ in lines})
        self._columns |= {
            "lines_region": [regions.index(region) for region, _, _ in lines],
            "lines_count": [count for _, count, _ in lines],
            "lines_circle": [circle for _, _, circle in lines],
        }
        self._programs(self._tokens())
        code = self._kernel.code
        texts = self._instructions(_reader(code, len(code)).gaps(sequences, self._statics))
        columns = {n: np.asarray(c, np.int64) for n, c in self._columns.items()}
        model = AffineModel(Tables(**columns), texts, self._kernel.warps, len(regions))
        return Fitted(model, tuple(regions))

    def _joined(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(kind, name) for kind in self._kinds])

    def _sites(self, moving: set[int]) -> None:
        code = self._kernel.code
        self._statics = np.unique(self._joined("static"))
        rows = code.instructions[self._statics]
        self._columns |= {f"site_{name}": rows[name] for name in _SITE}
        result = np.where(rows["destinations"] > 0, rows["destination_count"][:, 0], 0)
        self._columns["site_result"] = result
        self._columns["site_moves"] = np.isin(self._statics, list(moving)).astype(np.int64)

    def _instructions(self, gaps: Gaps) -> list[str]:
        """The texts of sites and slots, and what lies between sites."""
        code = self._kernel.code
        pairs = sorted(gaps.slots, key=lambda pair: (pair[1], pair[0]))
        slots = np.array([s for pair in pairs for s in gaps.slots[pair]], np.int64).reshape(-1, 6)
        texts = np.concatenate([code.instructions["text"][self._statics], slots[:, 0]])
        used, place = _numbered(texts)
        sites = len(self._statics)
        slots[:, 0] = place[sites:]
        kinds, numbers = _numbered(slots.T)
        names = ("text", "op", "chained", "loaded", "other", "target")
        self._columns |= {f"kind_{name}": row for name, row in zip(names, kinds)}
        self._columns |= {
            "site_text": place[:sites],
            "site_loaded": [gaps.loaded.get(site, (0, 0))[0] for site in range(sites)],
            "site_other": [gaps.loaded.get(site, (0, 0))[1] for site in range(sites)],
            "gap_from": [pair[0] for pair in pairs],
            "gap_to": [pair[1] for pair in pairs],
            "gap_slots": [len(gaps.slots[pair]) for pair in pairs],
            "slot_kind": numbers,
        }
        return [code.texts[n] for n in used.tolist()]

    def _functions(self, others: set[int]) -> list[int]:
        """The table of functions; the regions that they are in, and ``others``."""
        used = np.unique(np.append(self._joined("function"), self._nothing))
        used = used[used >= 0]
        self._function = np.full(len(self._found.functions) + 1, self._nothing, np.int64)
        self._function[used] = np.arange(len(used))
        self._function[-1] = self._function[self._nothing]
        known = [list(self._found.functions)[n] for n in used.tolist()]
        regions = sorted(others | {f.region for f in known} - {NOTHING})
        local = {region: n for n, region in enumerate(regions)} | {NOTHING: NOTHING}
        self._columns["function_region"] = np.array([local[f.region] for f in known])
        for name in (*FACTORS, "shift", "align"):
            self._columns[f"function_{name}"] = np.array([getattr(f, name) for f in known])
        split = [(n, *each) for n, f in enumerate(known) for each in f.splits]
        rows = np.array(split, np.int64).reshape(-1, 3)
        names = ("split_function", "split_period", "split_jump")
        self._columns |= dict(zip(names, rows.T))
        return regions

    def _patterns(self, numbers: np.ndarray) -> None:
        """The table of the patterns with these numbers."""
        patterns = self._found.patterns
        lists = [patterns.lists[n] for n in numbers.tolist()]
        self._columns["pattern_gap"] = np.array([patterns.gaps[n] for n in numbers.tolist()])
        self._columns["pattern_lanes"] = np.array([len(each) for each in lists])
        self._columns["offset_bytes"] = np.concatenate([*lists, np.zeros(0, np.int64)])

    def _tokens(self) -> np.ndarray:
        """The token of each execution, kind after kind."""
        sizes = [len(kind.static) for kind in self._kinds]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        site = np.searchsorted(self._statics, self._joined("static"))
        function = self._function[self._joined("function")]
        added = self._joined("added")
        order = np.lexsort((function, site, self._joined("warp"), owner))
        keys = np.stack([owner, self._joined("warp"), site, function])[:, order]
        again = np.concatenate(([False], (np.diff(keys, axis=1) == 0).all(axis=0)))[: len(order)]
        delta = np.empty_like(added)
        delta[order] = added[order] - np.where(again, np.roll(added[order], 1), 0)
        rows = [site, self._joined("mask"), function, self._joined("pattern"), delta]
        found, token = _numbered(np.stack(rows))
        self._columns["mask_lanes"], found[1] = _numbered(found[1])
        has = found[3] != NOTHING
        used, found[3, has] = _numbered(found[3, has])
        self._patterns(used)
        names = ("site", "mask", "function", "pattern", "delta")
        self._columns |= {f"token_{name}": row for name, row in zip(names, found)}
        return token

    def _programs(self, tokens: np.ndarray) -> None:
        """Classes of warps, shapes of CTAs, and where these are."""
        classes: dict[bytes, int] = {}
        shapes: dict[tuple[int, ...], int] = {}  # classes, and the CTA that stands
        loops = Loops()
        entries: list[int] = []
        spans: list[int] = []
        sizes: list[int] = []
        placed = np.full(self._kernel.n_ctas, NOTHING, np.int64)
        at = 0
        for kind in self._kinds:
            own, at = tokens[at : at + len(kind.static)], at + len(kind.static)
            ends = np.searchsorted(kind.warp, np.arange(1, self._kernel.warps))
            members = []
            for part in np.split(own, ends):
                number = classes.setdefault(part.tobytes(), len(classes))
                if number == len(sizes):
                    folded, inside = loops.fold(part)
                    entries += folded
                    spans += inside
                    sizes.append(len(folded))
                members.append(number)
            placed[kind.ctas] = shapes.setdefault((*members, kind.origin), len(shapes))
        known, others = np.flatnonzero(placed >= 0), np.flatnonzero(placed < 0)
        placed[others] = placed[known[nearest(known, others)]]
        begins = np.flatnonzero(np.diff(placed, prepend=-1))
        self._columns |= {
            "entry_token": entries,
            "entry_span": spans,
            "class_entries": sizes,
            "shape_class": np.array(list(shapes))[:, :-1].reshape(-1),
            "origin_cta": np.array(list(shapes))[:, -1],
            "placement_shape": placed[begins],
            "placement_ctas": np.diff(np.append(begins, len(placed))),
        }


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different values, or columns of them, as they first appear; and the number of each one.

    Numbers that rise as they are used take next to no room in a file.
    """
    axis = values.ndim - 1
    found, first, inverse = np.unique(values, axis=axis, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.take(found, order, axis), rank[inverse.reshape(-1)]
