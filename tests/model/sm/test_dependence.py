"""Two models of dependence: a scoreboard, and the compiler's control bits."""

from types import SimpleNamespace

import pytest

from lockstep.builder import KernelBuilder
from lockstep.errors import WorkloadError
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.clock import NEVER
from lockstep.model.core.state import LONG, SHORT
from lockstep.model.counters import Stall
from lockstep.model.sm import dependence

pytestmark = pytest.mark.plain
A = 0x7F0000000000


def warp_of(*lines, **control):
    """A kernel of one warp."""
    k = KernelBuilder("probe", grid=1, block=32)
    for text in lines:
        address = 0 if "LDS" in text or "STS" in text else A if "[" in text else None
        k(text, address=address)
    return k.workload()


def controlled(*lines):
    """A kernel of one warp whose instructions have control bits; (text, bits) each."""
    k = KernelBuilder("probe", grid=1, block=32)
    for text, bits in lines:
        k(text, address=A if "[" in text else None, **{"stall": 1} | bits)
    k("EXIT", stall=1)
    return k.workload()


def latency(gpu, op):
    return operations(gpu)[op].latency


def interval(gpu, op):
    return operations(gpu)[op].interval


@pytest.mark.parametrize(
    "first, second, op, reason",
    [
        ("FFMA R1, R2, R3, R4", "FFMA R5, R1, R3, R4", OpClass.FP32, Stall.SCOREBOARD),
        ("FFMA R1, R2, R3, R4", "IADD3 R1, R2, R3, R4", OpClass.FP32, Stall.SCOREBOARD),
        ("DFMA R4, R2, R6, R8", "MOV R1, R5", OpClass.FP64, Stall.SCOREBOARD),
        ("ISETP.NE.AND P0, PT, R1, R2, PT", "@P0 MOV R1, R5", OpClass.INT32, Stall.SCOREBOARD),
        ("MUFU.RCP R1, R2", "FFMA R5, R1, R3, R4", OpClass.SFU, Stall.SHORT_SCOREBOARD),
        ("SHFL.IDX PT, R1, R2, R3, 0x1f", "MOV R5, R1", OpClass.SHUFFLE, Stall.SHORT_SCOREBOARD),
        ("S2R R1, SR_TID.X", "MOV R5, R1", OpClass.SPECIAL_REGISTER, Stall.SHORT_SCOREBOARD),
    ],
)
def test_scoreboard_holds_a_dependent_instruction_for_the_latency(
    watch, tiny, first, second, op, reason
):
    gpu = tiny()
    seen = watch(warp_of(first, second), gpu)
    assert seen.of(0)[:2] == [0, latency(gpu, op)]
    assert seen.stalls[reason] == latency(gpu, op) - 1


def test_scoreboard_lets_independent_instructions_follow(watch, tiny):
    seen = watch(warp_of("FFMA R1, R2, R3, R4", "IADD3 R2, R5, R6, R7", "MOV R8, R9"), tiny())
    assert seen.of(0)[:2] == [0, 1], "an earlier source may be overwritten"
    assert seen.of(0)[2] == 1 + interval(tiny(), OpClass.INT32)


def test_scoreboard_waits_for_a_load_from_global_and_shared_memory(watch, tiny):
    gpu = tiny()
    seen = watch(warp_of("LDS R1, [R2]", "MOV R5, R1"), gpu)
    assert seen.of(0)[:2] == [0, gpu.shared.latency]
    assert seen.stalls[Stall.SHORT_SCOREBOARD] == gpu.shared.latency - 1
    seen = watch(warp_of("LDG.E R1, [R2]", "MOV R5, R1"), gpu)
    assert seen.of(0)[1] > gpu.l2.latency
    assert seen.stalls[Stall.LONG_SCOREBOARD] == seen.of(0)[1] - 1


def test_stall_counts_replace_the_scoreboard(watch, tiny):
    lines = [("FFMA R1, R2, R3, R4", {"stall": 3}), ("FFMA R5, R1, R3, R4", {"stall": 2})]
    seen = watch(controlled(*lines, ("MOV R1, R2", {})), tiny())
    assert seen.of(0) == [0, 3, 5, 6], "the compiler is trusted, whatever the latency"
    assert seen.stalls[Stall.WAIT] == 2 + 1
    assert seen.run.kernels[0].dependence == "control"


