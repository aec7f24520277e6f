"""Whole runs: what they count, when kernels run, how they end early."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.builder import KernelBuilder, program
from lockstep.engine import run
from lockstep.engine.record import totals
from lockstep.errors import LockstepError, WorkloadError
from lockstep.frontend.accelsim import load
from lockstep.gpus import library
from lockstep.metrics.facts import of_kernel
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS
from lockstep.workload import WARP, MemoryCopy, Workload

A = 0x7F0000000000


def instructions(kernel):
    """Warp and thread instructions of all CTAs."""
    tables = [cta.warps for cta in kernel.ctas()]
    return tuple(
        sum(int(t[name].sum()) for t in tables)
        for name in ("warp_instructions", "thread_instructions")
    )


def check(result, workload, gpu):
    """What every complete run must fulfil."""
    assert result.stopped == ""
    assert Counter(k.id for k in result.kernels) == Counter(k.id for k in workload.kernels)
    for k in result.kernels:
        (kernel,) = [w for w in workload.kernels if w.id == k.id]
        assert k.complete and k.launched <= k.start <= k.end <= result.cycles
        assert (k.warp_instructions, k.thread_instructions) == instructions(kernel)
        total = totals(k.sm)
        assert total["active_cycles"] <= gpu.sm.count * k.running
        assert total["active_cycles"] * gpu.sm.subcores == total["stalls"].sum()
    _check_sums(result, workload)
    _check_events(result, workload, gpu)


def _check_sums(result, workload):
    """Kernels that run side by side see each other's counters: only the union is exact."""
    streams = {k.stream for k in workload.kernels}
    if len(streams) > 1:
        return
    total = totals(np.concatenate([k.sm for k in result.kernels]))
    assert total["warp_instructions"] == sum(k.warp_instructions for k in result.kernels)
    assert total["thread_instructions"] == sum(k.thread_instructions for k in result.kernels)
    assert total["issued"].sum() == total["warp_instructions"]
    assert total["ctas"] == sum(k.n_ctas for k in workload.kernels)
    assert total["noc_replies"] >= total["noc_requests"], "every request is answered"


def _check_events(result, workload, gpu):
    if not len(result.cta_events):
        return
    for index, k in enumerate(result.kernels):
        events = result.cta_events[result.cta_events["kernel"] == index]
        count = k.grid[0] * k.grid[1] * k.grid[2]
        assert sorted(events["cta"]) == list(range(count))
        assert events["start"].min() == k.start and events["end"].max() == k.end
        assert (events["start"] < events["end"]).all()
        for s in range(gpu.sm.count):
            mine = events[events["sm"] == s]
            at_once = [((mine["start"] <= t) & (t < mine["end"])).sum() for t in mine["start"]]
            assert max(at_once, default=0) <= k.ctas_per_sm


def test_results_do_not_depend_on_threads(small, mixed, raw):
    gpu = small(sm__count=5, dram__channels=3)
    workload = program(mixed(), mixed("other", grid=7, stream=1), MemoryCopy(A, 4096), mixed())
    runs = [run(workload, gpu, threads=n, cta_events=True, interval=200) for n in (1, 2, 3, 9)]
    assert all(raw(r) == raw(runs[0]) for r in runs)
    assert all((r.samples == runs[0].samples).all() for r in runs)
    assert [r.threads for r in runs] == [1, 2, 3, 9]
    check(runs[0], workload, gpu)


@pytest.mark.long
@settings(max_examples=60)
@given(st.data())
def test_random_programs_run_to_their_end_on_any_gpu(programs, raw, data):
    workload, gpu, changes = data.draw(programs.runs())
    note(changes)
    result = run(workload, gpu, cta_events=True)
    check(result, workload, gpu)
    threads, interval = data.draw(st.integers(2, 3)), data.draw(st.sampled_from([1, 100, 5000]))
    again = run(workload, gpu, threads=threads, interval=interval, cta_events=True)
    assert raw(again) == raw(result), "neither threads nor samples change a result"


