"""CTAs that a rule leaves out: what runs is what would run if they had never been."""

from dataclasses import replace

import msgspec
import pytest

from lockstep.builder import program
from lockstep.engine import run
from lockstep.engine.machine import Machine
from lockstep.engine.record import totals
from lockstep.engine.stop import Skip
from lockstep.errors import WorkloadError
from lockstep.workload import Workload

CUTS = [(1, 1), (1, 3), (2, 1)]  # ranks and threads of each


class LeaveOut:
    """A rule that leaves CTAs out of kernel 1, once so many have begun."""

    def __init__(self, *skips):
        self.skips, self.seen = list(skips), []

    def __call__(self, kernel, cycle, counters):
        if kernel.id != 1:
            return False
        self.seen.append(counters)
        if not self.skips or counters.begun < self.skips[0][0]:
            return False
        return Skip(self.skips.pop(0)[1])

    def gaps(self):
        """(first CTA left out, one behind the last) of each time."""
        found, before = [], self.seen[0]
        for each in self.seen[1:]:
            if each.skipped > before.skipped:
                first = before.begun + before.skipped
                found.append((first, first + each.skipped - before.skipped))
            before = each
        return found


@pytest.fixture
def unheard(monkeypatch):
    """Caches hear nothing of what is left out."""
    monkeypatch.setattr(Machine, "pass_ctas", lambda machine, slot, ctas: 0)


def without(kernel, gaps):
    """The kernel as if these CTAs had never been."""

    def stays(number):
        return not any(first <= number < last for first, last in gaps)

    n = sum(map(stays, range(kernel.n_ctas)))

    def ctas():
        kept = (cta for number, cta in enumerate(kernel.ctas()) if stays(number))
        return (
            msgspec.structs.replace(cta, index=(number, 0, 0)) for number, cta in enumerate(kept)
        )

    return replace(kernel, grid=(n, 1, 1), ctas=ctas)


@pytest.mark.parametrize(("ranks", "threads"), CUTS)
def test_what_runs_is_the_kernel_without_them(small, mixed, unheard, ranks, threads):
    gpu, rule = small(sm__ctas=2), LeaveOut((20, 30), (34, 25))
    workload = mixed(grid=120).workload()
    part = run(workload, gpu, stop=rule, stop_interval=90, ranks=ranks, threads=threads)
    (k,) = part.kernels
    gaps = rule.gaps()
    assert [last - first for first, last in gaps] == [30, 25] and gaps[0][0] >= 20
    shorter = Workload("shorter", [without(workload.kernels[0], gaps)])
    same = run(shorter, gpu)
    assert (k.skipped, k.ctas_done, k.ctas, k.complete) == (55, 65, 120, False)
    assert k.stopped == "" and part.stopped == ""
    assert k.end == same.kernels[0].end and k.sm.tobytes() == same.kernels[0].sm.tobytes()
    assert k.partition.tobytes() == same.kernels[0].partition.tobytes()
    assert k.warp_instructions == same.kernels[0].warp_instructions
    assert totals(part.sm) == totals(same.sm)


def test_left_out_before_the_first_one_is_a_later_first_one(small, mixed, unheard):
    gpu, workload = small(launch__overhead=700), mixed(grid=60).workload()
    rule = LeaveOut((0, 24))
    (k,) = run(workload, gpu, stop=rule, stop_interval=100).kernels
    (later,) = run(workload, gpu, first_cta={1: 24}).kernels
    assert rule.seen[0].started < 0
    assert (k.end, k.sm.tobytes()) == (later.end, later.sm.tobytes())
    assert (k.skipped, k.first_cta, later.first_cta) == (24, 0, 24)


def test_all_instructions_are_counted_once(small, mixed):
    gpu, workload = small(sm__ctas=2), mixed(grid=120).workload()
    (whole,) = run(workload, gpu).kernels
    rule = LeaveOut((20, 3), (40, 50))
    (k,) = run(workload, gpu, stop=rule, stop_interval=50).kernels
    missed = sum(each.warp_instructions for each in k.left_out)
    assert k.skipped == 53 and missed > 0
    assert k.warp_instructions + missed == whole.warp_instructions
    assert rule.seen[-1].skipped_instructions == missed


@pytest.mark.parametrize("all_left", [True, False])
def test_what_is_on_the_sms_runs_to_its_end(small, mixed, all_left):
    """Also if nothing is left behind what is left out, and if one is."""
    gpu = small(sm__ctas=2)

    def rule(kernel, cycle, counters):
        left = counters.ctas - counters.begun - counters.skipped
        if kernel.id == 1 and counters.begun >= 40 and not counters.skipped:
            return Skip(left if all_left else left - 1)
        return False

    a, b = run(program(mixed("a", grid=90), mixed("b")), gpu, stop=rule, stop_interval=50).kernels
    assert a.skipped and a.ctas_done == 90 - a.skipped and not a.complete
    assert b.complete and b.launched >= a.end


def test_more_than_there_are_cannot_be_left_out(small, mixed):
    gpu = small(sm__ctas=2)
    for number in (0, 91, -1):
        with pytest.raises(WorkloadError, match=r"cannot leave out -?\d+ CTAs: \d+ are"):
            run(mixed(grid=90).workload(), gpu, stop=LeaveOut((8, number)), stop_interval=50)


def test_clusters_are_not_cut(small, mixed):
    with pytest.raises(WorkloadError, match="has clusters"):
        run(mixed(grid=640, cluster=2).workload(), small(), stop=LeaveOut((4, 8)), stop_interval=50)
