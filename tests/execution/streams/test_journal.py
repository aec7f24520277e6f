"""CTAs made of a journal, against lists that grow with what each warp does."""

import numpy as np
import pytest

from lockstep.execution.state import MOST_LANES
from lockstep.execution.streams.journal import ENDED, Collector, is_full, journal
from lockstep.workload.at_issue import STEP_RUNS

WARPS, CTAS = 3, 7


class Life:
    """Blocks of random warps, in random order, and what is to come of them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.alive = list(range(CTAS))
        self.runs = {row: [] for row in range(CTAS * WARPS)}  # (pc, mask) of each instruction
        self.lanes = {row: [] for row in range(CTAS * WARPS)}  # addresses of each access

    def block(self, j):
        """A block of a warp: up to three runs, and up to one access, in a list or regular."""
        row = int(self.rng.choice(self.alive)) * WARPS + int(self.rng.integers(WARPS))
        masks = [int(m) for m in self.rng.choice([1, 7, 0xFFFFFFFF], self.rng.integers(1, 4))]
        for mask in masks:
            static, count = self.following(row), int(self.rng.integers(1, 5))
            note(j, row, static, count, mask)
            self.runs[row] += [(static + k, mask) for k in range(count)]
        if self.rng.random() < 0.6:
            self.access(j, row, masks[0].bit_count())

    def following(self, row):
        """Where the next run begins, often where the last one ended."""
        if self.runs[row] and self.rng.random() < 0.7:
            return self.runs[row][-1][0] + 1
        return int(self.rng.integers(100))

    def access(self, j, row, lanes):
        record = j.addresses[j.used[1]]
        j.used[1] += 1
        record.row, record.words, record.pool = row, 0, -1
        record.first, record.stride = int(self.rng.integers(1000)), 4
        addresses = [int(record.first + 4 * k) for k in range(lanes)]
        if self.rng.random() < 0.5:
            addresses = self.rng.integers(0, 1 << 40, lanes).tolist()
            record.first, record.stride = addresses[0], 0
            record.pool, record.words = j.used[2], lanes
            j.pool[j.used[2] : j.used[2] + lanes] = addresses
            j.used[2] += lanes
        self.lanes[row].append(addresses)

    def end(self, j):
        """A CTA ends."""
        cta = self.alive.pop(int(self.rng.integers(len(self.alive))))
        for row in range(cta * WARPS, (cta + 1) * WARPS):  # at least an instruction each
            note(j, row, 7, 1, 1)
            self.runs[row].append((7, 1))
        note(j, cta * WARPS + int(self.rng.integers(WARPS)), ENDED, 0, 0)
        return cta


def note(j, row, static, count, mask):
    run = j.runs[j.used[0]]
    j.used[0] += 1
    run.row, run.static, run.count, run.mask = row, static, count, mask
    run.lanes = mask.bit_count()


def instructions(cta, warp):
    for static, count, mask in cta.runs[warp["first_run"] :][: warp["runs"]].tolist():
        yield from ((static + k, mask) for k in range(count))


def accesses(cta, warp, expected):
    used = cta.addresses[warp["first_address"] :][: warp["addresses"]].tolist()
    for (first, stride, pool), addresses in zip(used, expected, strict=True):
        n = len(addresses)
        yield (
            cta.pool[pool : pool + n].tolist()
            if pool >= 0
            else [first + stride * k for k in range(n)]
        )


@pytest.mark.parametrize("seed, often", [(0, 0.0), (1, 0.02), (2, 0.3)])
def test_each_cta_has_what_its_warps_did(seed, often):
    """However often the journal is emptied before it is full."""
    j, life, ended, taken = journal(True), Life(seed), [], []
    collector = Collector(j, WARPS, lambda n: (n, 0, 0), taken.append)
    for turn in range(80 * CTAS):
        life.block(j)
        if turn % 80 == 79:
            ended.append(life.end(j))
        if life.rng.random() < often:
            collector.collect()
    collector.collect()
    assert sorted(cta.index for cta in taken) == [(n, 0, 0) for n in sorted(ended)]
    assert len(taken) == CTAS and (often < 0.1 or [c.index[0] for c in taken] == ended)
    for cta in taken:
        for k, warp in enumerate(cta.warps):
            row = cta.index[0] * WARPS + k
            did = list(instructions(cta, warp))
            assert did == life.runs[row]
            assert list(accesses(cta, warp, life.lanes[row])) == life.lanes[row]
            assert warp["warp_instructions"] == len(did)
            assert warp["thread_instructions"] == sum(mask.bit_count() for _, mask in did)
        ends = cta.runs["static"] + cta.runs["count"]
        same = (ends[:-1] == cta.runs["static"][1:]) & (
            cta.runs["mask"][:-1] == cta.runs["mask"][1:]
        )
        first = np.isin(np.arange(1, len(cta.runs)), cta.warps["first_run"])
        assert not (same & ~first).any(), "runs that continue each other are one"


def test_a_journal_has_room_for_a_block_and_an_end():
    j = journal(True)
    for count, room in zip(range(3), (len(j.runs) - STEP_RUNS - 1, len(j.addresses) - 1, 0)):
        j.used[:] = 0
        j.used[count] = room if count < 2 else len(j.pool) - MOST_LANES
        assert not is_full(j)
        j.used[count] += 1
        assert is_full(j)
    assert len(journal(False).runs) == 0
