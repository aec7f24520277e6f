"""Protocols in time: caches at rest are coherent, no written byte is lost, latencies are pinned."""

import numpy as np
import pytest

import wavefront_programs
from coherence_timed import (
    BASE,
    CROWDED,
    check_at_rest,
    gpu,
    lines_of,
    random_programs,
    run,
)
from lockstep import engine
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.coherence.home import MOST_REFUSALS

PROTOCOLS = ("nmoesi", "si")
END = wavefront_programs.wait(vector=0)


def total(done, name):
    """A counter of the memory side, or of the CUs, over all kernels."""
    kernels = done.result.kernels
    side = "partition" if name in kernels[0].partition.dtype.names else "sm"
    return sum(int(getattr(k, side)[name].sum()) for k in kernels)


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(12))
def test_all_that_was_written_is_dirty_somewhere(protocol, seed):
    """The L2 has room for all lines, so that nothing went to memory."""
    rng = np.random.default_rng(seed)
    programs, written = random_programs(rng, 4, 40, int(rng.choice([2, 5, 12])))
    done = run([[*p, END] for p in programs], gpu(protocol))
    assert check_at_rest(done) == written
    assert total(done, "l2_writebacks") == 0


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(12))
def test_an_l2_that_is_crowded_ends_all_the_same(protocol, seed):
    """Lines are taken from L1s, requests refused for lack of entries, and because of locks."""
    rng = np.random.default_rng(100 + seed)
    programs, written = random_programs(rng, 4, 40, 12)
    done = run([[*p, END] for p in programs], gpu(protocol, **CROWDED))
    for line, mask in check_at_rest(done).items():
        assert mask & ~written[line] == 0
    assert total(done, "l2_writebacks") > 0
    assert total(done, "nacks") == total(done, "l2_nacks") > 0
    if protocol == "nmoesi":
        assert total(done, "l2_lock_nacks") > 0
        assert total(done, "l1_invalidations") > 0
    else:
        assert total(done, "l2_lock_nacks") == total(done, "l2_forwards") == 0


