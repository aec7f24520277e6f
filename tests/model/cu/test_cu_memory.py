"""Wait counts, LDS, scalar data cache and instruction cache of compute units, in time."""

import pytest

pytestmark = pytest.mark.plain
FAR = 1 << 20


def after(seen, slot=0):
    """Cycles from the first to the last instruction of a wavefront."""
    cycles = seen.of(slot)
    return cycles[-1] - cycles[0]


def loads(wavefronts, **wait):
    """A hit behind a miss: the line of the second load is there."""
    return [
        ("load", FAR), wavefronts.wait(vector=0),
        ("load", 2 * FAR), ("load", FAR), wavefronts.wait(**wait), "scalar",
    ]  # fmt: skip


def test_vmcnt_waits_for_all_but_the_youngest(wavefronts, tiny_cu, watch_cu):
    """Of four hits, wait n ends with the fourth last: they come four cycles after each other."""

    def last(n):
        bring = [("load", FAR), wavefronts.wait(vector=0)]
        program = [*bring, *[("load", FAR)] * 4, wavefronts.wait(vector=n)]
        cycles = watch_cu(wavefronts.make(program), tiny_cu(sm__subcores=1)).of(0)
        return cycles[-1] - cycles[2]

    latency = tiny_cu().l1.latency
    assert [last(n) for n in (4, 3, 2, 1, 0)] == [4] + [latency + 4 * k for k in range(4)]


def test_vmcnt_falls_in_the_order_of_issue(wavefronts, tiny_cu, watch_cu):
    def last(n):
        cycles = watch_cu(wavefronts.make(loads(wavefronts, vector=n)), tiny_cu()).of(0)
        return cycles[-1] - cycles[2]

    assert last(2) == 12  # nothing to wait for
    assert last(1) > 150  # the miss
    assert last(0) - last(1) <= 4  # the hit came before


def test_multi2sim_waits_for_zero_whatever_is_asked(wavefronts, tiny_cu, watch_cu):
    workload = wavefronts.make(loads(wavefronts, vector=2))
    assert after(watch_cu(workload, tiny_cu(cu__waitcnt="zero"))) > 150 + after(
        watch_cu(workload, tiny_cu())
    )


@pytest.mark.parametrize(("export", "vector", "waits"), [(7, 15, 0), (0, 15, 1), (7, 0, 2)])
def test_a_store_reads_its_data_and_is_done_later(
    wavefronts, tiny_cu, watch_cu, export, vector, waits
):
    wait = wavefronts.wait(export=export, vector=vector)
    gap = after(watch_cu(wavefronts.make([("store", FAR), wait, "scalar"]), tiny_cu()))
    low, high = [(8, 8), (8, 16), (60, 400)][waits]
    assert low <= gap <= high


def lds_time(wavefronts, watch_cu, gpu, mask, stride, kind="lds"):
    program = [(kind, 0, stride), wavefronts.wait(lgkm=0), "scalar"]
    seen = watch_cu(wavefronts.make(program, masks=[mask]), gpu)
    return seen.of(0)[1] - seen.of(0)[0], int(seen.counters["shared_wavefronts"])


def test_the_lds_takes_a_wavefront_in_two_halves(wavefronts, tiny_cu, watch_cu):
    gpu = tiny_cu(sm__subcores=1)
    time = [
        lds_time(wavefronts, watch_cu, gpu, mask, 4)
        for mask in ((1 << 32) - 1, (1 << 64) - 1 ^ (1 << 32) - 1, (1 << 64) - 1)
    ]
    assert [n for _, n in time] == [1, 1, 2]
    assert [t for t, _ in time] == [64, 64, 65]  # shared.latency, and one pass more


def test_bank_conflicts_take_passes(wavefronts, tiny_cu, watch_cu):
    gpu = tiny_cu(sm__subcores=1)
    assert lds_time(wavefronts, watch_cu, gpu, (1 << 64) - 1, 8) == (67, 4)
    assert lds_time(wavefronts, watch_cu, gpu, (1 << 64) - 1, 0) == (65, 2)


