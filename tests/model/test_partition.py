"""Memory partitions: whatever the configuration, every request gets exactly its replies."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.model import partition
from lockstep.model.dram.standard import Command
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)
from model.owned import of_owner

pytestmark = pytest.mark.plain

LINE = 128


ALONE = st.fixed_dictionaries(
    {
        "sources": st.integers(1, 3),
        "buffer": st.integers(1, 3),
        "reply_buffer": st.integers(1, 3),
        "dram__clock_mhz": st.sampled_from([1000.0, 850.0, 3500.0]),
        "dram__burst_length": st.sampled_from([1, 2]),
        "dram__read_queue": st.integers(1, 4),
        "dram__write_queue": st.integers(1, 4),
        "dram__page": st.sampled_from(["open", "closed"]),
        "dram__scheduler": st.sampled_from(["frfcfs", "fcfs"]),
        "dram__refresh": st.booleans(),
        "dram__timing": st.just({"nREFI": 300}),
        "interconnect__clock_mhz": st.sampled_from([1000.0, 700.0, 2100.0]),
        "interconnect__flit_bytes": st.sampled_from([32, 40]),
        "interconnect__reply_header_bytes": st.sampled_from([0, 4, 32]),
        "l2__bytes_per_cycle": st.sampled_from([32, 48, 64]),
        "l2__clock_mhz": st.sampled_from([1000.0, 600.0, 1700.0]),
        "l2__far_latency": st.sampled_from([0, 9]),
        "l2__interleave_bytes": st.sampled_from([128, 512]),
        "l2__mshr_entries": st.integers(1, 4),
        "l2__mshr_full": st.sampled_from(["stall", "nack"]),
        "l2__mshr_merges": st.integers(1, 3),
        "l2__queue": st.integers(1, 4),
        "l2__replacement": st.sampled_from(["lru", "fifo", "random"]),
        "l2__set_hash": st.sampled_from(["linear", "xor", "ipoly"]),
        "l2__sets": st.sampled_from([1, 2, 7]),
        "l2__slice_hash": st.sampled_from(["linear", "xor", "ipoly"]),
        "l2__slices_per_channel": st.sampled_from([1, 3, 8]),
        "l2__ways": st.integers(1, 3),
        "l2__protocol": st.sampled_from(["write_validate", "write_fetch"]),
    }
)
TOGETHER = [  # parameters that restrict each other
    (("dram__banks", "dram__bank_groups"), [(1, 1), (4, 2), (5, 1), (6, 3)]),
    (("dram__drain_low", "dram__drain_high"), [(0.0, 0.01), (0.25, 0.5), (0.3, 1.0)]),
    (("dram__channels", "l2__sides"), [(1, 1), (2, 2), (3, 1), (3, 2)]),
    (("line", "sector"), [(128, 32), (64, 32), (128, 64), (32, 32)]),
]


def together(parts):
    """One dictionary of parameters."""
    joined = dict(parts[0])
    for (names, _), values in zip(TOGETHER, parts[1:]):
        joined |= dict(zip(names, values))
    line, sector = joined.pop("line"), joined.pop("sector")
    for cache in ("l1", "l2"):
        joined |= {f"{cache}__line_bytes": line, f"{cache}__sector_bytes": sector}
    return joined


CONFIGURATIONS = st.tuples(ALONE, *[st.sampled_from(values) for _, values in TOGETHER]).map(
    together
)
MASKS = st.integers(1, 15)
REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 2),  # source
        st.sampled_from([KIND_READ, KIND_WRITE, KIND_ATOMIC, KIND_REDUCTION]),
        st.integers(0, 11),  # line
        MASKS,
        st.integers(0, 15),  # sectors written in full, or lanes on one word
        st.sampled_from([0, 0, 0, 1, 40]),  # cycles since the request before
        st.integers(0, 3),  # cache policy
    ),
    min_size=1,
    max_size=40,
)


def play(rig, configuration, requests, copies=(), blocks=None):
    """The memory side after all requests, which are (kind, sectors) by tag."""
    side = rig.MemorySide(**configuration)
    side.blocks = blocks or side.blocks
    side.repeat = 3
    asked, cycle = {}, 0
    line_bytes = side.gpu.l2.line_bytes
    all_sectors = (1 << line_bytes // side.gpu.l2.sector_bytes) - 1
    for source, kind, line, mask, full, gap, policy in requests:
        cycle += gap
        mask = mask & all_sectors or all_sectors
        tag = side.send(
            kind,
            line * line_bytes,
            mask,
            full=full & mask if kind == KIND_WRITE else full,
            source=source % configuration["sources"],
            at=cycle,
            policy=policy,
            flits=1 + (kind == KIND_WRITE) * mask.bit_count(),
        )
        asked[tag] = kind, mask
    for window, line in copies:
        side.run_to(window * rig.LATENCY)
        side.copy(line * line_bytes, 200)
    side.finish()
    return side, asked


def check_replies(side, asked):
    """Every sector comes once; every write is acknowledged once, when it is all accepted."""
    answered = side.answered()
    assert set(answered) == set(asked)
    for tag, (kind, mask) in asked.items():
        found = answered[tag]
        if kind in (KIND_WRITE, KIND_REDUCTION):
            assert found == {KIND_ACK: [mask]}
        else:
            assert sum(s.bit_count() for s in found[KIND_DATA]) == mask.bit_count()
            assert np.bitwise_or.reduce(found[KIND_DATA]) == mask
            assert not found.keys() - {KIND_DATA, KIND_NACK}


def check_rest(side, configuration):
    """Nothing is left behind: no credit, no entry, no lock, no mark."""
    l2 = side.memory.l2
    assert (side.requests.credits == configuration["buffer"]).all()
    assert (side.answers.credits == configuration["reply_buffer"]).all()
    assert not l2.tags.held["pending"].any()
    assert (l2.tags.held["waiters"][l2.tags.lines.ravel() != 0] == -1).all()
    assert (l2.tags.keys < 1 << 62).all()
    assert not (l2.tags.held["valid"] & l2.tags.held["partial"]).any()
    for row in l2.tags.lines:
        held = row[row != 0]
        assert len(set(held)) == len(held), "a line is in two ways"
    assert not l2.slices["mshrs"].any()
    assert not l2.slices["waiting"].any()
    assert (l2.slices["return_head"] == -1).all()
    count = side.count
    sector = side.gpu.l2.sector_bytes
    assert count.dram_read_bytes == sector * count.l2_fills
    assert count.dram_reads * 16 * side.gpu.dram.burst_length == count.dram_read_bytes
    assert count.dram_write_bytes == sector * count.l2_writebacks


def check_accesses(side, asked):
    """Each sector is counted once, as what it met first."""
    count = side.count
    sectors = dict.fromkeys((KIND_READ, KIND_WRITE, KIND_ATOMIC, KIND_REDUCTION), 0)
    for kind, mask in asked.values():
        sectors[kind] += mask.bit_count()
    assert count.l2_read_sectors == sectors[KIND_READ]
    assert count.l2_write_sectors == sectors[KIND_WRITE]
    assert count.l2_atomic_sectors == sectors[KIND_ATOMIC] + sectors[KIND_REDUCTION]
    fetched = sum(
        getattr(count, f"l2_{kind}_sectors")
        - getattr(count, f"l2_{kind}_hits")
        - getattr(count, f"l2_{kind}_pending")
        for kind in ("read", "atomic")
    )
    if side.gpu.l2.protocol == "write_validate":
        assert count.l2_fills == fetched
    else:
        assert count.l2_fills >= fetched


@pytest.mark.long
@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(CONFIGURATIONS, REQUESTS)
def test_every_request_gets_exactly_its_replies(rig, configuration, requests):
    side, asked = play(rig, configuration, requests)
    check_replies(side, asked)
    check_rest(side, configuration)
    check_accesses(side, asked)


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(CONFIGURATIONS, REQUESTS, st.lists(st.tuples(st.integers(1, 30), st.integers(0, 11))))
def test_copies_in_between_disturb_nothing(rig, configuration, requests, copies):
    side, asked = play(rig, configuration, requests, sorted(copies))
    check_replies(side, asked)
    check_rest(side, configuration)


@pytest.mark.parametrize("kind", [KIND_READ, KIND_WRITE])
def test_a_copy_of_the_line_that_a_stalled_request_waits_for(rig, kind):
    side = rig.MemorySide(l2__sets=1, l2__ways=2, dram__read_queue=1, l2__mshr_entries=2)
    for line in range(3):
        side.read(line * LINE, 1)
    side.send(kind, 5 * LINE, 1)
    for window in range(1, 60):
        side.run_to(window * rig.LATENCY)
        side.copy((window % 2 * 3 + 2) * LINE, LINE)  # lines 2 and 5 in turn
    side.finish()
    held = side.memory.l2.tags.lines[0]
    assert held[0] != held[1]
    assert len(side.replies) == 4


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(CONFIGURATIONS, REQUESTS)
def test_blocks_of_partitions_do_not_matter(rig, configuration, requests):
    """One thread for all, or one for each in any order: the same replies at the same cycles."""
    configuration = configuration | {"dram__channels": 3, "l2__sides": 1}
    found = []
    for blocks in ([(0, 3)], [(2, 3), (0, 1), (1, 2)]):
        side, _ = play(rig, configuration, requests, blocks=blocks)
        found.append((side.replies, side.memory.counters.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("slice_hash", ["linear", "xor", "ipoly"])
def test_every_line_has_a_place_of_its_own(rig, slice_hash):
    """240 lines fill 20 rows of each of 3 channels: 24 slices, 5 banks, two lines a block."""
    side = rig.MemorySide(
        log=1000,
        dram__channels=3,
        dram__banks=5,
        l2__slices_per_channel=8,
        l2__sets=7,
        l2__interleave_bytes=256,
        l2__slice_hash=slice_hash,
    )
    for line in range(240):
        side.read(line * LINE, 1)
    assert len(side.finish()) == 240
    dram = side.memory.l2.dram
    for channel in range(3):
        log = dram.log[channel, : dram.channels[channel].logged]
        reads = log[log["command"] == Command.RD]
        places, counts = np.unique(reads[["bank", "row"]], return_counts=True)
        assert len(places) == 20
        assert set(counts) == {512 // LINE}
        assert sorted(set(places["row"])) == list(range(4))


def test_users_policies_take_part(rig):
    def slice_hash(line_address, slices):
        return line_address // LINE + 1

    def oldest(queue, first, count, now):
        return 0

    side = rig.MemorySide(
        dram__channels=2, policies={"slice_hash": slice_hash, "dram_scheduler": oldest}
    )
    for line in range(4):
        side.read(line * LINE, 1)
    assert {r.address // LINE: r.slice for r in side.finish()} == {0: 1, 1: 0, 2: 1, 3: 0}
    assert side.memory.counters["dram_reads"].tolist() == [2, 2]


def test_a_partition_with_nothing_to_do_sleeps(rig):
    side = rig.MemorySide()
    assert rig.partition.run(side.memory, side.requests, side.answers, 0, 1, 0, 5) >= 1 << 60
    assert rig.partition.drained(side.memory)


def test_run_says_when_it_has_something_to_do_again(rig):
    side = rig.MemorySide()
    side.copy(0, LINE)
    side.read(0, 1)
    side.window()
    event = rig.partition.run(side.memory, side.requests, side.answers, 0, 1, 5, 10)
    assert event == rig.LATENCY + rig.HIT, "the reply leaves"
    assert not rig.partition.drained(side.memory)


def test_skipping_idle_windows_changes_nothing(rig):
    """As the engine does: from one event to the next."""
    arrivals = []
    for skip in (False, True):
        side = rig.MemorySide(dram__refresh=True, dram__timing={"nREFI": 100})
        side.read(0, 0b1111)
        side.window()
        while not side.replies:
            event = rig.partition.run(
                side.memory, side.requests, side.answers, 0, 1, side.now, side.now + rig.LATENCY
            )
            sent = rig.link.sent_by(side.answers, 0)
            one = of_owner(side.answers, 0, 1)
            rig.link.deliver(side.answers, int(side.answers.begun[0]), *one, side.now)
            side.now += rig.LATENCY
            if sent:
                break
            side.now = max(side.now, event) if skip else side.now
        arrivals.append(int(rig.link.first(side.answers, 0).arrival))
    assert arrivals[0] == arrivals[1]


def test_a_reply_without_a_credit_holds_up_its_slice(rig):
    side = rig.MemorySide(sources=2, reply_buffer=1)
    side.copy(0, 4 * LINE)
    for _ in range(3):
        side.read(0, 1, source=0)
    replies = side.finish()
    gaps = [b.arrival - a.arrival for a, b in pairwise(replies)]
    assert min(gaps) >= rig.LATENCY, "a credit comes back in the next window"
    assert side.count.l2_stall_reply > 0


def test_a_full_queue_of_a_slice_keeps_requests_in_the_inbox(rig):
    side = rig.MemorySide(l2__queue=1, l2__mshr_entries=1)
    for i in range(6):
        side.read(i * LINE, 1)
    side.run_to(20)
    assert side.requests.ports[0].count > 0
    assert len(side.finish()) == 6


def test_dram_clocks_are_counted_up_to_the_end(rig):
    side = rig.MemorySide(dram__clock_mhz=850.0)
    side.run_to(1000)
    assert side.count.dram_clocks == 850


def test_dram_clocks_of_idle_partitions_are_counted_on_demand(rig):
    """Nothing runs while nothing happens, but a kernel that ends there has had these clocks."""
    side = rig.MemorySide(dram__clock_mhz=850.0)
    side.run_to(1000)
    partition.settle(side.memory, 1400)
    assert side.count.dram_clocks == 1190
    partition.settle(side.memory, 1400)
    side.now = 1400
    side.run_to(2000)
    assert side.count.dram_clocks == 1700
