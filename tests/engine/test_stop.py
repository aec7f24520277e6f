"""Stop rules and first CTAs: which part of a kernel runs, and what is recorded of it."""

from itertools import pairwise

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, run
from lockstep.engine.record import totals
from lockstep.engine.stop import BY_RULE
from lockstep.errors import LockstepError, WorkloadError
from lockstep.workload import MemoryCopy

A = 0x7F0000000000
CUTS = [(1, 1), (1, 3), (2, 1), (3, 2)]  # ranks and threads of each


class Watcher:
    """A rule that notes what it is asked, and answers by a function."""

    def __init__(self, answer=lambda kernel, cycle, counters: False):
        self.answer, self.seen = answer, []

    def __call__(self, kernel, cycle, counters):
        self.seen.append((kernel.id, cycle, counters))
        return self.answer(kernel, cycle, counters)

    @property
    def cycles(self):
        return [cycle for _, cycle, _ in self.seen]


def at(first):
    """A rule that stops every kernel from a cycle on."""
    return Watcher(lambda kernel, cycle, counters: cycle >= first)


@pytest.mark.long
@pytest.mark.parametrize(("ranks", "threads"), CUTS)
def test_a_rule_that_stops_nothing_changes_nothing(small, mixed, raw, ranks, threads):
    workload = program(mixed("a", grid=60, stream=1), mixed("b", stream=2), mixed("c"))
    gpu, rule = small(sm__ctas=2), Watcher()
    free = run(workload, gpu, cta_events=True, interval=300)
    options = {"ranks": ranks, "threads": threads, "cta_events": True, "interval": 300}
    asked = run(workload, gpu, stop=rule, stop_interval=90, **options)
    assert raw(asked) == raw(free) and asked.samples.tobytes() == free.samples.tobytes()
    assert len(rule.seen) > 30


def test_a_rule_is_asked_at_ends_of_windows_no_more_often_than_wanted(small, mixed):
    gpu, rule = small(sm__ctas=2), Watcher()
    whole = run(mixed(grid=60).workload(), gpu, interval=1)
    run(mixed(grid=60).workload(), gpu, stop=rule, stop_interval=250)
    assert set(rule.cycles) <= set(whole.samples["cycle"].tolist()), "ends of windows"
    gaps = [b - a for a, b in pairwise([0, *rule.cycles])]
    assert min(gaps) >= 250 - gpu.interconnect.latency and min(gaps[1:]) >= 250
    assert max(gaps) < 250 + 10 * gpu.interconnect.latency


def test_a_rule_ends_a_kernel_in_the_cycle_in_which_it_says_so(small, mixed):
    gpu, calm = small(sm__ctas=2), Watcher()
    workload = mixed(grid=60).workload()
    run(workload, gpu, stop=calm, stop_interval=300)
    before, cycle, after = calm.cycles[2:5]
    for first, end in ((before + 1, cycle), (cycle, cycle), (cycle + 1, after)):
        rule = at(first)
        result = run(workload, gpu, stop=rule, stop_interval=300)
        (k,) = result.kernels
        assert k.end == result.cycles == end and rule.cycles[-1] == end
        assert not k.complete and k.stopped == BY_RULE and result.stopped == ""


def test_a_kernel_is_recorded_as_it_stood(small, mixed):
    gpu = small(sm__ctas=2)
    rule = Watcher(lambda kernel, cycle, counters: counters.ctas_done >= 12)
    workload = mixed(grid=90).workload()
    whole = run(workload, gpu, interval=1, cta_events=True)
    (k,) = run(workload, gpu, stop=rule, stop_interval=100).kernels
    (row,) = whole.samples[whole.samples["cycle"] == k.end]
    assert row["sm"] == totals(k.sm) and row["partition"] == totals(k.partition)
    assert (k.ctas, k.ctas_done) == (90, (whole.cta_events["end"] < k.end).sum())
    assert 12 <= k.ctas_done < 30 and k.start == whole.kernels[0].start
    _, cycle, seen = rule.seen[-1]
    assert (seen.launched, seen.started, seen.ctas) == (0, k.start, 90)
    assert (cycle, seen.ctas_done) == (k.end, k.ctas_done)
    assert seen.sm == totals(k.sm) and seen.partition == totals(k.partition)


def test_a_rule_gives_its_reason(small, mixed):
    rule = Watcher(lambda kernel, cycle, counters: counters.ctas_done >= 8 and "eight are enough")
    (k,) = run(mixed(grid=60).workload(), small(sm__ctas=1), stop=rule, stop_interval=1).kernels
    assert k.stopped == "eight are enough" and 8 <= k.ctas_done <= 8 + 4


