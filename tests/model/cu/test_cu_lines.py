"""Scalar loads that miss: requests to the L2, entries, refusals, and who waits."""

import numpy as np
import pytest

pytestmark = pytest.mark.plain
FAR = 1 << 20


def scalars(wavefronts, *addresses, **wait):
    """A program that loads scalars and waits for them."""
    loads = [("scalar_load", address) for address in addresses]
    return [*loads, wavefronts.wait(**(wait or dict(lgkm=0))), "scalar"]


def warm(wavefronts, tiny_cu, watch_cu, **changes):
    """Cycles of a scalar load whose line the L2 has, and the run: a vector load brought it."""
    program = [("load", FAR), wavefronts.wait(vector=0), *scalars(wavefronts, FAR)]
    seen = watch_cu(wavefronts.make(program), tiny_cu(sm__subcores=1, **changes))
    cycles = seen.of(0)
    return cycles[3] - cycles[2], seen


def test_a_miss_takes_the_way_to_the_l2_and_the_latency_of_the_cache(wavefronts, tiny_cu, watch_cu):
    base, seen = warm(wavefronts, tiny_cu, watch_cu)
    gpu = tiny_cu()
    # What an L1 miss takes, without its pipeline: see build.partition_hit_cycles.
    pipeline = gpu.sm.memory.address_interval + 2
    assert base == 1 + gpu.l2.latency - pipeline + gpu.constant.latency
    assert seen.counters["noc_requests"] == 2
    assert warm(wavefronts, tiny_cu, watch_cu, l2__latency=217)[0] == base + 17
    assert warm(wavefronts, tiny_cu, watch_cu, constant__latency=21)[0] == base + 5


def test_a_miss_in_both_caches_waits_for_dram(wavefronts, tiny_cu, watch_cu):
    def time(**changes):
        seen = watch_cu(
            wavefronts.make(scalars(wavefronts, FAR)), tiny_cu(sm__subcores=1, **changes)
        )
        return seen.of(0)[1] - seen.of(0)[0]

    assert time(dram__latency=500) == time(dram__latency=400) + 100


def test_misses_share_the_port_with_the_l1(wavefronts, tiny_cu, watch_cu):
    """A line takes four cycles of a port of 16 bytes, and one of a port of 64."""

    def time(flit, *kinds):
        wait = wavefronts.wait(vector=0, lgkm=0)
        programs = [[(kind, FAR * (1 + k)), wait] for k, kind in enumerate(kinds)]
        seen = watch_cu(
            wavefronts.make(*programs),
            tiny_cu(sm__subcores=1, interconnect__flit_bytes=flit, dram__clock_mhz=9000.0),
        )
        return seen.of(len(kinds) - 1)[1] - seen.of(0)[1]

    narrow, wide = (time(flit, "scalar_load", "scalar_load") for flit in (16, 64))
    assert narrow == time(16, "load", "load")
    assert narrow > wide


def test_a_load_across_lines_waits_for_the_later_one(wavefronts, tiny_cu, watch_cu):
    def time(*addresses):
        program = scalars(wavefronts, *addresses)
        seen = watch_cu(wavefronts.make(program), tiny_cu(sm__subcores=1))
        return seen.of(0)[-2] - seen.of(0)[0], seen.counters["noc_requests"]

    (one, asked), (across, both), (apart, two) = time(FAR), time(FAR + 56), time(FAR, FAR + 64)
    assert (asked, both, two) == (1, 2, 2)
    assert one < across <= apart


def test_a_hit_does_not_wait_for_a_miss(wavefronts, tiny_cu, watch_cu):
    """lgkmcnt(1) lets the wavefront go when one of two has come, in any order."""
    known = scalars(wavefronts, FAR)
    behind = [("scalar_load", 2 * FAR), ("scalar_load", FAR + 16)]

    def time(n):
        program = [*known, *behind, wavefronts.wait(lgkm=n), "scalar"]
        cycles = watch_cu(wavefronts.make(program), tiny_cu(sm__subcores=1)).of(0)
        return cycles[5] - cycles[4]

    assert time(1) == tiny_cu().constant.latency
    assert time(0) > 150


@pytest.mark.parametrize(("entries", "together"), [(2, 1), (3, 2), (4, 3)])
def test_a_load_issues_where_two_lines_can_be_asked_for(
    wavefronts, tiny_cu, watch_cu, entries, together
):
    program = [("scalar_load", FAR * k) for k in range(1, 6)]
    gpu = tiny_cu(sm__subcores=1, cu__mshr_entries=entries)
    cycles = watch_cu(wavefronts.make(program), gpu).of(0)
    waits = [gap > 100 for gap in np.diff(cycles)]
    assert waits.index(True) == together - 1


def test_a_line_wakes_the_wavefronts_of_all_neighbours(wavefronts, tiny_cu, watch_cu):
    gpu = tiny_cu(sm__count=3, cu__neighbours=(3,), sm__ctas=1, sm__subcores=1)
    seen = watch_cu(wavefronts.make(scalars(wavefronts, FAR), groups=3), gpu)
    assert seen.counters["noc_requests"] == 1
    assert len({seen.of(0, cu)[1] for cu in range(3)}) == 1


def test_a_refused_request_is_repeated(wavefronts, tiny_cu, watch_cu):
    """An L2 of one MSHR entry refuses the others until it is free."""
    programs = [scalars(wavefronts, FAR * k) for k in range(1, 5)]
    gpu = tiny_cu(l2__mshr_entries=1, l2__mshr_full="nack", l2__nack_retry=10)
    seen = watch_cu(wavefronts.make(*programs), gpu)
    assert seen.counters["nacks"] > 0
    assert all(len(seen.of(slot)) == 3 for slot in range(4))
    ends = sorted(seen.of(slot)[1] for slot in range(4))
    assert min(np.diff(ends)) > 100


def test_lines_of_several_sectors_are_there_with_the_last(wavefronts, tiny_cu, watch_cu):
    gpu = tiny_cu(sm__subcores=1, l1__sector_bytes=32, l2__sector_bytes=32)
    seen = watch_cu(wavefronts.make(scalars(wavefronts, FAR)), gpu)
    assert seen.counters["noc_requests"] == 1
    assert len(seen.of(0)) == 3


def test_who_takes_the_slot_of_a_wavefront_gets_none_of_its_lines(wavefronts, tiny_cu, watch_cu):
    """A wavefront that does not wait for its load ends; the next one has its slot."""
    program = [("scalar_load", FAR), "end"]
    gpu = tiny_cu(sm__ctas=1, sm__subcores=1)
    seen = watch_cu(wavefronts.make(program, groups=3), gpu)
    assert seen.counters["noc_requests"] == 1
    assert len(seen.of(0)) == 6
