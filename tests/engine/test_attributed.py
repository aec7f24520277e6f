"""What instructions did: all that the counters say of a kernel, and what they did not change."""

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import lockstep
import wavefront_programs
from engine.stopping import WHO, Stop, StopAfter
from lockstep.builder import KernelBuilder, program
from lockstep.engine import attributed, checkpoint, run
from lockstep.engine.machine import Machine
from lockstep.gpus import library
from lockstep.model.core.attribution import ATTRIBUTED, NOT_SELECTED
from lockstep.model.counters import Stall

A = 0x7F0000000000
COUNTED = [name for name in ATTRIBUTED.names if name != "stalls"]


def check_sums(kernel, idle=False):
    """Each field sums to the counter of its name; no reason is another's."""
    counts = kernel.source.counts
    for name in set(COUNTED) & set(kernel.sm.dtype.names):
        if name == "warp_cycles" and idle:  # a warp that issues nothing waits at no instruction
            assert counts[name].sum() <= kernel.sm[name].sum()
        else:
            assert counts[name].sum() == kernel.sm[name].sum(), name
    ours, all_ = counts["stalls"].sum(axis=0), kernel.sm["stalls"].sum(axis=0)
    for reason in Stall:
        due = 0 if reason in (Stall.ISSUED, Stall.NO_WARP) else all_[reason]
        assert ours[reason] == due, reason
    assert counts["l2_hit_sectors"].sum() <= counts["reply_sectors"].sum()
    states, warps = counts["states"].sum(), kernel.ctas * warps_of(kernel)
    if not idle:  # each warp is in one state in each cycle, that of its last issue among them
        assert states == counts["warp_cycles"].sum() + warps
    assert (counts["states"] >= 0).all()


