"""Runs with prefetchers: the same on any threads and ranks, over checkpoints, and with JIT."""

import numpy as np
import pytest

from engine.stopping import WHO, Stop, StopAfter
from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, checkpoint, run
from lockstep.engine.record import totals
from lockstep.gpus import library
from lockstep.model.cache.prefetch import state
from lockstep.workload import MemoryCopy, Workload

A = 0x7F0000000000
BUILT_IN = {"l1.prefetcher": "stride", "l2.prefetcher": "stream"}


def next_line(site, line, warp, hit, rows, out):
    rows[1].count += 1
    out[0].line, out[1].line = line + 1, line + rows[1].count % 7
    return 2


def next_of_slice(line, hit, rows, out):
    rows[1].count += 1
    out[0].line = line + 1 + rows[1].count % 3
    return 1


USER = {"l1_prefetcher": next_line, "l2_prefetcher": next_of_slice}


def walks(grid=20, rows=6, step=1 << 15):
    """A kernel whose warps walk through memory, by a stride each, with little to do meanwhile."""
    k = KernelBuilder("walks", grid=grid, block=64)
    with k.loop(rows):
        k("LDG.E R4, [R2]", address=k.coalesced(A, step=step))
        k("FFMA R8, R4, R4, R8")
    k("EXIT")
    return k


def counts(result):
    sm = totals(np.concatenate([k.sm for k in result.kernels]))
    memory = totals(np.concatenate([k.partition for k in result.kernels]))
    return {
        level: {
            n.removeprefix(f"{level}_prefetch").strip("_"): int(c[n])
            for n in c.dtype.names
            if n.startswith(f"{level}_prefetch")
        }
        for level, c in (("l1", sm), ("l2", memory))
    }


@pytest.fixture(scope="module")
def gpu(small):
    return small(sm__count=5, dram__channels=3, l1__prefetch_degree=2, l2__prefetch_degree=4)


@pytest.mark.parametrize("policies", [{}, USER])
def test_threads_and_ranks_change_nothing(gpu, mixed, raw, policies):
    gpu = gpu if policies else library.replace(gpu, **BUILT_IN)
    kernels = program(mixed("a", grid=30, stream=1), walks(), mixed("c"))
    workload = Workload("w", [MemoryCopy(A, 1 << 16), *kernels.commands])
    alone = run(workload, gpu, policies=policies)
    for threads, ranks in ((3, 1), (1, 2), (2, 3)):
        again = run(workload, gpu, policies=policies, threads=threads, ranks=ranks)
        assert raw(again) == raw(alone)
    found = counts(alone)
    assert all(found["l1"][n] > 0 for n in ("es", "useful", "late", "redundant"))
    assert found["l2"]["es"] > 0


@pytest.mark.parametrize("flush", [True, False])
def test_warming_amid_prefetches_is_the_same_on_any_threads_and_ranks(gpu, mixed, raw, flush):
    """What an earlier kernel has asked for may still be on its way when a kernel is warmed."""
    gpu = library.replace(gpu, **BUILT_IN, **{"launch.flush_l1": flush})
    made = program(walks(), walks(rows=9), mixed("c"), walks(grid=9)).kernels
    workload = Workload("w", [*made])
    warm = {made[1].id, made[2].id}
    alone = run(workload, gpu, warm=warm)
    assert [k.id for k in alone.kernels] == [made[0].id, made[3].id]
    for threads, ranks in ((3, 1), (1, 2), (2, 3)):
        assert raw(run(workload, gpu, warm=warm, threads=threads, ranks=ranks)) == raw(alone)


@pytest.mark.parametrize("looks", [1, 3])
def test_checkpoints_hold_what_was_learned_and_asked_for(gpu, mixed, raw, tmp_path, looks):
    gpu = library.replace(gpu, **BUILT_IN, **{"sm.ctas": 2})
    workload = program(walks(grid=90), mixed("b", grid=70))
    whole = raw(run(workload, gpu))
    with pytest.raises(Stop):
        run(workload, gpu, keep=StopAfter(looks, tmp_path), ranks=2)
    assert raw(run(workload, gpu, frozen=checkpoint.load(tmp_path, WHO), threads=2)) == whole


@pytest.mark.parametrize("policies", [{}, USER])
def test_what_was_issued_is_used_or_useless_or_still_there(gpu, mixed, policies):
    gpu = gpu if policies else library.replace(gpu, **BUILT_IN)
    workload = program(walks(), mixed("b", grid=60))
    session = Session(gpu, policies=policies)
    try:
        session.run(list(workload.commands))
        machine = session.ranks.simulations[0].machine
        found = counts(session.result())
        l1, l2 = machine.sm.l1, machine.memory.l2
        ahead = l1.entries[:, gpu.l1.mshr_entries :]
        coming = (ahead["pending"] != 0) & (ahead["merges"] == 0)
        unused = coming.sum() + (l1.prefetch.marks == state.HERE).sum()
        there = {"l1": unused, "l2": np.isin(l2.prefetch.marks, (state.HERE, state.COMING)).sum()}
    finally:
        session.close()
    for level, n in found.items():
        assert n["es"] == n["useful"] + n["late"] + n["useless"] + there[level], level


def test_a_prefetcher_that_asks_for_nothing_changes_nothing_but_is_called(gpu, mixed, raw):
    def none_of_l1(site, line, warp, hit, rows, out):
        return 0

    def none_of_l2(line, hit, rows, out):
        return -1

    workload = mixed().workload()
    policies = {"l1_prefetcher": none_of_l1, "l2_prefetcher": none_of_l2}
    assert raw(run(workload, gpu, policies=policies)) == raw(run(workload, gpu))


def test_a_walk_with_a_stride_is_faster_with_a_prefetcher(gpu):
    workload = walks(grid=5, rows=30, step=5 * 64 * 4).workload()
    alone = run(workload, gpu)
    for what in BUILT_IN:
        ahead = run(workload, library.replace(gpu, **{what: BUILT_IN[what]}))
        assert ahead.cycles < alone.cycles, what