def test_a_wait_mask_waits_for_the_write_barrier_of_a_load(watch, tiny):
    gpu = tiny()
    load = ("LDG.E R1, [R2]", {"write_barrier": 2})
    seen = watch(controlled(load, ("MOV R3, R1", {}), ("MOV R4, R1", {"wait": (2,)})), gpu)
    _, first, second, _ = seen.of(0)
    assert first == 1, "without a wait nobody looks at the register"
    assert second > gpu.l2.latency
    assert seen.stalls[Stall.LONG_SCOREBOARD] == second - first - 1


def test_a_read_barrier_falls_when_the_addresses_are_read(watch, tiny):
    gpu = tiny()
    store = ("STG.E [R2], R4", {"read_barrier": 1})
    seen = watch(controlled(store, ("MOV R4, R1", {"wait": (1,)})), gpu)
    assert seen.of(0)[:2] == [0, gpu.sm.memory.address_interval]


def test_a_write_barrier_of_a_fixed_latency_operation(watch, tiny):
    gpu = tiny()
    lines = [("MUFU.RCP R1, R2", {"write_barrier": 0}), ("MOV R4, R1", {"wait": (0,)})]
    seen = watch(controlled(*lines), gpu)
    assert seen.of(0)[:2] == [0, latency(gpu, OpClass.SFU)]
    assert seen.stalls[Stall.SHORT_SCOREBOARD] == latency(gpu, OpClass.SFU) - 1


def test_a_barrier_of_two_loads_falls_with_the_last(watch, tiny):
    def second_wait(addresses):
        k = KernelBuilder("two", grid=1, block=32)
        for address in addresses:
            k("LDG.E R1, [R2]", address=address, stall=1, write_barrier=0)
        k("MOV R3, R1", stall=1, wait=(0,))
        k("EXIT", stall=1)
        return watch(k.workload(), tiny()).of(0)[2]

    near = second_wait([A, A])
    assert second_wait([A, A + (1 << 20)]) > near
    assert second_wait([A + (1 << 20), A]) > near


def test_dependence_can_be_forced(watch, tiny):
    lines = [("FFMA R1, R2, R3, R4", {"stall": 1}), ("FFMA R5, R1, R3, R4", {})]
    gpu = tiny(sm__scheduler__dependence="scoreboard")
    assert watch(controlled(*lines), gpu).of(0)[1] == latency(gpu, OpClass.FP32)
    gpu = tiny(sm__scheduler__dependence="control")
    with pytest.raises(WorkloadError, match="carry no control bits"):
        watch(warp_of("FFMA R1, R2, R3, R4"), gpu)


def test_one_instruction_without_control_bits_means_the_scoreboard(watch, tiny):
    k = KernelBuilder("mixed", grid=1, block=32)
    k("FFMA R1, R2, R3, R4", stall=1)
    k("FFMA R5, R1, R3, R4")
    seen = watch(k.workload(), tiny())
    assert seen.run.kernels[0].dependence == "scoreboard"
    assert seen.of(0)[1] == latency(tiny(), OpClass.FP32)


def test_barriers_count_up_and_down():
    warp = SimpleNamespace(pending=[0] * 6, clear=[0] * 6, far=0)
    unknown = SimpleNamespace(write_barrier=3, read_barrier=7, space=int(Space.GLOBAL))
    near = SimpleNamespace(write_barrier=4, read_barrier=7, space=int(Space.SHARED))
    dependence.raise_barriers(warp, unknown, NEVER, 5)
    dependence.raise_barriers(warp, unknown, NEVER, 6)
    dependence.raise_barriers(warp, near, NEVER, 6)
    assert dependence.barriers_clear(warp, 1 << 3) == NEVER << 2 | LONG
    assert dependence.barriers_clear(warp, 1 << 4) == NEVER << 2 | SHORT
    assert dependence.barriers_clear(warp, 3 << 3) == NEVER << 2 | LONG
    dependence.lower_barrier(warp, near, 20, SHORT)
    assert dependence.barriers_clear(warp, 1 << 4) == 20 << 2 | SHORT
    dependence.lower_barrier(warp, unknown, 40, LONG)
    assert dependence.barriers_clear(warp, 1 << 3) == NEVER << 2 | LONG
    dependence.lower_barrier(warp, unknown, 30, LONG)
    assert dependence.barriers_clear(warp, 1 << 3) == 40 << 2 | LONG
    assert dependence.barriers_clear(warp, 0b100111) == 0
    known = SimpleNamespace(write_barrier=7, read_barrier=5, space=0)
    dependence.raise_barriers(warp, known, 99, 50)
    assert dependence.barriers_clear(warp, 0b111111) == 50 << 2 | SHORT
    dependence.raise_barriers(warp, near, NEVER, 6)
    assert dependence.barriers_clear(warp, 1 << 4) == NEVER << 2 | SHORT