def test_kernels_of_one_stream_follow_each_other(small, mixed):
    gpu = small()
    workload = program(mixed("a", grid=2), mixed("b", grid=2), mixed("c", grid=2))
    result = run(workload, gpu)
    assert [k.name for k in result.kernels] == ["a", "b", "c"]
    for before, after in pairwise(result.kernels):
        assert before.end <= after.launched < before.end + gpu.interconnect.latency
        assert after.start == after.launched + gpu.launch.overhead


def test_kernels_of_different_streams_run_side_by_side(small, mixed):
    gpu = small()
    a, b = (mixed(name, grid=2, stream=n) for n, name in enumerate("ab"))
    alone = run(program(a), gpu).cycles
    both = run(program(a, b), gpu)
    assert {k.launched for k in both.kernels} == {0}
    assert both.cycles < 1.5 * alone
    check(both, program(a, b), gpu)


def test_kernels_that_overlap_count_each_other_but_the_run_counts_once(small, mixed):
    gpu = small(launch__overhead=700)
    short, long = mixed("short", grid=1, stream=1), mixed("long", grid=60)
    workload = program(MemoryCopy(A, 4096), short, mixed("later", grid=1, stream=1), long)
    result = run(workload, gpu)
    check(result, workload, gpu)
    total, memory = totals(result.sm), totals(result.partition)
    assert total["warp_instructions"] == sum(k.warp_instructions for k in result.kernels)
    assert total["issued"].sum() == total["warp_instructions"]
    assert memory["copy_sectors"] == 128, "which came before any kernel"
    later = result.kernels[1]
    assert later.name == "later" and later.start - later.launched == 700
    assert later.running > later.end - later.start, "the long kernel ran while it was launched"
    assert later.running <= later.cycles + gpu.interconnect.latency
    for k in result.kernels:
        assert totals(k.sm)["active_cycles"] <= gpu.sm.count * k.running
        assert of_kernel(k, gpu).launching == k.start - k.launched >= 700


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_no_more_kernels_at_a_time_than_slots(small, mixed, slots):
    gpu = small(launch__concurrent_kernels=slots)
    workload = program(*(mixed(f"k{n}", grid=2, stream=n) for n in range(5)))
    result = run(workload, gpu, cta_events=True)
    check(result, workload, gpu)
    spans = [(k.launched, k.end) for k in result.kernels]
    at_once = [sum(low <= t < high for low, high in spans) for t, _ in spans]
    assert max(at_once) == slots


def test_a_memory_copy_leaves_its_data_in_the_l2(small):
    k = KernelBuilder("reads", grid=4, block=128)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    cold = totals(run(k.workload(), small()).kernels[0].partition)
    warm_run = run(k.workload(MemoryCopy(A, 4 * 128 * 4)), small())
    warm = totals(warm_run.kernels[0].partition)
    assert cold["l2_read_hits"] == 0 and cold["dram_reads"] > 0
    assert warm["l2_read_hits"] == warm["l2_read_sectors"] == 4 * 128 * 4 // 32
    assert warm["dram_reads"] == 0
    assert warm_run.copies == [(A, 4 * 128 * 4)]


def test_the_l2_keeps_what_an_earlier_kernel_read(small):
    k = KernelBuilder("reads", grid=4, block=128)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    first, second = run(program(k, k), small()).kernels
    assert totals(first.partition)["l2_read_hits"] == 0
    assert totals(second.partition)["dram_reads"] == 0
    assert totals(second.sm)["l1_global_read_hits"] == 0, "kernels start with an empty L1"
    _, kept = run(program(k, k), small(launch__flush_l1=False)).kernels
    assert totals(kept.sm)["l1_global_read_hits"] > 0


def test_a_flushed_l2_reads_again_what_an_earlier_kernel_or_a_copy_left(small):
    k = KernelBuilder("reads", grid=4, block=128)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    commands = MemoryCopy(A, 4 * 128 * 4), k, k
    kept = run(program(*commands), small()).kernels
    assert [totals(x.partition)["dram_reads"] for x in kept] == [0, 0]
    flushed = run(program(*commands), small(launch__l2="flush")).kernels
    first, second = (totals(x.partition) for x in flushed)
    assert first["dram_reads"] == second["dram_reads"] > 0
    assert second["l2_read_hits"] == 0


