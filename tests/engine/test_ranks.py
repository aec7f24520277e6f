"""Ranks: a result does not depend on how many machines a GPU is cut into."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, run
from lockstep.engine.transport import InMemory
from lockstep.errors import EndOfKernel, LockstepError, WorkloadError
from lockstep.workload import MemoryCopy, Workload

A = 0x7F0000000000
CUTS = [(1, 1), (2, 1), (3, 2), (4, 3)]  # ranks and threads of each


@pytest.fixture(scope="module")
def gpu(small):
    return small(sm__count=5, dram__channels=3)


def same(workload, gpu, raw, **options):
    """What all cuts give alike."""
    results = [
        raw(run(workload, gpu, ranks=r, threads=t, cta_events=True, **options)) for r, t in CUTS
    ]
    for result in results[1:]:
        assert result == results[0]
    return results[0]


def test_any_number_of_ranks_gives_the_same(gpu, mixed, raw):
    kernels = program(mixed("a", grid=40, stream=1), mixed("b", grid=9, stream=2), mixed("c"))
    workload = Workload("w", [MemoryCopy(A, 1 << 16), *kernels.commands])
    assert same(workload, gpu, raw)["stopped"] == ""


def test_packets_that_are_sent_give_the_same(gpu, mixed, raw, monkeypatch):
    """As between hosts, which share no memory."""
    workload = program(mixed("a", grid=40, stream=1), mixed("b", grid=9, stream=2))
    alone = same(workload, gpu, raw)
    monkeypatch.setattr(InMemory, "boxes", lambda self, rooms: None)
    assert same(workload, gpu, raw) == alone


@settings(max_examples=8, phases=set(Phase) - {Phase.shrink})
@given(st.data())
def test_random_programs_on_random_gpus_give_the_same(programs, raw, data):
    workload, gpu, changes = data.draw(programs.runs(most=2))
    note(changes)
    ranks = data.draw(st.integers(1, min(4, gpu.sm.count)))
    alone = raw(run(workload, gpu, limit_cycles=3000, cta_events=True))
    cut = run(workload, gpu, limit_cycles=3000, cta_events=True, ranks=ranks, threads=2)
    assert raw(cut) == alone


def test_barriers_of_clusters_open_across_ranks(small, raw):
    k = KernelBuilder("k", grid=12, block=64, cluster=4, architecture=90, shared_base=1 << 40)
    for cta in range(4):
        with k.lanes(lambda at, cta=cta: at.cta % 4 == cta):
            for _ in range(30 * cta):
                k("NOP")
    for _ in range(3):
        k("UCGABAR_ARV")
        k("UCGABAR_WAIT")
    gpu = small(sm__count=5, sm__ctas=2, sm__cluster_barrier_latency=20)
    assert same(k.workload(), gpu, raw)["stopped"] == ""


@pytest.mark.long
def test_samples_and_limits_are_the_same(gpu, mixed, raw):
    samples = [
        run(mixed(grid=60).workload(), gpu, ranks=r, threads=t, interval=200).samples.tobytes()
        for r, t in CUTS
    ]
    assert len(set(samples)) == 1 and len(samples[0]) > 1000
    for limit in ({"limit_cycles": 700}, {"limit_instructions": 900}):
        assert "limit of" in same(mixed(grid=60).workload(), gpu, raw, **limit)["stopped"]


def test_a_deadlock_names_the_warps_of_all_ranks(gpu, raw):
    k = KernelBuilder("crossed", grid=5, block=64)
    for warp in range(2):
        with k.lanes(lambda at, warp=warp: at.warp == warp):
            k(f"BAR.SYNC {warp + 1:#x}, 0x40")
    stopped = same(k.workload(), gpu, raw)["stopped"]
    assert all(f"SM {s} warp" in stopped for s in range(4)) and "2 more warps" in stopped


def failing(error, after):
    """A kernel whose front end raises ``error`` after some of its CTAs."""
    k = KernelBuilder("failing", grid=8, block=32)
    for _ in range(50):
        k("NOP")
    kernel = k.kernel()

    def ctas():
        for count, cta in enumerate(kernel.ctas()):
            if count == after:
                raise error
            yield cta

    return Workload("w", [replace(kernel, ctas=ctas)])


def test_a_kernel_that_ends_early_ends_on_all_ranks(gpu, raw):
    result = same(failing(EndOfKernel(), 3), gpu, raw)
    assert len(result["events"]) == 3


def test_an_error_of_the_front_end_is_raised_once(gpu):
    with pytest.raises(WorkloadError, match="of the front end"):
        run(failing(WorkloadError("an error of the front end"), 3), gpu, ranks=3)


def test_ctas_are_made_once(gpu, mixed):
    kernel, made = mixed(grid=200).kernel(), []

    def ctas():
        for cta in kernel.ctas():
            made.append(cta.index[0])
            yield cta

    run(Workload("w", [replace(kernel, ctas=ctas)]), gpu, ranks=4)
    assert made == list(range(200))


def test_all_ranks_stop_after_the_same_window(gpu):
    k = KernelBuilder("long", grid=40, block=128)
    with k.loop(200):
        k("FFMA R1, R1, R2, R3")
    asked = []

    def stop(*_):
        asked.append(session.now)
        session.ranks.stop()

    session = Session(gpu, ranks=3, progress=stop)
    session.run(k.workload().commands)
    session.close()
    states = session.ranks.simulations
    assert asked and {s.now for s in states} == {session.now}
    assert session.stopped == f"interrupted at cycle {session.now}"
    assert not session.finished[0].complete
    assert len({np.array(s.machine.sm.counters).tobytes() for s in states}) == 1


def test_what_is_executed_at_issue_runs_on_one_rank(gpu, mixed):
    kernel = replace(mixed().kernel(), source=lambda exchange, keep=None: None)
    with pytest.raises(WorkloadError, match=r"mixed.* is executed at issue, .* one rank"):
        run(Workload("w", [kernel]), gpu, ranks=2)


@pytest.mark.parametrize("ranks", [0, -1, 6])
def test_impossible_numbers_of_ranks_are_refused(gpu, mixed, ranks):
    with pytest.raises(LockstepError, match=f"ranks = {ranks}: expected"):
        run(mixed().workload(), gpu, ranks=ranks)
