"""From the streams of a launch to the tables of the affine model."""

import numpy as np

from lockstep.frontend.proxy.affine import AffineModel, Tables
from lockstep.frontend.proxy.affine.tables import COLUMNS, FACTORS, NOTHING
from lockstep.proxies.affine.collect import WAITING, LaunchStreams, sequence
from lockstep.proxies.affine.functions import PlaceFunction
from lockstep.proxies.affine.kinds import KernelFit, Kind
from lockstep.proxies.affine.loops import Loops
from lockstep.proxies.profiles import Fitted
from lockstep.proxies.regions import Regions

_SITE = ("op", "space", "width", "cache", "immediate", "threads")


def fit(collector: LaunchStreams, regions: Regions) -> Fitted:
    """The model of a launch whose CTAs are collected."""
    kernel = collector.kernel
    code = kernel.code.instructions
    is_site = (code["width"] > 0) | np.isin(code["op"], WAITING)
    found, kinds = KernelFit(kernel, regions), []
    nothing = found.functions.setdefault(PlaceFunction(NOTHING), 0)
    for shape in sorted(collector.shapes.values(), key=lambda s: -len(s.ctas)):
        kinds += found.kinds(shape, sequence(shape, code, is_site))
    return _Assembly(kernel, found, kinds, nothing).fitted()


class _Assembly:
    """Numbers what kinds of CTAs consist of."""

    def __init__(self, kernel, found: KernelFit, kinds: list[Kind], nothing: int):
        self._kernel, self._found, self._kinds, self._nothing = kernel, found, kinds, nothing
        self._columns: dict[str, np.ndarray] = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))

    def fitted(self) -> Fitted:
        """The model."""
        texts = self._sites()
        regions = self._functions()
        self._patterns()
        self._programs(self._tokens())
        columns = {n: np.asarray(c, np.int64) for n, c in self._columns.items()}
        model = AffineModel(Tables(**columns), texts, self._kernel.warps, len(regions))
        return Fitted(model, tuple(regions))

    def _joined(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(kind, name) for kind in self._kinds])

    def _sites(self) -> list[str]:
        code = self._kernel.code
        self._statics = np.unique(self._joined("static"))
        rows = code.instructions[self._statics]
        numbers, place = np.unique(rows["text"], return_inverse=True)
        made = {f"site_{name}": rows[name] for name in _SITE}
        made["site_text"] = place.reshape(-1)
        made["site_result"] = np.where(rows["destinations"] > 0, rows["destination_count"][:, 0], 0)
        made["site_moves"] = np.zeros(len(rows))
        self._columns |= made
        return [code.texts[n] for n in numbers.tolist()]

    def _functions(self) -> list[int]:
        """The table of functions; the regions that they are in."""
        used = np.unique(np.append(self._joined("function"), self._nothing))
        used = used[used >= 0]
        self._function = np.full(len(self._found.functions) + 1, self._nothing, np.int64)
        self._function[used] = np.arange(len(used))
        self._function[-1] = self._function[self._nothing]
        known = [list(self._found.functions)[n] for n in used.tolist()]
        regions = sorted({f.region for f in known} - {NOTHING})
        local = {region: n for n, region in enumerate(regions)} | {NOTHING: NOTHING}
        self._columns["function_region"] = np.array([local[f.region] for f in known])
        for name in (*FACTORS, "shift", "align"):
            self._columns[f"function_{name}"] = np.array([getattr(f, name) for f in known])
        return regions

    def _patterns(self) -> None:
        patterns = self._found.patterns
        used = np.unique(self._joined("pattern"))
        used = used[used >= 0]
        self._pattern = np.full(len(patterns.gaps) + 1, NOTHING, np.int64)
        self._pattern[used] = np.arange(len(used))
        lists = [patterns.lists[n] for n in used.tolist()]
        self._columns["pattern_gap"] = np.array([patterns.gaps[n] for n in used.tolist()])
        self._columns["pattern_lanes"] = np.array([len(each) for each in lists])
        self._columns["offset_bytes"] = np.concatenate([*lists, np.zeros(0, np.int64)])

    def _tokens(self) -> np.ndarray:
        """The token of each execution, kind after kind."""
        sizes = [len(kind.static) for kind in self._kinds]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        site = np.searchsorted(self._statics, self._joined("static"))
        masks, mask = np.unique(self._joined("mask"), return_inverse=True)
        function = self._function[self._joined("function")]
        pattern = self._pattern[self._joined("pattern")]
        added = self._joined("added")
        order = np.lexsort((function, site, self._joined("warp"), owner))
        keys = np.stack([owner, self._joined("warp"), site, function])[:, order]
        again = np.concatenate(([False], (np.diff(keys, axis=1) == 0).all(axis=0)))[: len(order)]
        delta = np.empty_like(added)
        delta[order] = added[order] - np.where(again, np.roll(added[order], 1), 0)
        rows = np.stack([site, mask.reshape(-1), function, pattern, delta])
        found, token = np.unique(rows, axis=1, return_inverse=True)
        self._columns["mask_lanes"] = masks
        names = ("site", "mask", "function", "pattern", "delta")
        self._columns |= {f"token_{name}": row for name, row in zip(names, found)}
        return token.reshape(-1)

    def _programs(self, tokens: np.ndarray) -> None:
        """Classes of warps, shapes of CTAs, and where these are."""
        classes: dict[bytes, int] = {}
        shapes: dict[tuple[int, ...], int] = {}
        loops, entries, spans, sizes = Loops(), [], [], []
        placed = np.empty(self._kernel.n_ctas, np.int64)
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
            placed[kind.ctas] = shapes.setdefault(tuple(members), len(shapes))
        begins = np.flatnonzero(np.diff(placed, prepend=-1))
        self._columns |= {
            "entry_token": np.array(entries, np.int64),
            "entry_span": np.array(spans, np.int64),
            "class_entries": np.array(sizes, np.int64),
            "shape_class": np.array(list(shapes)).reshape(-1),
            "placement_shape": placed[begins],
            "placement_ctas": np.diff(np.append(begins, len(placed))),
        }