def test_a_rule_sees_a_wave_what_began_and_when_ctas_ended(small, mixed):
    gpu, rule = small(sm__ctas=2), Watcher()
    result = run(mixed(grid=60).workload(), gpu, stop=rule, stop_interval=100, cta_events=True)
    events = result.cta_events
    for _, cycle, seen in rule.seen:
        assert seen.wave == 4 * 2 and (seen.skipped, seen.skipped_instructions) == (0, 0)
        assert seen.ctas_done <= seen.begun <= min(60, seen.ctas_done + 8)
        assert seen.begun >= (events["start"] < cycle).sum() - 8
    ended = rule.seen[-1][2].ended
    assert sorted(each[:2] for each in ended) == sorted(zip(events["start"], events["end"]))


def shortfall(gpu, warps, first, others):
    """How much less than their CTAs the warps of a kernel last, all together; the same in all CTAs.

    The first warp runs so many additions, and so do the others.
    """
    k = KernelBuilder("uneven", grid=4, block=32 * warps)
    with k.loop(lambda site: np.where(site.warp == 0, first, others)):
        k("IADD3 R4, R5, R6, R7", stall=1)
    k("EXIT", stall=1)
    rule = Watcher()
    run(k.workload(), gpu, stop=rule, stop_interval=1)
    (found,) = {warps * (end - start) - lasted for start, end, lasted in rule.seen[-1][2].ended}
    return found


def test_a_rule_sees_how_long_warps_lasted(small):
    """A CTA ends the cycle after its last warp; an addition takes two cycles of a warp."""
    gpu = small()
    assert shortfall(gpu, 1, 4, 4) == 1
    assert shortfall(gpu, 2, 1, 4) - shortfall(gpu, 2, 4, 4) == 3 * 2


class Reader(Watcher):
    """A rule that keeps what it is told, and wants to see instructions."""

    counts_instructions = True

    def __init__(self, answer=lambda *seen: False):
        super().__init__(answer)
        self.read_ctas = []

    def read(self, kernel, ctas, before):
        mine = [cta for number, cta in self.read_ctas if number == kernel.id]
        assert before == len(mine)
        self.read_ctas += [(kernel.id, cta.index) for cta in ctas]


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"ranks": 2}])
def test_a_rule_is_told_of_all_ctas_and_sees_what_instructions_did(small, mixed, raw, options):
    gpu = small(sm__count=4)
    workload = program(mixed("a", grid=90), mixed("b", grid=30))
    rule = Reader(lambda kernel, cycle, counters: kernel.id == 1 and counters.ctas_done >= 8)
    asked = run(workload, gpu, stop=rule, stop_interval=90, **options)
    assert [number for number, _ in rule.read_ctas] == [1] * 90 + [2] * 30
    assert [index for _, index in rule.read_ctas] == [(n, 0, 0) for n in (*range(90), *range(30))]
    for kernel, _, counters in rule.seen:
        issued = counters.instructions["warp_instructions"]
        if kernel == 1:
            assert issued.sum() == counters.sm["warp_instructions"]
            assert (
                counters.instructions["thread_instructions"].sum()
                == (counters.sm["thread_instructions"])
            )
    assert all(kernel.source is None for kernel in asked.kernels)
    plain = Watcher(lambda kernel, cycle, counters: kernel.id == 1 and counters.ctas_done >= 8)
    assert raw(run(workload, gpu, stop=plain, stop_interval=90)) == raw(asked)


def only(number, first):
    """A rule that stops one kernel from a cycle on."""
    return Watcher(lambda kernel, cycle, counters: kernel.id == number and cycle >= first)


def test_what_follows_waits_until_the_sms_are_empty(small, mixed, raw):
    gpu = small(sm__ctas=2)
    workload = program(mixed("a", grid=90), MemoryCopy(A, 4096), mixed("b", grid=30))
    result = run(workload, gpu, stop=only(1, 4000), stop_interval=50, cta_events=True)
    a, b = result.kernels
    assert (a.complete, b.complete, b.ctas_done) == (False, True, 30)
    events = result.cta_events
    mine = events[events["kernel"] == 0]
    assert a.ctas_done < len(mine) <= a.ctas_done + 8, "those on the SMs ran on"
    assert a.end < mine["end"].max() <= b.launched
    assert result.running == (mine["end"].max() - a.start) + (b.end - b.start)
    total = totals(result.sm)
    assert total["ctas"] == len(mine) + 30
    assert total["warp_instructions"] > a.warp_instructions + b.warp_instructions


def test_nothing_runs_on_where_nothing_follows(small, mixed, raw):
    gpu = small(sm__ctas=2)
    kernels = program(mixed("a", grid=90), mixed("b", grid=30)).commands
    session = Session(gpu, stop=only(1, 4000), stop_interval=50, cta_events=True)
    session.run(kernels[:1])
    end = session.now
    assert [k.end for k in session.finished] == [end]
    alone = session.result()
    assert (alone.cycles, alone.running) == (end, end - alone.kernels[0].start)
    session.run(kernels[1:])
    session.close()
    both = run(
        program(mixed("a", grid=90), mixed("b", grid=30)),
        gpu, stop=only(1, 4000), stop_interval=50, cta_events=True,
    )  # fmt: skip
    assert raw(session.result()) == raw(both)