def warps_of(kernel):
    return -(-kernel.block[0] // (64 if kernel.dependence == "counters" else 32))


@pytest.fixture(scope="module")
def counted(small, mixed):
    """Function from options to a run of kernels one behind the other, which counts instructions."""

    def make(**options):
        several = program(mixed("a", grid=30), mixed("b", grid=20, stream=1))
        return run(several, small(sm__ctas=3), source=True, interval=1000, **options)

    return make


@pytest.fixture(scope="module")
def alone(counted):
    return counted()


def source_of(result):
    return [(k.source.pcs, k.source.texts, k.source.counts.tobytes()) for k in result.kernels]


def test_fields_sum_to_the_counters_of_a_kernel(small, mixed):
    for gpu in (small(), small(l1__waiting=8, l1__mshr_entries=4), small(sm__subcores=2)):
        (kernel,) = run(program(mixed()), gpu, source=True).kernels
        check_sums(kernel)
        counts = kernel.source.counts
        memory = kernel.partition
        hits = memory["l2_read_hits"].sum()  # its atomics return nothing
        assert counts["l2_hit_sectors"].sum() == hits
        read = memory["l2_read_sectors"].sum()
        assert counts["reply_sectors"].sum() == read > hits > 0


@given(st.data())
@settings(max_examples=15)
def test_fields_sum_to_the_counters_of_random_programs(programs, data):
    workload, gpu, changes = data.draw(programs.runs(most=1))
    note(changes)
    for kernel in run(workload, gpu, source=True, limit_cycles=20000).kernels:
        check_sums(kernel, idle=True)


def test_fields_of_compute_units_sum_to_their_counters():
    wait = wavefront_programs.wait
    steps = [
        ("scalar_load", 64), wait(lgkm=0), "scalar", "valu",
        *(("load", 1 << k) for k in range(9, 13)),
        wait(vector=0), ("lds", 0, 8), wait(lgkm=0), "barrier", "transcendental",
        ("store", 1 << 20), wait(export=0), "branch", "end",
    ]  # fmt: skip
    workload = wavefront_programs.make(*[steps] * 4, groups=30, lds=4096)
    changes = ["sm.count=3", "cu.neighbours=2,1", "dram.channels=2"]
    off = lockstep.simulate(workload, lockstep.gpu("HD7770", changes))
    on = lockstep.simulate(workload, off.gpu, source=True, threads=2)
    assert on.hash == off.hash
    (kernel,) = on.run.kernels
    counts = kernel.source.counts
    check_sums(kernel)
    assert len(counts) == 4 * len(steps)
    assert (counts["warp_instructions"] == 30).all()


@pytest.mark.long
def test_an_l1_under_a_coherence_protocol_is_known_by_instruction():
    steps = [("load", 0), ("load", 4096), wavefront_programs.wait(vector=0), ("store", 0), "end"]
    workload = wavefront_programs.make(*[steps] * 2, groups=6)
    gpu = lockstep.gpu("HD7770", ["sm.count=2", "dram.channels=2", "coherence.protocol=nmoesi"])
    (kernel,) = lockstep.simulate(workload, gpu, source=True).run.kernels
    counts = kernel.source.counts
    for name in ("l1_global_read_sectors", "l1_global_read_hits", "l1_global_write_sectors"):
        assert counts[name].sum() == kernel.sm[name].sum(), name
    assert counts["l1_global_write_sectors"][3] > 0


def test_nobody_else_notices(small, mixed, raw, counted, alone):
    several = program(mixed("a", grid=30), mixed("b", grid=20, stream=1))
    off = run(several, small(sm__ctas=3), interval=1000)
    assert raw(off) == raw(alone)
    assert all(kernel.source is None for kernel in off.kernels)


def test_kernels_side_by_side_have_rows_of_their_own(alone):
    for kernel in alone.kernels:
        issued = kernel.source.counts["warp_instructions"]
        assert issued.sum() == kernel.warp_instructions < kernel.sm["warp_instructions"].sum()


@pytest.mark.parametrize("how", [{"threads": 3}, {"ranks": 2}, {"ranks": 3, "threads": 2}])
def test_threads_and_ranks_change_nothing(counted, alone, how):
    assert source_of(counted(**how)) == source_of(alone)


@pytest.mark.parametrize("ranks", [(1, 1), (2, 1), (1, 3)])
def test_a_run_that_goes_on_counts_what_it_had(counted, alone, tmp_path, ranks):
    before, after = ranks
    for windows in (2, 9):
        with pytest.raises(Stop):
            counted(keep=StopAfter(windows, tmp_path), ranks=before, threads=2)
        frozen = checkpoint.load(tmp_path, WHO)
        assert source_of(counted(frozen=frozen, ranks=after)) == source_of(alone)


def test_rows_follow_code_that_moves(small):
    """A trace reveals its code with its CTAs: what is known of a kernel moves as it grows."""
    machine = Machine(small(), 2, {}, source=True)
    machine.close()
    sms = machine.sm
    rows = sms.attribution.rows.view(np.ndarray)
    rows[:2, 4:6]["warp_instructions"] = [[1, 2], [10, 20]]
    attributed.move(sms, 4, 8, 2, 3)
    assert rows["warp_instructions"][:, 4:12].tolist() == [
        [0, 0, 0, 0, 1, 2, 0, 0],
        [0, 0, 0, 0, 10, 20, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]
    larger = attributed.grown(sms, 1 << 10)["attribution"]
    assert larger.rows.shape == (3, 1 << 10)
    summed = attributed.summed(sms._replace(attribution=larger), 8, 3, lambda sums: sums)
    assert summed["warp_instructions"].tolist() == [11, 22, 0]


def one_warp(*lines):
    k = KernelBuilder("k", grid=1, block=32)
    for line in lines:
        k(line)
    k("EXIT")
    return k


@pytest.fixture
def single(small):
    """Function from lines to the rows of a kernel with one warp on one SM, by opcode."""

    def rows(*lines):
        gpu = small(sm__count=1)
        (kernel,) = run(program(one_warp(*lines)), gpu, source=True).kernels
        return dict(zip(kernel.source.texts, kernel.source.counts)), kernel

    return rows


def test_a_warp_waits_at_the_instruction_that_needs_a_result(single):
    rows, kernel = single("FADD R4, R1, R2", "FMUL R5, R4, R4")
    latency = 4  # of both: QV100's fp32
    assert rows["FMUL"]["stalls"][Stall.SCOREBOARD] == latency - 1
    assert rows["FMUL"]["warp_cycles"] == latency
    assert rows["FADD"]["stalls"][Stall.SCOREBOARD] == 0
    states = rows["FMUL"]["states"]
    assert (states[Stall.ISSUED], states[Stall.SCOREBOARD], states.sum()) == (1, 3, 4)
    check_sums(kernel)


def test_a_warp_that_could_issue_waits_for_another_one(small):
    """Two warps of a sub-core, the older first: the younger is ready a cycle before it issues."""
    gpu = small(sm__count=1)
    k = KernelBuilder("k", grid=1, block=32 * (gpu.sm.subcores + 1))
    k("FADD R4, R1, R2")
    k("MOV R5, R1")
    k("EXIT")
    (kernel,) = run(program(k), gpu, source=True).kernels
    check_sums(kernel)
    assert kernel.source.counts["states"][:, NOT_SELECTED].sum() > 0


def test_sleep_and_barriers_are_of_the_instruction_that_began_them(single):
    rows, kernel = single("NANOSLEEP 0x64", "NOP", "BAR.SYNC 0x0", "FADD R4, R1, R2")
    for opcode, reason in (("NANOSLEEP", Stall.SLEEP), ("BAR.SYNC", Stall.BARRIER)):
        assert rows[opcode]["stalls"][reason] == kernel.sm["stalls"].sum(axis=0)[reason] > 0
    check_sums(kernel)


def test_a_fence_waits_at_itself_before_and_after_its_issue(small):
    k = KernelBuilder("k", grid=1, block=32)
    k("STG.E [R2], R9", address=k.coalesced(A))
    k("MEMBAR.SC.GPU")
    k("FADD R4, R1, R2")
    k("EXIT")
    (kernel,) = run(program(k), small(sm__count=1), source=True).kernels
    stalls = dict(zip(kernel.source.texts, kernel.source.counts["stalls"][:, Stall.FENCE]))
    assert stalls["MEMBAR.SC.GPU"] == kernel.sm["stalls"].sum(axis=0)[Stall.FENCE] > 0


def test_a_tile_of_an_h100_counts_what_it_copies(small):
    """Bulk copies go past the L1, and are of the instruction that began them."""
    gpu = library.replace(library.gpu("H100_SXM"), **{"sm.count": 2, "dram.channels": 2})
    k = KernelBuilder("k", grid=2, block=32, architecture=90, shared_bytes=4096)
    with k.lanes(lambda at: at.lane == 0):
        k("UBLKCP [UR4], [UR6], UR8", address=k.coalesced(A))
    k("EXIT")
    (kernel,) = run(program(k), gpu, source=True).kernels
    check_sums(kernel)
