"""What holds between counters, and between cycles of GPUs, whatever the numbers are."""

import pytest

import lockstep
from lockstep.builder import KernelBuilder
from lockstep.model.counters import Stall
from lockstep.workload import MemoryCopy

PLACE = 0x7F0000000000
ATOMICS = ("RED.E.ADD.STRONG.GPU [R2], R4", "ATOMG.E.ADD.STRONG.GPU PT, R4, [R2], R6")


@pytest.mark.parametrize("text", ATOMICS)
@pytest.mark.parametrize("gpu", ["QV100", "RTX2060", "H100_SXM", "KEPLER_TITAN"])
def test_atomics_that_miss_take_no_less_than_those_that_hit(gpu, text):
    grid, rounds = 40, 8
    k = KernelBuilder("k", grid=grid, block=128)
    with k.loop(rounds):  # all lanes of a warp on one word, which no other warp has
        k(text, address=lambda at: PLACE + 32 * ((at.cta * 4 + at.warp) * rounds + at.i))
    copy = MemoryCopy(PLACE, 32 * grid * 4 * rounds)
    cold, warm = (lockstep.simulate(k.workload(*c), lockstep.gpu(gpu)) for c in ((), (copy,)))
    busy = [int(r.run.partition["l2_atomic_busy"].sum()) for r in (cold, warm)]
    assert busy[0] == busy[1] > 0
    assert cold.cycles >= warm.cycles


@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("between", [0, 4, 8])
def test_waits_for_shared_memory_are_short(between, control):
    def bits(**given):
        return given if control else {}

    k = KernelBuilder("k", grid=1, block=32, registers=64, shared_bytes=1024)
    with k.loop(20):
        k("LDS R4, [R2]", address=k.coalesced(0, 4), **bits(stall=1, write_barrier=0))
        for n in range(between):
            k(f"FFMA R{20 + 2 * n}, R6, R7, R9", **bits(stall=1))
        k("FFMA R8, R4, R4, R8", **bits(stall=4, wait=(0,)))
    if control:
        k("EXIT", stall=1)
    stalls = lockstep.simulate(k.workload(), lockstep.gpu("H100_SXM")).run.sm["stalls"].sum(axis=0)
    assert stalls[Stall.LONG_SCOREBOARD] == 0 < stalls[Stall.SHORT_SCOREBOARD]


def test_a_barrier_of_a_load_from_memory_and_one_from_shared_memory_is_long():
    k = KernelBuilder("k", grid=1, block=32, registers=64, shared_bytes=1024)
    with k.loop(20):
        k("LDS R4, [R2]", address=k.coalesced(0, 4), stall=1, write_barrier=0)
        k("LDG.E R6, [R2]", address=k.coalesced(PLACE, 4), stall=1, write_barrier=0)
        k("FFMA R8, R4, R6, R8", stall=4, wait=(0,))
    k("EXIT", stall=1)
    stalls = lockstep.simulate(k.workload(), lockstep.gpu("H100_SXM")).run.sm["stalls"].sum(axis=0)
    assert stalls[Stall.LONG_SCOREBOARD] > stalls[Stall.SHORT_SCOREBOARD]


@pytest.mark.parametrize("gpu", ["TITANX", "QV100"])
def test_what_register_banks_take_is_counted(gpu):
    def run(*registers):
        k = KernelBuilder("k", grid=64, block=256, registers=64, architecture=60)
        with k.loop(50):
            k("FFMA R52, R{}, R{}, R{}".format(*registers))
        return lockstep.simulate(k.workload(), lockstep.gpu(gpu))

    spread, same = run(1, 2, 3), run(16, 32, 48)
    counts = [r.total["sim__operand_conflict_cycles.sum"] for r in (spread, same)]
    assert same.cycles > spread.cycles
    assert counts[1] > counts[0]


def test_ideal_banks_are_those_of_shared_memory_alone():
    k = KernelBuilder("k", grid=8, block=256)
    with k.loop(16):  # words of lines that are there, all in one bank of the L1
        k("LDG.E R4, [R2]", address=lambda at: PLACE + 128 * at.lane)
    ideal, real = (
        lockstep.simulate(k.workload(), lockstep.gpu("H100_SXM", changes))
        for changes in (["ideal.banks=true"], [])
    )
    assert ideal.cycles == real.cycles


@pytest.mark.parametrize("gpu", ["A100", "H100_SXM", "TITANX"])
@pytest.mark.parametrize("block", [32, 128, 96])
@pytest.mark.parametrize("most", [1, 16])
def test_ctas_are_resident_from_their_start_to_their_end(gpu, block, most):
    """Short ones, which end before others start that were told of with them."""
    k = KernelBuilder(
        "k", grid=300, block=block, registers=32, shared_bytes=0 if most > 1 else 40000
    )
    with k.loop(3):
        k("FFMA R4, R5, R6, R4")
    ended = []

    def stop(kernel, cycle, counters):
        ended[:] = [counters.ended]
        return False

    where = lockstep.gpu(gpu, ["sm.count=1"])
    result = lockstep.simulate(k.workload(), where, stop=stop, stop_interval=1)
    (ctas,) = ended
    assert len(ctas) == 300
    active, reached = 0, 0
    for start, end in sorted((cta.start, cta.end) for cta in ctas):
        active += max(end - max(start, reached), 0)
        reached = max(reached, end)
    run = result.run.sm
    assert run["active_cycles"].sum() == active < result.cycles
    assert run["warp_cycles"].sum() == sum(cta.lasted for cta in ctas)
    assert run["stalls"].sum() == active * where.sm.subcores