def test_the_second_address_of_an_instruction_takes_as_many_passes(wavefronts, tiny_cu, watch_cu):
    """It is the first one moved by words, so it meets as many conflicts in other banks."""
    gpu, everybody = tiny_cu(sm__subcores=1), (1 << 64) - 1
    for stride, once in ((4, 2), (8, 4), (128, 64), (0, 2)):
        alone = lds_time(wavefronts, watch_cu, gpu, everybody, stride)
        two = lds_time(wavefronts, watch_cu, gpu, everybody, stride, "lds_two")
        assert alone == (63 + once, once)
        assert two == (63 + 2 * once, 2 * once)


@pytest.mark.parametrize(("slack", "last"), [(0, 8), (2, 6)])
def test_lds_instructions_follow_each_other(wavefronts, tiny_cu, watch_cu, slack, last):
    gpu = tiny_cu(sm__subcores=1, cu__lds_slack=slack, shared__pass_latency=2)
    seen = watch_cu(wavefronts.make(*[[("lds", 0)]] * 3), gpu)
    cycles = [seen.of(slot)[0] for slot in range(3)]
    assert cycles[2] - cycles[0] == last


def requests(seen):
    """What was asked of the L2."""
    return seen.counters["noc_requests"]


def scalar_misses(wavefronts, tiny_cu, watch_cu, neighbours):
    program = [("scalar_load", FAR), wavefronts.wait(lgkm=0), "scalar"]
    gpu = tiny_cu(sm__count=2, cu__neighbours=neighbours, sm__ctas=1, launch__cta_interval=100.0)
    return watch_cu(wavefronts.make(program, groups=2), gpu)


def test_neighbours_share_a_scalar_data_cache(wavefronts, tiny_cu, watch_cu):
    alone = scalar_misses(wavefronts, tiny_cu, watch_cu, (1, 1))
    shared = scalar_misses(wavefronts, tiny_cu, watch_cu, (2,))
    assert alone.counters["constant_misses"] == 2
    assert shared.counters["constant_misses"] == 1
    # The second asks 100 cycles later, and waits for the line that the first has asked for.
    assert [requests(seen) for seen in (alone, shared)] == [2, 1]
    assert [seen.of(0, 0)[1] - seen.of(0, 1)[1] for seen in (alone, shared)] == [0, 0]


def test_a_scalar_load_that_hits_takes_the_latency_of_the_cache(wavefronts, tiny_cu, watch_cu):
    wait = wavefronts.wait(lgkm=0)
    program = [("scalar_load", FAR), wait, ("scalar_load", FAR + 16), wait, "scalar"]
    gpu = tiny_cu(sm__subcores=1, constant__latency=17)
    cycles = watch_cu(wavefronts.make(program), gpu).of(0)
    assert cycles[3] - cycles[2] == 17


def test_scalar_loads_across_lines_wait_for_both(wavefronts, tiny_cu, watch_cu):
    program = [("scalar_load", FAR + 56), wavefronts.wait(lgkm=0), "scalar"]
    seen = watch_cu(wavefronts.make(program), tiny_cu())
    assert seen.counters["constant_misses"] == 2


@pytest.mark.parametrize(("neighbours", "misses"), [((2,), 1), ((1, 1), 2)])
def test_neighbours_share_an_instruction_cache(wavefronts, tiny_cu, watch_cu, neighbours, misses):
    gpu = tiny_cu(sm__count=2, cu__neighbours=neighbours, sm__ctas=1, sm__front_end__l1_bytes=32768)
    seen = watch_cu(wavefronts.make(["scalar"] * 4, groups=2), gpu)
    assert seen.counters["l1i_misses"] == misses


@pytest.mark.parametrize("counter", ["load", "lds"])
def test_a_counter_at_its_largest_holds_the_next(wavefronts, tiny_cu, watch_cu, counter):
    most = {"load": 15, "lds": 31}[counter]
    gpu = tiny_cu(shared__latency=4000, sm__memory__queue=40, cu__lds_slack=256, dram__latency=4000)
    cycles = watch_cu(wavefronts.make([(counter, FAR if counter == "load" else 0, 4)] * 33), gpu)
    gaps = [b - a for a, b in zip(cycles.of(0), cycles.of(0)[1:])]
    assert max(gaps[: most - 1]) <= 8
    assert gaps[most - 1] > 100
