"""Turns of SIMDs, five units, and how long each keeps its wavefront: pinned from both sides."""

import numpy as np
import pytest

pytestmark = pytest.mark.plain
FIRST = 4  # a line of code comes after a cycle: SIMD 0 issues in its second turn


def gaps(cycles):
    return np.diff(cycles).tolist()


def test_a_simd_issues_in_its_turn_alone(wavefronts, tiny_cu, watch_cu):
    seen = watch_cu(wavefronts.make(*[["scalar"] * 4] * 8), tiny_cu())
    for cycle, _, slot, _ in seen.issues:
        assert cycle % 4 == slot % 4
    assert seen.of(0)[0] == FIRST
    assert seen.of(1)[0] == FIRST + 1


def test_five_wavefronts_issue_to_five_units_in_a_cycle(wavefronts, tiny_cu, watch_cu):
    kinds = ["scalar", "branch", "valu", ("lds", 0), ("load", 4096)]
    programs = [["barrier", kind] for kind in kinds]  # the code of all is there when it opens
    seen = watch_cu(wavefronts.make(*programs), tiny_cu(sm__subcores=1))
    assert len({seen.of(slot)[1] for slot in range(5)}) == 1
    assert len(seen.issues) == 10


def test_a_wavefront_never_issues_twice_in_a_cycle(wavefronts, tiny_cu, watch_cu):
    program = ["scalar", "valu", ("lds", 0), ("load", 4096), "branch", "end"]
    seen = watch_cu(wavefronts.make(*[program] * 10), tiny_cu(sm__subcores=1))
    for slot in range(10):
        cycles = seen.of(slot)
        assert len(cycles) == len(program) == len(set(cycles))


@pytest.mark.parametrize("kind", ["scalar", "branch", ("lds", 0), ("load", 4096), "valu"])
def test_a_unit_takes_one_instruction_a_cycle_the_oldest_first(wavefronts, tiny_cu, watch_cu, kind):
    seen = watch_cu(wavefronts.make([kind], [kind], [kind]), tiny_cu(sm__subcores=1))
    cycles = [seen.of(slot)[0] for slot in range(3)]
    assert cycles == sorted(set(cycles))


@pytest.mark.parametrize(
    ("kind", "gpu", "cycles"),
    [
        ("valu", "HD7770", 4),
        ("transcendental", "HD7770", 16),
        ("multiply", "HD7770", 16),
        ("add_f64", "HD7970", 8),
        ("f64", "HD7970", 16),
        ("add_f64", "HD7870", 64),
        ("f64", "HD7870", 64),
        ("scalar", "HD7770", 4),
        ("branch", "HD7770", 4),
    ],
)
def test_a_wavefront_goes_on_after(wavefronts, tiny_cu, watch_cu, kind, gpu, cycles):
    seen = watch_cu(wavefronts.make([kind] * 4), tiny_cu(gpu))
    assert gaps(seen.of(0)) == [cycles] * 3


@pytest.mark.parametrize(
    ("kind", "parameter", "value", "cycles"),
    [
        ("valu", "sm.units.valu.operations.FP32", 8, 8),
        ("valu", "sm.units.valu.operations.FP32", 9, 12),
        ("scalar", "sm.units.scalar.operations.SCALAR", 4, 4),
        ("scalar", "sm.units.scalar.operations.SCALAR", 5, 8),
        ("branch", "cu.branch_latency", 16, 16),
        ("branch", "cu.branch_latency", 17, 20),
    ],
)
def test_latencies_count_in_turns(wavefronts, tiny_cu, watch_cu, kind, parameter, value, cycles):
    gpu = tiny_cu(**{parameter.replace(".", "__"): value})
    assert gaps(watch_cu(wavefronts.make([kind] * 3), gpu).of(0)) == [cycles] * 2


def test_a_simd_is_busy_for_four_cycles_whoever_asks(wavefronts, tiny_cu, watch_cu):
    seen = watch_cu(wavefronts.make(["valu"] * 3, ["valu"] * 3), tiny_cu(sm__subcores=1))
    assert gaps(sorted(seen.of(0) + seen.of(1))) == [4] * 5


def test_simds_compute_side_by_side(wavefronts, tiny_cu, watch_cu):
    seen = watch_cu(wavefronts.make(*[["valu"] * 5] * 4), tiny_cu())
    for slot in range(4):
        assert seen.of(slot) == [FIRST + slot + 4 * k for k in range(5)]