@pytest.mark.parametrize("order", ["line", "multi2sim"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_accesses_of_a_queue_are_coherent(protocol, order):
    """Two accesses a cycle, merged and in either order."""
    for seed in range(3):
        programs, written = random_programs(np.random.default_rng(seed), 4, 40, 5)
        queued = gpu(protocol, vmu__ports=2, vmu__phases=4, vmu__join="both", vmu__order=order)
        done = run([[*p, END] for p in programs], queued)
        assert check_at_rest(done) == written


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("changes", [{}, CROWDED])
def test_invalidated_l1s_give_lines_up_by_the_protocol(protocol, changes):
    """buffer_wbinvl1: homes hear of what they must know, and nothing that was written is lost."""
    forget = dict(op=OpClass.CACHE_CONTROL, cache=int(CachePolicy.INVALIDATE))
    for seed in range(3):
        programs, written = random_programs(np.random.default_rng(seed), 4, 40, 6)
        for program in programs:
            for place in (35, 20, 5):
                program.insert(place, forget)
        done = run([[*p, END] for p in programs], gpu(protocol, **changes))
        found = check_at_rest(done)
        assert changes or found == written


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_invalidated_line_is_asked_for_again(protocol):
    forget = dict(op=OpClass.CACHE_CONTROL, cache=int(CachePolicy.INVALIDATE))
    again = total(
        run([[("load", BASE), END, ("load", BASE), END]], gpu(protocol), 1), "l2_requests"
    )
    program = [("load", BASE), END, forget, ("load", BASE), END]
    assert total(run([program], gpu(protocol), 1), "l2_requests") > again


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_threads_change_nothing(protocol):
    programs, _ = random_programs(np.random.default_rng(5), 4, 60, 6)
    one, two = (run(programs, gpu(protocol), threads=n) for n in (1, 2))
    assert one.result.cycles == two.result.cycles
    for a, b in zip(one.result.kernels, two.result.kernels):
        assert (a.sm == b.sm).all()
        assert (a.partition == b.partition).all()
    assert check_at_rest(one) == check_at_rest(two)


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ranks_change_nothing(protocol):
    """Of three kernels, each finds what the one before it has left."""
    programs, _ = random_programs(np.random.default_rng(6), 4, 60, 6)
    apart = gpu(protocol, cu__neighbours=(1,), launch__flush_l1=True)

    def three(**options):
        work = wavefront_programs.make(*programs, groups=3)
        for number in (2, 3):
            work.commands.append(wavefront_programs.make(*programs, groups=3).kernels[0])
            work.kernels[-1].id = number
        return engine.run(work, apart, **options)

    one = three()
    assert len(one.kernels) == 3
    for ranks in (2, 3):
        other = three(ranks=ranks)
        assert other.cycles == one.cycles
        for a, b in zip(other.kernels, one.kernels):
            assert (a.sm == b.sm).all()
            assert (a.partition == b.partition).all()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(3))
def test_lines_of_code_and_scalars_pass_beside_the_directory(protocol, seed):
    programs, _ = random_programs(np.random.default_rng(seed), 4, 40, 6)
    programs = [[*p, ("scalar_load", BASE), wavefront_programs.wait(lgkm=0)] for p in programs]
    done = run(programs, gpu(protocol, sm__front_end__l1_bytes=16384, **CROWDED))
    assert not done.result.stopped
    assert total(done, "l1i_misses") > 10
    assert total(done, "constant_misses") > 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scalar_loads_make_no_sharer(protocol):
    done = run([[("scalar_load", BASE), wavefront_programs.wait(lgkm=0)]], gpu(protocol))
    m = done.machine.memory
    ((_, line, record, _),) = lines_of(m.l2.tags, m.homes.ways)
    assert line == BASE // 64
    assert (record["valid"], record["sharers"], record["owner"]) == (-1, 0, -1)


def cycles(protocol, *program, **changes):
    """Cycles of one wavefront alone."""
    alone = {"sm__count": 1, "cu__neighbours": (1,), "launch__flush_l1": True}
    return engine.run(
        wavefront_programs.make(list(program)), gpu(protocol, **alone | changes)
    ).cycles


def latency(protocol, *program, **changes):
    """Cycles that a wavefront waits for the last of some instructions."""
    before = cycles(protocol, *program[:-1], END, **changes)
    return cycles(protocol, *program[:-1], END, program[-1], END, **changes) - before


@pytest.mark.parametrize("protocol", ["none", *PROTOCOLS])
def test_loads_take_as_long_as_the_gpu_says(protocol):
    """With a protocol or without: a hit, one in the L2, and one in memory."""
    there = gpu(protocol)
    hit = latency(protocol, ("load", BASE), ("load", BASE))
    miss = latency(protocol, "scalar", ("load", BASE))
    assert miss - hit == there.dram.latency - there.l1.latency


def never(queue, first, count, now):
    """A policy of a DRAM that serves nobody."""
    return -1


@pytest.mark.parametrize(
    ("protocol", "at_l1", "at_home"), [("nmoesi", "IN_D", "IN_D"), ("si", "I_D", "V_D")]
)
def test_the_watchdog_names_lines_holders_and_waiters(protocol, at_l1, at_home):
    """Memory never answers: who waits for a line, and where it is."""
    first = ("store", BASE) if protocol == "nmoesi" else ("load", BASE)
    program = [first, ("load", BASE), END]
    policies = {"dram_scheduler": never}
    text = engine.run(wavefront_programs.make(program), gpu(protocol), policies=policies).stopped
    assert f"{BASE:#x} in {at_l1}, 2 operations wait" in text
    assert f": {BASE:#x} locked in {at_home}" in text


def test_a_storm_of_refusals_ends():
    """Ten L1s write one line with all their entries, past each other; each comes to its end."""
    store = dict(op=OpClass.STORE, space=Space.GLOBAL, width=4, cache=int(CachePolicy.BYPASS_L1))
    program = [(store, BASE, 0)] * 64
    storm = gpu("nmoesi", sm__count=10, l1__mshr_entries=64, l2__mshr_full="nack", l2__nack_retry=2)
    done = run([[*program, END]], storm, groups=10)
    assert check_at_rest(done) == {BASE // 64: 0xF}
    assert total(done, "l2_lock_nacks") > 100
    most = int(done.machine.memory.homes.slices["most_refusals"].max())
    assert 1 < most <= MOST_REFUSALS