def test_a_flushed_l2_forgets_what_was_written(small):
    k = KernelBuilder("writes", grid=4, block=128)
    k("STG.E [R2], R1", address=k.coalesced(A))
    gpu = small(launch__l2="flush")
    _, second = run(program(k, k), gpu).kernels
    assert totals(second.partition)["dram_writes"] == 0, "a flush is not counted"


def test_a_copy_waits_for_the_kernels_before_it(small, mixed):
    k = KernelBuilder("reads", grid=1, block=32)
    k("LDG.E R1, [R2]", address=k.coalesced(A + (1 << 25)))
    workload = program(mixed(grid=2), MemoryCopy(A + (1 << 25), 128), k)
    result = run(workload, small())
    assert result.kernels[1].launched >= result.kernels[0].end
    assert totals(result.kernels[1].partition)["dram_reads"] == 0


def test_selected_kernels_run_alone(small, mixed):
    workload = program(mixed("a", grid=1), mixed("b", grid=2), mixed("c", grid=3))
    result = run(workload, small(), kernels={1, 3})
    assert [(k.id, k.name) for k in result.kernels] == [(1, "a"), (3, "c")]
    assert run(workload, small(), kernels=set()).kernels == []


@pytest.mark.parametrize("limit", [1, 100, 150, 1000, 2500])
def test_a_cycle_limit_ends_the_run_in_its_window(small, mixed, limit):
    gpu = small()
    result = run(program(mixed(), mixed()), gpu, limit_cycles=limit)
    assert limit <= result.cycles < limit + gpu.interconnect.latency
    assert result.stopped == f"cycle limit of {limit} reached"
    (k,) = result.kernels
    assert not k.complete and k.end == result.cycles
    assert totals(k.sm)["active_cycles"] * gpu.sm.subcores == totals(k.sm)["stalls"].sum()


def test_a_limit_that_is_not_reached_changes_nothing(small, mixed, raw):
    workload = mixed().workload()
    free = run(workload, small())
    limited = run(workload, small(), limit_cycles=free.cycles + 1, limit_instructions=1 << 40)
    assert raw(limited) == raw(free)


def test_an_instruction_limit_counts_all_kernels(small, mixed):
    workload = program(mixed(), mixed("second"))
    each = instructions(workload.kernels[0])[0]
    result = run(workload, small(), limit_instructions=each + 10)
    assert result.stopped == f"instruction limit of {each + 10} reached"
    first, second = result.kernels
    assert first.complete and not second.complete
    assert 10 <= second.warp_instructions == totals(second.sm)["warp_instructions"] < each


def test_partial_runs_are_the_beginning_of_whole_ones(small, mixed):
    workload = mixed().workload()
    whole = run(workload, small(), interval=1)
    part = run(workload, small(), limit_cycles=1000)
    (row,) = whole.samples[whole.samples["cycle"] == part.cycles]
    assert row["sm"] == totals(part.kernels[0].sm)
    assert row["partition"] == totals(part.kernels[0].partition)


def test_ctrl_c_keeps_what_there_is(small, mixed, monkeypatch):
    monkeypatch.setattr("lockstep.engine.progress.SECONDS", 0.0)
    seen = []

    def interrupt(*facts):
        seen.append(facts)
        if facts[2] > 3000:
            raise KeyboardInterrupt

    gpu = small()
    workload = program(mixed(), mixed("second"))
    result = run(workload, gpu, progress=interrupt, threads=2, interval=500)
    assert result.stopped == f"interrupted at cycle {result.cycles}"
    assert [k.complete for k in result.kernels][-1] is False
    last = result.kernels[-1]
    assert totals(last.sm)["active_cycles"] * gpu.sm.subcores == totals(last.sm)["stalls"].sum()
    done, total, cycle, count, name = seen[-1]
    assert total == 48 and 0 <= done <= total and cycle == result.cycles
    assert count > 0 and name in ("mixed", "second")