@pytest.mark.parametrize(("interval", "apart"), [(4, 4), (5, 5), (1, 4)])
def test_vector_memory_of_a_cu_goes_on_its_way_every_four_cycles(
    wavefronts, tiny_cu, watch_cu, interval, apart
):
    """Hits: data is there l1.latency after the issue, and that of the next one four cycles later.

    So it is whether they leave at once (the interval of a CU) or have addresses (16 a cycle).
    """
    wait = wavefronts.wait(vector=0)
    program = [("load", 4096), wait, "barrier", ("load", 4096), wait]
    gpu = tiny_cu(sm__subcores=1, sm__memory__accept_interval=interval, l1__bytes_per_cycle=256)
    seen = watch_cu(wavefronts.make(*[program] * 4), gpu)
    (first, ready), *others = [seen.of(slot)[3:] for slot in range(4)]
    assert ready == first + gpu.l1.latency
    assert [end for _, end in others] == [ready + apart * k for k in (1, 2, 3)]


@pytest.mark.parametrize("latency", [100, 101])
def test_a_hit_takes_the_latency_of_the_l1(wavefronts, tiny_cu, watch_cu, latency):
    wait = wavefronts.wait(vector=0)
    program = [("load", 4096), wait, ("load", 4096), wait]
    cycles = watch_cu(wavefronts.make(program), tiny_cu(sm__subcores=1, l1__latency=latency)).of(0)
    assert cycles[3] - cycles[2] == latency


@pytest.mark.parametrize("entries", [1, 2, 3, 4])
def test_a_full_vector_memory_buffer_holds_the_next(wavefronts, tiny_cu, watch_cu, entries):
    """An entry is free when the data is there, which the wavefront can use four cycles later."""
    wait = wavefronts.wait(vector=0)
    programs = [[("load", (k + 1) << 20), wait] for k in range(4)]
    gpu = tiny_cu(sm__subcores=1, cu__vector_memory_buffer=entries)
    seen = watch_cu(wavefronts.make(*programs), gpu)
    issued, ready = zip(*(seen.of(slot) for slot in range(4)))
    assert list(issued[:entries]) == list(range(1, entries + 1))
    assert list(issued[entries:]) == [end - 4 for end in ready[: 4 - entries]]


def test_the_buffer_is_taken_from_issue_to_the_end(wavefronts, tiny_cu, watch_cu):
    seen = watch_cu(
        wavefronts.make([("load", 4096), wavefronts.wait(vector=0), "scalar"]), tiny_cu()
    )
    issued, _, after = seen.of(0)
    assert after - 8 <= issued + seen.counters["buffered_cycles"] <= after


def test_operations_are_lanes_of_vectors_and_scalars(wavefronts, tiny_cu, watch_cu):
    program = ["valu", "scalar", "branch", ("load", 4096), wavefronts.wait()]
    seen = watch_cu(wavefronts.make(program, program, masks=[0xFF, (1 << 64) - 1]), tiny_cu())
    assert seen.counters["operations"] == (2 * 8 + 3) + (2 * 64 + 3)
    assert seen.counters["thread_instructions"] == 5 * 8 + 5 * 64


def test_a_barrier_opens_for_the_last(wavefronts, tiny_cu, watch_cu):
    gpu = tiny_cu(sm__barrier_latency=4)
    slow = ["transcendental"] * 5 + ["barrier", "scalar"]
    seen = watch_cu(wavefronts.make(["barrier", "scalar"], slow), gpu)
    came = seen.of(1)[5]
    assert came + 4 <= seen.of(0)[1] < came + 8
    assert seen.of(0)[0] == FIRST


def test_a_barrier_without_lanes_is_one(wavefronts, tiny_cu, watch_cu):
    slow = ["transcendental"] * 5 + ["barrier", "scalar"]
    seen = watch_cu(wavefronts.make(["barrier", "scalar"], slow, masks=[0, 1]), tiny_cu())
    assert seen.of(0)[1] > seen.of(1)[5]


def test_every_cycle_of_a_simd_is_counted_once(wavefronts, tiny_cu, watch_cu):
    program = ["valu", ("load", 4096), wavefronts.wait(vector=0), "transcendental", "valu"]
    seen = watch_cu(wavefronts.make(*[program] * 8), tiny_cu())
    assert seen.stalls.sum() == 4 * seen.counters["active_cycles"]
