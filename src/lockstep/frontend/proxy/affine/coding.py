"""The instructions of a proxy's kernel: its sites, and between them what fills the time."""

import numpy as np

from lockstep.frontend.proxy.affine.tables import Tables
from lockstep.isa.instruction import ALL_LANES, WARP_SIZE, OpClass, Space, blank
from lockstep.workload import RUN, Code

BYTES = 16  # from one instruction to the next, of warps
WORDS = 4  # of wavefronts: GCN's instructions have one word or two, as those of vector memory
EXIT_TEXT = "EXIT"
# Registers: of slots in turn, of sites' results (four each), of what sites read (two each).
SLOTS, SLOT_COUNT = 8, 88
RESULTS, RESULT_COUNT = 96, 32
OPERANDS, OPERAND_COUNT = 224, 14


class KernelCode:
    """The code of a model: each site, before it the gaps that lead to it, and an exit."""

    def __init__(self, tables: Tables, texts: list[str], warp_size: int = WARP_SIZE):
        t = self._t = tables
        self._full = ALL_LANES if warp_size == WARP_SIZE else -1
        self._sites = len(t.site_op)
        ends = np.cumsum(t.gap_slots)
        begins = ends - t.gap_slots
        by_target = np.argsort(t.gap_to, kind="stable")
        bounds = np.searchsorted(t.gap_to[by_target], np.arange(self._sites + 2))
        records, at = [], 0
        place, self._place = np.zeros(len(ends), np.int64), np.zeros(self._sites + 1, np.int64)
        final = blank()
        final["op"], final["text"] = OpClass.EXIT, len(texts)
        for target, site in enumerate([*_sites(t), final[0]]):
            for gap in by_target[bounds[target] : bounds[target + 1]].tolist():
                place[gap] = at
                at += int(t.gap_slots[gap])
                records.append(_gap(t, t.slot_kind[begins[gap] : ends[gap]], target))
            self._place[target] = at
            at += 1
            records.append(site.reshape(1))
        code = np.concatenate(records)
        code["pc"] = _places(code, warp_size)
        self.code = Code(code, [*texts, EXIT_TEXT])
        keys = self._key(t.gap_from, t.gap_to)
        order = np.argsort(keys, kind="stable")
        self._keys, self._begin, self._length = keys[order], place[order], t.gap_slots[order]

    def _key(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return source * (self._sites + 1) + target

    def runs(self, sites: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, int]:
        """The RUN records of a warp that executes these sites, and its thread instructions."""
        after = np.append(sites, self._sites)
        begin, length = self._of_pairs(self._key(np.concatenate(([self._sites], sites)), after))
        site = self._place[after]
        joins = begin + length == site
        made = np.zeros((len(sites) + 1, 2), RUN)
        lanes = np.append(masks, masks[-1] if len(masks) else self._full)
        made["mask"] = lanes[:, None]
        made["static"][:, 0], made["count"][:, 0] = begin, np.where(joins, 0, length)
        made["static"][:, 1] = np.where(joins, begin, site)
        made["count"][:, 1] = np.where(joins, length + 1, 1)
        runs = made.reshape(-1)
        runs = runs[runs["count"] > 0]
        active = np.bitwise_count(runs["mask"].astype(np.uint64)).astype(np.int64)
        return runs, int((active * runs["count"]).sum())

    def _of_pairs(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the gaps of pairs of sites begin, and how long they are."""
        if not len(self._keys):
            return np.zeros_like(keys), np.zeros_like(keys)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found = self._keys[at] == keys
        return self._begin[at], np.where(found, self._length[at], 0)


def _places(code: np.ndarray, warp_size: int) -> np.ndarray:
    """Where instructions lie: what a fetch brings depends on it."""
    if warp_size == WARP_SIZE:
        return BYTES * np.arange(len(code))
    wide = (code["width"] > 0) & (code["op"] != OpClass.SCALAR_LOAD)
    sizes = WORDS * np.where(wide, 2, 1)
    return np.cumsum(sizes) - sizes


def _gap(t: Tables, kinds: np.ndarray, target: int) -> np.ndarray:
    """The slots of a gap that leads to site ``target``."""
    made = blank(len(kinds))
    made["op"], made["text"] = t.kind_op[kinds], t.kind_text[kinds]
    made["space"][made["op"] == OpClass.LOAD] = Space.CONSTANT  # no other load lacks addresses
    written: list[int] = []
    for row, kind in zip(made, kinds.tolist()):
        back = int(t.kind_chained[kind])
        read = [written[-back]] if 0 < back <= len(written) else []
        read += _results(t.kind_loaded[kind], t.kind_other[kind])
        row["sources"] = len(read)
        row["source"][: len(read)], row["source_count"][: len(read)] = read, 1
        own = _operand(target) if t.kind_target[kind] else SLOTS + len(written) % SLOT_COUNT
        written.append(own)
        row["destinations"] = row["destination_count"][0] = 1
        row["destination"][0] = own
    return made


def _result(site: int) -> int:
    """The register that a site's result goes to."""
    return RESULTS + 4 * (site % RESULT_COUNT)


def _results(*loads: int) -> list[int]:
    """The registers of some sites' results; of each one more than its number is given, 0: none."""
    return [_result(int(load) - 1) for load in loads if load]


def _operand(site: int) -> int:
    """The register that a site reads."""
    return OPERANDS + 2 * (site % OPERAND_COUNT)


def _sites(t: Tables) -> np.ndarray:
    made = blank(len(t.site_op))
    for name in ("text", "op", "space", "width", "cache", "immediate", "threads"):
        made[name] = getattr(t, f"site_{name}")
    for site, row in enumerate(made):
        count = int(t.site_result[site])
        if count:
            row["destinations"], row["destination_count"][0] = 1, min(count, 4)
            row["destination"][0] = _result(site)
        if row["width"]:
            read = [_operand(site), *_results(t.site_loaded[site], t.site_other[site])]
            row["sources"] = len(read)
            row["source"][: len(read)], row["source_count"][: len(read)] = read, 1
    return made