def test_ctrl_c_while_a_kernel_starts(small, mixed, raw):
    """Its first CTAs are read then, which takes a while; what was before it is kept whole."""

    def interrupted():
        raise KeyboardInterrupt
        yield

    whole = run(mixed().workload(), small())
    workload = program(mixed(), mixed("second"))
    workload.kernels[1].ctas = interrupted
    result = run(workload, small())
    assert result.stopped == f"interrupted at cycle {result.cycles}"
    first, second = result.kernels
    assert first.complete and not second.complete
    assert (first.sm == whole.kernels[0].sm).all()
    assert totals(second.sm)["warp_instructions"] == second.warp_instructions == 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_progress_only_grows(small, mixed, monkeypatch, ranks):
    monkeypatch.setattr("lockstep.engine.progress.SECONDS", 0.0)
    seen = []
    told = run(
        mixed().workload(), small(), ranks=ranks, progress=lambda *facts: seen.append(facts[:4])
    )
    assert seen and all(a <= b for one, two in pairwise(seen) for a, b in zip(one, two))
    assert seen[-1][:2] == (24, 24)
    executed = sum(kernel.warp_instructions for kernel in told.kernels)
    assert seen[-1][3] == pytest.approx(executed, rel=0.2 if ranks > 1 else 0)


@pytest.mark.parametrize("interval", [1, 70, 500, 10**9])
def test_samples_add_up_to_the_kernels(small, mixed, interval):
    workload = program(mixed(grid=5), mixed("second", grid=3))
    result = run(workload, small(), interval=interval)
    cycles = result.samples["cycle"]
    assert (np.diff(cycles) >= 0).all()
    assert cycles[-1] >= result.cycles
    for name, dtype in (("sm", SM_COUNTERS), ("partition", PARTITION_COUNTERS)):
        flat = np.ascontiguousarray(result.samples[name]).view(np.int64)
        flat = flat.reshape(len(cycles), -1)
        assert (np.diff(flat, axis=0) >= 0).all(), "counters only grow"
        every = totals(np.concatenate([getattr(k, name) for k in result.kernels]))
        if name == "sm":
            assert (flat[-1] == np.array(every, dtype).reshape(1).view(np.int64)).all()


def test_a_sample_is_taken_each_interval_as_far_as_windows_allow(small, mixed):
    gpu = small()
    result = run(mixed().workload(), gpu, interval=500)
    busy = result.samples["cycle"][:-1]
    assert ((busy % 500) < gpu.interconnect.latency).sum() >= len(busy) - 2
    assert len(busy) > 3


@pytest.mark.parametrize("interval", [1, 7, 50, 1000])
def test_no_interval_is_empty(small, mixed, interval):
    workload = program(mixed(), mixed(), MemoryCopy(A, 4096))
    result = run(workload, small(), interval=interval)
    cycles = result.samples["cycle"]
    assert len(cycles) and (np.diff(cycles) > 0).all()
    assert result.samples["partition"]["copy_sectors"][-1] == 128, "the copy behind the last kernel"


def test_no_interval_means_no_samples(small, mixed):
    result = run(mixed(grid=1).workload(), small())
    assert len(result.samples) == 0 and len(result.cta_events) == 0


def test_an_empty_workload(small):
    result = run(Workload("nothing", []), small(), interval=10)
    assert (result.cycles, result.kernels, result.stopped) == (0, [], "")
    result = run(Workload("copy", [MemoryCopy(A, 100)]), small())
    assert result.copies == [(A, 100)]


def test_warps_and_ctas_without_instructions(small):
    workload = KernelBuilder("empty", grid=9, block=96).workload()
    kernel = workload.kernels[0]
    made = kernel.ctas

    def emptied():
        for n, cta in enumerate(made()):
            cta.warps[n % 4 :] = np.zeros((), WARP)
            yield cta

    kernel.ctas = emptied
    gpu = small()
    result = run(workload, gpu, cta_events=True)
    assert (
        result.stopped == ""
        and result.kernels[0].warp_instructions == 0 + 1 + 2 + 3 + 0 + 1 + 2 + 3
    )
    assert len(result.cta_events) == 9


@pytest.mark.parametrize("interval", [61.0, 1000.0, 4096.0])
def test_a_slow_dispatcher_is_no_deadlock(small, interval):
    gpu = small(launch__cta_interval=interval)
    result = run(KernelBuilder("slow", grid=4, block=32).workload(), gpu, cta_events=True)
    assert result.stopped == ""
    start = gpu.launch.overhead
    assert sorted(result.cta_events["start"]) == [start + int(n * interval) for n in range(4)]


