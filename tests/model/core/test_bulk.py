"""Bulk copies: trains of lines past the L1, beside what else the SM does."""

import pytest

from lockstep.builder import KernelBuilder, patterns
from lockstep.model.core.bind import LARGEST_COPY, issue_records
from lockstep.model.core.bulk import can_send
from lockstep.model.core.coalescer import most_lines
from lockstep.workload import MemoryCopy

pytestmark = pytest.mark.plain
LINE_INTERVAL = 2  # cycles: 128 bytes at sm.memory.bulk_load_bytes, 64 a cycle
A = 0x7F0000000000
SECTOR, LINE = 32, 128


def copies(*lines, address=A, mask=1, size=1 << 16):
    """One warp that executes ``lines``; those with brackets access ``address``."""
    k = KernelBuilder("bulk", grid=1, block=32, architecture=90)
    for text in lines:
        memory = "[" in text
        k(text, address=address if memory else None, mask=mask if memory else None)
    return k.workload(MemoryCopy(A, size))


@pytest.mark.parametrize(
    ("offset", "size", "lines", "sectors"),
    [(0, 16, 1, 1), (0, 4096, 32, 128), (96, 64, 2, 2), (48, 4096, 33, 129), (112, 16, 1, 1)],
)
def test_every_byte_is_requested_once_and_kept_nowhere(watch, tiny, offset, size, lines, sectors):
    text = f"UBLKCP [UR8], [UR4], {size}"
    seen = watch(copies(text, "NOP", text, address=A + offset), tiny())
    assert seen.counters["noc_requests"] == 2 * lines
    assert seen.counters["bulk_read_sectors"] == 2 * sectors
    assert seen.counters["l1_global_read_sectors"] == seen.counters["bulk_write_sectors"] == 0


def test_each_active_lane_copies(watch, tiny):
    places = patterns.strided(A, 4096)
    text = "UBLKCP [UR8], [UR4], 256"
    seen = watch(copies(text, address=places, mask=0b1011), tiny())
    assert seen.counters["bulk_read_sectors"] == 3 * 256 // SECTOR
    assert seen.counters["noc_requests"] == 3 * 256 // LINE


def test_a_copy_of_unknown_size_is_one_access(watch, tiny):
    assert watch(copies("UTMALDG.2D [UR8], [UR4]"), tiny()).counters["bulk_read_sectors"] == 1


@pytest.mark.parametrize(
    ("size", "taken"),
    [(-5, 0), (4096, 4096), (LARGEST_COPY + 16, LARGEST_COPY), (1 << 60, LARGEST_COPY)],
)
def test_no_copy_is_larger_than_shared_memory(tiny, size, taken):
    (kernel,) = copies("UBLKCP [UR8], [UR4], 0").kernels
    code = kernel.code.instructions
    code["immediate"][0] = size
    assert issue_records(code, tiny(), False)["immediate"][0] == taken


def test_stores_write_whole_sectors_and_the_cta_waits_for_them(watch, tiny):
    seen = watch(copies("UTMASTG.2D [UR8], [UR4], 2048", address=A + 16), tiny())
    assert seen.counters["bulk_write_sectors"] == 2048 // SECTOR + 1
    assert seen.counters["noc_requests"] == 17
    short = watch(copies("UTMASTG.2D [UR8], [UR4], 16"), tiny())
    assert seen.run.cycles >= short.run.cycles + 16 * LINE_INTERVAL


def test_a_warp_goes_on_and_a_fence_waits(watch, tiny):
    gpu = tiny(sm__fence_latency=1)
    at = watch(copies("UBLKCP [UR8], [UR4], 8192", "NOP", "MEMBAR.SC.GPU"), gpu).of(0)
    assert at[1] == 1
    assert at[2] > 8192 // LINE * LINE_INTERVAL + 2 * gpu.interconnect.latency


def test_loads_go_on_beside_a_copy(watch, tiny):
    lines = ("LDG.E R4, [R2]", "IADD3 R5, R4, R4, RZ", "LDG.E R6, [R2]", "IADD3 R5, R6, R6, RZ")
    alone = watch(copies("NOP", *lines), tiny()).of(0)
    beside = watch(copies("UBLKCP [UR8], [UR4], 16384", *lines), tiny()).of(0)
    hit = alone[4] - alone[3]
    assert beside[4] - beside[3] == hit, "the second load hits the L1"
    assert beside[2] < alone[2] + 16384 // LINE * LINE_INTERVAL


@pytest.mark.parametrize("full", ["stall", "nack"])
def test_as_many_lines_are_under_way_as_could_be_refused(watch, tiny, full):
    gpu = tiny(l2__mshr_entries=2, l2__mshr_full=full, sm__memory__outstanding=2)
    size = (most_lines(gpu) + 20) * LINE
    text = f"UBLKCP [UR8], [UR4], {size}"
    seen = watch(copies(text, text), gpu)
    assert seen.counters["bulk_read_sectors"] == 2 * size // SECTOR


@pytest.mark.parametrize(("text", "side"), [("UBLKCP", "load"), ("UTMASTG.2D", "store")])
def test_lines_follow_each_other_by_the_bytes_of_a_cycle(watch, tiny, text, side):
    """The same copy at 4 and 8 bytes a cycle, slower than all that comes behind."""
    cycles = []
    for rate in (4, 8):
        gpu = tiny(**{f"sm.memory.bulk_{side}_bytes": rate})
        cycles.append(watch(copies(f"{text} [UR8], [UR4], {64 * LINE}"), gpu).run.cycles)
    assert cycles[0] - cycles[1] == pytest.approx(63 * 16, abs=20)


@pytest.mark.parametrize(("lines", "goes_on"), [(128, False), (256, True)])
def test_more_lines_of_a_copy_may_be_under_way(tiny, idle_sms, lines, goes_on):
    c = idle_sms(tiny(**{"sm.memory.bulk_lines": lines}))
    access = c.accesses[0, 0]
    access.lanes, access.remaining = 1, 150 * LINE // SECTOR
    assert can_send(c, 0, access) == goes_on


@pytest.mark.parametrize(
    ("mask", "copies"), [((1 << 64) - 1, 64), (1 << 63, 1), (0b101 << 61, 2), (1, 1)]
)
def test_each_of_64_lanes_copies_and_none_waits_for_ever(watch, tiny, mask, copies):
    k = KernelBuilder("bulk", grid=1, block=64, architecture=90, warp_size=64)
    k("UBLKCP [UR8], [UR4], 512", address=patterns.strided(A + 16, 4096), mask=mask)
    seen = watch(k.workload(), tiny(sm__warp_size=64, sm__memory__bulk_lines=128))
    assert seen.counters["bulk_read_sectors"] == copies * (512 // SECTOR + 1)
    assert seen.counters["noc_requests"] == copies * (512 // LINE + 1)
    assert seen.run.stopped == ""


@pytest.mark.parametrize("waits", [False, True])
def test_who_waits_for_a_group_waits_for_its_bulk_stores_or_not(watch, tiny, waits):
    gpu = tiny(**{"sm.memory.bulk_groups": waits})
    store = f"UTMASTG.2D [UR8], [UR4], {64 * LINE}"
    at = watch(copies(store, "UTMACMDFLUSH", "DEPBAR.LE SB0, 0x0", "NOP"), gpu).of(0)
    assert (at[2] >= 63 * LINE_INTERVAL) == waits
    assert at[1] == 1, "the warp goes on as far as the wait"
