"""Prefetchers without time, beside a twin of lists and sets."""

from types import SimpleNamespace

import numpy as np
import pytest

from caches.streams import stream
from caches.test_passes import explored
from lockstep._jit import as_records, jit
from lockstep.caches import CachePoint, Exploration, Sweep
from lockstep.caches.accesses import ATOMIC, INVALIDATE, PAST_L1, READ
from lockstep.caches.ahead import Prefetching
from lockstep.caches.geometry import Sets, line_of, number_of, row_of
from lockstep.caches.lookups import Level
from lockstep.caches.order import ENTRY
from lockstep.caches.tagged import Tagged
from lockstep.errors import WorkloadError
from lockstep.model.cache.prefetch.table import FIRST_USE, HIT, MISS
from small_gpu import small

__all__ = ["small"]

WHOLE = 15


def next_lines(site, line, warp, hit, state, out):
    head = state[0]
    head.count += site + warp + hit
    if hit == HIT or head.useless > 4 * head.useful + 9 or head.count % 7 == 0:
        return 0
    for k in range(head.degree):
        out[k].line = line + (k + 1) * head.distance
    return head.degree


class Twin:
    """L1s of LRU, each set a list of [line, sectors, prefetched]; the last was used last.

    What an emptied cache had prefetched is known to be useless when its set is used again.
    """

    def __init__(self, sets: int, ways: int, sms: int, sectored: bool, how: Prefetching):
        self.sets, self.ways, self.sectored, self.how = sets, ways, sectored, how
        self.held = [{} for _ in range(sms)]
        self.emptied = [set() for _ in range(sms)]
        self.heads = [
            SimpleNamespace(count=0, useful=0, useless=0, degree=how.degree, distance=how.distance)
            for _ in range(sms)
        ]
        self.issued = self.redundant = self.misses = 0
        self.out = []

    def room(self, sm, line):
        lines = self.held[sm].setdefault(line % self.sets, [])
        if line % self.sets in self.emptied[sm]:
            self.emptied[sm].remove(line % self.sets)
            self.heads[sm].useless += sum(way[2] for way in lines)
            lines.clear()
        return lines, next((way for way in lines if way[0] == line), None)

    def insert(self, sm, lines, way):
        if len(lines) == self.ways:
            self.heads[sm].useless += lines.pop(0)[2]
        lines.append(way)

    def access(self, e):
        sm, line, sectors = int(e.sm), int(e.line), int(e.sectors)
        if e.kind == INVALIDATE:
            self.emptied[sm] = set(range(self.sets))
            return
        if e.flags & PAST_L1:
            if e.kind != READ and line % self.sets not in self.emptied[sm]:
                lines, way = self.room(sm, line)
                if way:
                    self.heads[sm].useless += way[2]
                    lines.remove(way)
            self.out.append((line, sectors, int(e.kind)))
            return
        lines, way = self.room(sm, line)
        if e.kind != READ:
            self.out.append((line, sectors, int(e.kind)))
            if e.kind == ATOMIC and way:
                self.heads[sm].useless += way[2]
                lines.remove(way)
            return
        met, missing = MISS, sectors
        if way:
            missing = sectors & ~way[1]
            if missing != sectors and way[2]:
                self.heads[sm].useful, way[2], met = self.heads[sm].useful + 1, 0, FIRST_USE
            lines.remove(way)
            lines.append(way)
        else:
            way = [line, 0, 0]
            self.insert(sm, lines, way)
        if not missing and met == MISS:
            met = HIT
        self.misses += bin(missing).count("1") if self.sectored else bool(missing)
        if missing:
            self.out.append((line, missing if self.sectored else WHOLE, READ))
        way[1] |= sectors if self.sectored else WHOLE
        found = [SimpleNamespace(line=0) for _ in range(16)]
        n = next_lines(int(e.site), line, int(e.warp), met, [self.heads[sm]], found)
        for wanted in found[:n]:
            self.bring(sm, wanted.line)

    def bring(self, sm, line):
        lines, way = self.room(sm, line)
        if way is None:
            way = [line, 0, 0]
            self.insert(sm, lines, way)
        if way[1] == WHOLE:
            self.redundant += 1
            return
        self.out.append((line, WHOLE & ~way[1], READ))
        self.issued += 1
        way[1:] = [WHOLE, 1]