def test_kernels_of_other_streams_go_on(small, mixed):
    gpu = small(sm__ctas=4)
    workload = program(
        mixed("a", grid=90, stream=1), mixed("b", grid=40, stream=2), mixed("c", stream=1)
    )
    result = run(workload, gpu, stop=only(1, 900), stop_interval=50)
    done = {k.name: (k.complete, k.ctas_done) for k in result.kernels}
    assert done["a"][0] is False and done["a"][1] < 90
    assert (done["b"], done["c"]) == ((True, 40), (True, 24))


def test_a_kernel_that_is_launched_may_be_stopped_before_it_starts(small, mixed):
    gpu = small(launch__overhead=700)
    workload = program(mixed("a", grid=4, stream=1), mixed("b", stream=2), mixed("c", stream=2))
    rule = Watcher(lambda kernel, cycle, counters: kernel.id == 2)
    result = run(workload, gpu, stop=rule, stop_interval=100)
    b = next(k for k in result.kernels if k.id == 2)
    assert (b.start, b.ctas_done, b.warp_instructions) == (b.end, 0, 0) and b.end < 700
    assert all(k.complete for k in result.kernels if k.id != 2)


@pytest.mark.parametrize(("ranks", "threads"), CUTS[1:])
def test_parts_of_kernels_do_not_depend_on_threads_and_ranks(small, mixed, raw, ranks, threads):
    gpu = small(sm__count=5, sm__ctas=2, dram__channels=3)
    workload = program(mixed("a", grid=90), mixed("b", grid=60, stream=1), mixed("c"))

    def part(**options):
        rule = Watcher(lambda kernel, cycle, counters: counters.sm["warp_instructions"] > 2000)
        options |= {"stop": rule, "stop_interval": 200, "first_cta": {2: 7}}
        return raw(run(workload, gpu, cta_events=True, **options)), rule.cycles

    assert part(ranks=ranks, threads=threads) == part()


def test_clusters_that_were_read_in_part_are_dropped(small):
    k = KernelBuilder("k", grid=(4, 64), block=64, cluster=(1, 4), architecture=90)
    for _ in range(30):
        k("NOP")
    k("UCGABAR_ARV")
    k("UCGABAR_WAIT")
    rule = Watcher(lambda kernel, cycle, counters: counters.ctas_done >= 16)
    after = KernelBuilder("after", grid=3, block=64)
    after("EXIT")
    result = run(program(k, after), small(sm__ctas=2), stop=rule, stop_interval=1)
    first, second = result.kernels
    assert 16 <= first.ctas_done < 256 and not first.complete and second.complete


@pytest.mark.parametrize("first", [1, 17, 23])
def test_a_kernel_begins_at_its_first_cta(small, mixed, first):
    workload = program(mixed("a"), mixed("b"))
    result = run(workload, small(), first_cta={2: first}, cta_events=True)
    a, b = result.kernels
    assert (a.complete, a.first_cta, a.ctas_done) == (True, 0, 24)
    assert (b.complete, b.first_cta, b.ctas_done) == (False, first, 24 - first)
    events = result.cta_events
    assert sorted(events["cta"][events["kernel"] == 1]) == list(range(first, 24))
    assert b.end == events["end"].max() and totals(b.sm)["ctas"] == 24 - first
    assert b.warp_instructions == totals(b.sm)["warp_instructions"]


def test_the_first_cta_is_one_of_the_kernel(small, mixed):
    for first, problem in ((24, "CTAs 0 to 23: none is CTA 24"), (-1, "none is CTA -1")):
        with pytest.raises(WorkloadError, match=problem):
            run(mixed().workload(), small(), first_cta={1: first})


@pytest.mark.parametrize(
    ("grid", "cluster", "unit"),
    [((8, 2), (4, 1, 1), 4), ((4, 8), (1, 4, 1), 16), ((2, 2, 4), (1, 1, 2), 8)],
)
def test_no_cluster_is_cut(small, grid, cluster, unit):
    k = KernelBuilder("k", grid=grid, block=32, cluster=cluster, architecture=90)
    k("EXIT")
    with pytest.raises(WorkloadError, match=f"inside a cluster; begin at a multiple of {unit}$"):
        run(k.workload(), small(), first_cta={1: unit - 1})
    (whole,) = run(k.workload(), small(), first_cta={1: unit}).kernels
    assert whole.ctas_done == whole.ctas - unit


def test_what_a_rule_remembers_is_in_no_checkpoint(small, mixed):
    session = Session(small(), stop=Watcher())
    with pytest.raises(LockstepError, match="in no checkpoint"):
        session.run(mixed().workload().commands, keep=print)
    session.close()