@pytest.mark.parametrize("parameter", ["nRC", "nRCD"])
def test_a_slow_memory_is_no_deadlock(small, parameter):
    """Slices try again while the DRAM's queue is full: there is always a next event."""
    k = KernelBuilder("slow", grid=2, block=64)
    k("LDG.E R4, [R2]", address=k.random(A, 1 << 26))
    queues = {"l2.queue": 4, "dram.read_queue": 8, "dram.channels": 1, "dram.clock_mhz": 400.0}
    gpu = library.replace(small(sm__count=1), **queues, **{f"dram.timing.{parameter}": 1_000_000})
    result = run(k.workload(), gpu)
    assert result.stopped == "" and result.cycles > 10_000_000


def test_what_cannot_run_is_an_error(small, mixed):
    big = KernelBuilder("big", grid=1, block=32, shared_bytes=1 << 20)
    with pytest.raises(WorkloadError, match=r"kernel 1 \(big\): one CTA needs"):
        run(big.workload(), small())
    with pytest.raises(LockstepError, match="threads = 0"):
        run(mixed().workload(), small(), threads=0)


def test_a_run_says_what_ran(small, mixed):
    k = run(mixed(grid=(2, 3), block=(16, 4)).workload(), small()).kernels[0]
    assert (k.grid, k.block, k.shared_bytes, k.registers) == ((2, 3, 1), (16, 4, 1), 2048, 32)
    assert (k.dependence, k.limiter, k.architecture) == ("scoreboard", "CTAs", 70)
    assert k.cycles == k.end - k.launched


def test_totals_add_each_counter_over_shards():
    records = as_records(np.zeros(3, SM_COUNTERS))
    records["warp_instructions"] = [1, 2, 4]
    records["stalls"][:, 5] = [10, 20, 40]
    total = totals(records)
    assert total["warp_instructions"] == 7 and total["stalls"][5] == 70
    assert total["stalls"].sum() == 70


@pytest.mark.parametrize("overhead", [0, 999_990, 1_000_000])
def test_a_long_launch_is_no_deadlock(small, overhead):
    k = KernelBuilder("late", grid=1, block=32)
    result = run(program(k, k), small(launch__overhead=overhead))
    assert result.stopped == ""
    assert [r.start - r.launched for r in result.kernels] == [overhead] * 2


def test_no_refused_request_is_lost(small):
    """Many atomics, an L2 that takes one miss at a time and refuses the rest."""
    gpu = small(**{"sm.count": 2, "dram.channels": 1, "l2.mshr_full": "nack", "l2.mshr_entries": 1})
    k = KernelBuilder("atomics", grid=2, block=128)
    for _ in range(2):
        k("ATOMG.E.ADD.STRONG.GPU PT, R1, [R2], R4", address=k.strided(A, 144))
        k("LDG.E.STRONG.GPU R5, [R2]", address=k.strided(A, 144, 1 << 16))
    result = run(k.workload(), gpu)
    check(result, k.workload(), gpu)
    assert totals(result.kernels[0].sm)["nacks"] > 16 * 2, "more than the crossbar holds"


TRACE = """\
-kernel name = end
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 16
-binary version = 80
-cuda stream id = 0
-accelsim tracer version = 4
#traces format = x
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 4
0000 ffffffff 1 R0 LDG.E 1 R2 4 1 {0:#x} 4
0010 ffffffff 1 R1 LDG.E 1 R2 4 1 {0:#x} 4
0020 ffffffff 0 STG.E 2 R2 R1 4 1 {0:#x} 4
0030 ffffffff 0 EXIT 0 0
#END_TB
"""


@pytest.mark.parametrize("below", [128, 252, 4096])
def test_the_end_of_the_address_space_is_memory_as_any_other(small, tmp_path, below):
    """Its lines and rows have the numbers below zero, which mean nothing else."""

    def at(end):
        (tmp_path / "kernel-1.traceg").write_text(TRACE.format(end - below))
        result = run(load(tmp_path / "kernel-1.traceg"), small(dram__channels=1))
        total = totals(result.kernels[0].sm)
        return result.cycles, result.stopped, total["transactions"], total["l1_global_read_hits"]

    assert at(1 << 64) == at(1 << 41)
    assert 500 < at(1 << 64)[0] < 5000