@pytest.mark.long
@pytest.mark.parametrize("sectored", [False, True])
@pytest.mark.parametrize("degree", [1, 3])
def test_prefetches_are_those_of_a_twin(sectored, degree):
    how = Prefetching("user", degree, 2, function=next_lines)
    tagged = Tagged(Level(Sets(8, 128), 4, 3, sectored=sectored, keeps=4), prefetching=how)
    twin = Twin(8, 4, 3, sectored, how)
    entries = stream(degree, lines=100)
    out = tagged.look_up(entries, len(entries))
    for entry in entries:
        twin.access(entry)
    assert [(int(e.line), int(e.sectors), int(e.kind)) for e in out] == twin.out
    assert tagged.misses(tagged.level.sets.count, 4)[READ] == twin.misses
    issued, useful, useless, redundant = tagged.fates.tolist()
    assert (issued, redundant) == (twin.issued, twin.redundant)
    assert useful == sum(head.useful for head in twin.heads)
    assert useful + useless <= issued


def sequential(sets: Sets, how: Prefetching, lines: int = 4096) -> tuple[int, list[int]]:
    """Misses of an L2 that reads memory from front to back, and what became of prefetches."""
    entries = np.zeros(lines, ENTRY)
    entries["line"], entries["sectors"], entries["kind"] = np.arange(lines), WHOLE, READ
    tagged = Tagged(Level(sets, 8, l2=True), prefetching=how)
    tagged.look_up(as_records(entries), lines)
    return int(tagged.misses(tagged.level.sets.count, 8)[READ]), tagged.fates.tolist()


@pytest.mark.parametrize("slices", [1, 4, 6])
def test_a_stream_of_each_slice_runs_ahead(slices):
    sets = Sets(24 * slices, 128, "linear", slices, "ipoly" if slices > 1 else "linear", 256)
    misses, (issued, useful, useless, _) = sequential(sets, Prefetching("stream", 2, 1, 8))
    assert misses == 3 * slices, "a stream is sure after two steps"
    assert useful == 4096 - misses
    assert issued >= useful
    assert useless == 0
    assert sequential(sets, Prefetching())[0] == 4096


@jit
def there_and_back(rows, count, found):
    for line in range(count):
        slice_ = row_of(rows, line) // rows.spec[0].sets
        found[line] = line_of(rows, slice_, number_of(rows, line))


@pytest.mark.parametrize("hash_", ["linear", "xor", "ipoly"])
@pytest.mark.parametrize("slices", [1, 3, 8, 12, 64])
def test_a_line_is_found_by_its_number_in_its_slice(hash_, slices):
    found = np.zeros(5000, np.int64)
    there_and_back(Sets(4 * slices, 64, "linear", slices, hash_, 256).rows(), 5000, found)
    assert found.tolist() == list(range(5000))


def test_points_with_prefetchers_stand_beside_those_of_one_pass(small):
    points = [CachePoint(8192, 4), CachePoint(8192, 4, prefetcher="stride", degree=2)]
    table = explored(small(), *points, l2=(CachePoint(1 << 18, 8, prefetcher="stream"),))
    assert table.l1_prefetcher.tolist() == ["none", "stride"]
    assert table.l1_degree.iloc[1] == 2
    assert np.isnan(table.l1_prefetches.iloc[0])
    assert (table.l2_window == 16).all()


def test_a_prefetcher_of_the_other_level_is_refused(small):
    stream_, stride = (CachePoint(8192, 4, prefetcher=name) for name in ("stream", "stride"))
    with pytest.raises(WorkloadError, match="stream is no prefetcher of an L1"):
        Exploration(small(), Sweep((stream_,)))
    with pytest.raises(WorkloadError, match="stride is no prefetcher of an L2"):
        Exploration(small(), Sweep((CachePoint(8192, 4),), (stride,)))
    with pytest.raises(WorkloadError, match="takes a policy l1_prefetcher"):
        Exploration(small(), Sweep((CachePoint(8192, 4, prefetcher="user"),)))
    assert "1 to 16 lines" in CachePoint(8192, 4, prefetcher="stride", degree=17).problem
    assert "no prefetcher 'next'" in CachePoint(8192, 4, prefetcher="next").problem
