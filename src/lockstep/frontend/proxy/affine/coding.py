"""The instructions of a proxy's kernel: its sites, and between them what fills the time."""

import numpy as np

from lockstep.frontend.proxy.affine.tables import Tables
from lockstep.isa.instruction import (
    ALL_LANES,
    WARP_SIZE,
    OpClass,
    blank,
)
from lockstep.workload import RUN, Code

BYTES = 16  # from one instruction to the next
ADDRESS_REGISTER, VALUE_REGISTER, CHAIN_REGISTER = 2, 6, 4
FIRST_RESULT, MOST_RESULTS = 16, 200  # registers that loads write, in turn by site
EXIT_TEXT = "EXIT"


class KernelCode:
    """The code of a model: each site once, each gap once, and an exit."""

    def __init__(self, tables: Tables, texts: list[str], warp_size: int = WARP_SIZE):
        self._t = tables
        self._full = ALL_LANES if warp_size == WARP_SIZE else -1
        sites = len(tables.site_op)
        self.texts = [*texts, EXIT_TEXT]
        records = [_sites(tables)]
        exit_record = blank()
        exit_record["op"], exit_record["text"] = OpClass.EXIT, len(texts)
        self._keys, self._begin, self._length = self._gaps(records)
        records.append(exit_record)
        code = np.concatenate(records)
        code["pc"] = BYTES * np.arange(len(code))
        self.code = Code(code, self.texts)
        self._sites, self._exit = sites, len(code) - 1

    def _gaps(self, records: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Append the gaps; the keys of pairs of sites, where their gaps begin, and the lengths."""
        t, sites = self._t, len(self._t.site_op)
        ends = np.cumsum(t.gap_slots)
        begins = ends - t.gap_slots
        for source, begin, end in zip(t.gap_from.tolist(), begins.tolist(), ends.tolist()):
            records.append(self._gap(t.slot_kind[begin:end], source))
        keys = self._key(t.gap_from, t.gap_to)
        order = np.argsort(keys, kind="stable")
        return keys[order], sites + begins[order], t.gap_slots[order]

    def _key(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return source * (len(self._t.site_op) + 1) + target

    def _gap(self, kinds: np.ndarray, source: int) -> np.ndarray:
        t, made = self._t, blank(len(kinds))
        made["op"], made["text"] = t.kind_op[kinds], t.kind_text[kinds]
        loaded = t.kind_loaded[kinds]
        for row, chained, back in zip(made, t.kind_chained[kinds], loaded):
            registers = [CHAIN_REGISTER] * int(chained)
            if back:
                registers.append(_result(max(0, source - int(back) + 1)))
            row["sources"] = len(registers)
            row["source"][: len(registers)] = registers
            row["source_count"][: len(registers)] = 1
            row["destinations"] = row["destination_count"][0] = 1
            row["destination"][0] = CHAIN_REGISTER
        return made

    def runs(self, sites: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, int]:
        """The RUN records of a warp that executes these sites, and its thread instructions."""
        before = np.concatenate(([self._sites], sites))
        after = np.append(sites, self._sites)
        begin, length = self._of_pairs(self._key(before, after))
        made = np.zeros((len(sites) + 1, 2), RUN)
        lanes = np.append(masks, masks[-1] if len(masks) else self._full)
        made["mask"] = lanes[:, None]
        made["static"][:, 0], made["count"][:, 0] = begin, length
        made["static"][:, 1], made["count"][:, 1] = np.append(sites, self._exit), 1
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


def _result(site: int) -> int:
    """The register that a site's result goes to."""
    return FIRST_RESULT + 4 * site % MOST_RESULTS


def _sites(t: Tables) -> np.ndarray:
    made = blank(len(t.site_op))
    for name in ("text", "op", "space", "width", "cache", "immediate", "threads"):
        made[name] = getattr(t, f"site_{name}")
    for site, row in enumerate(made):
        count = int(t.site_result[site])
        if count:
            row["destinations"], row["destination_count"][0] = 1, count
            row["destination"][0] = _result(site)
        if row["width"]:
            row["sources"], row["source"][0], row["source_count"][0] = 1, ADDRESS_REGISTER, 2
    return made
