"""Entries of a part of a stream, those of one cache after those of another: so the lines of a
cache stay in the host's caches while its entries meet them."""

import numpy as np

from lockstep._jit import Context, Records, as_records, jit

ITEM = np.dtype([("line", "i8"), ("sm", "i4"), ("sectors", "u2"), ("kind", "u1"), ("flags", "u1")])
"""What a pass reads of an entry."""


class Listed(Context):
    """What the compiled side reads and writes."""

    items: Records  # ITEM, cache after cache; those of one in the order of the stream
    begins: np.ndarray  # int64 [caches + 1]: where those of each begin
    ends: np.ndarray  # int64 [caches]


class EntryLists:
    """Lists entries by their SMs, each of which has a cache, or all of them for a single one."""

    def __init__(self, caches: int):
        self._listed = Listed(as_records(np.zeros(1, ITEM)), *np.zeros((2, caches + 1), np.int64))

    def of(self, entries: Records, count: int) -> Listed:
        """The first ``count`` entries, listed."""
        if len(self._listed.items) < count:
            items = as_records(np.zeros(max(count, 2 * len(self._listed.items)), ITEM))
            self._listed = self._listed._replace(items=items)
        list_entries(self._listed, entries, count)
        return self._listed


@jit
def list_entries(s, entries, count):
    """List entries in the order of caches."""
    caches = len(s.begins) - 1
    several = -1 if caches > 1 else 0
    s.ends[:] = 0
    for k in range(count):
        s.ends[entries[k].sm & several] += 1
    begin = 0
    for cache in range(caches):
        s.begins[cache] = begin
        begin += s.ends[cache]
        s.ends[cache] = s.begins[cache]
    s.begins[caches] = begin
    for k in range(count):
        entry = entries[k]
        cache = entry.sm & several
        item = s.items[s.ends[cache]]
        s.ends[cache] += 1
        item.line, item.sectors, item.sm = entry.line, entry.sectors, entry.sm
        item.kind, item.flags = entry.kind, entry.flags
