"""Homogeneous runs of CTAs, and what is left out of them."""

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import KernelBuilder, program
from lockstep.errors import LockstepError
from lockstep.sampling.inside import Epochs, cta_instructions, project_windows
from lockstep.sampling.inside.epochs import homogeneous

A = 0x7F0000000000


def test_epochs_that_are_alike_are_one_run():
    assert homogeneous(np.full(45, 100), wave=10, distance=0.1) == [45]
    two = np.r_[np.full(30, 100), np.full(20, 112)]
    assert homogeneous(two, wave=10, distance=0.1) == [30, 50]
    assert homogeneous(two, wave=10, distance=0.2) == [50]


def test_spread_tells_epochs_apart_as_the_mean_does():
    even, uneven = np.full(20, 100), np.tile([50, 150], 10)
    assert homogeneous(np.r_[even, uneven], wave=10, distance=0.1) == [20, 40]
    assert homogeneous(np.r_[even, uneven], wave=10, distance=0.6) == [40]


def test_each_epoch_is_compared_with_the_first_of_its_run():
    drifting = np.repeat([100, 106, 112, 118], 10)
    assert homogeneous(drifting, wave=10, distance=0.1) == [20, 40]


@pytest.fixture(scope="module")
def two_halves():
    """A launch whose later CTAs do three times as much."""
    k = KernelBuilder("halves", grid=1280, block=128)
    for _ in range(60):
        k("FFMA R8, R6, R5, R8")
    for _ in range(120):
        k("FFMA R8, R6, R5, R8", mask=lambda at: at.global_thread >= 640 * 128)
    k("STG.E [R2], R8", address=k.coalesced(A))
    k("EXIT")
    return k.workload()


@pytest.mark.long
def test_instructions_of_ctas_are_in_their_order(two_halves):
    (kernel,) = two_halves.kernels
    instructions = cta_instructions(kernel)
    assert len(instructions) == 1280 and instructions.dtype == np.int64


@pytest.mark.long
def test_the_rest_of_each_run_is_left_out(small, steady):
    gpu = small(sm__ctas=4)
    workload = program(steady("a", grid=800), steady("b", grid=800))
    first = workload.kernels[0]
    rule = Epochs({first.id: cta_instructions(first)})
    whole = simulate(workload, gpu).run.kernels
    a, b = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    assert b.complete, "nothing is known of it"
    assert a.skipped % 16 == 0 and a.skipped > 400 and len(rule.units[a.id]) == 1
    p = project_windows(a, rule.units[a.id], like_earlier=True)
    assert p.cycles == pytest.approx(whole[0].cycles, rel=0.1)
    (unit,) = rule.units[a.id]
    missed = sum(each.warp_instructions for each in a.left_out)
    assert p.cycles == pytest.approx(a.cycles + missed / unit.ipc), "as the unit before"


def test_a_run_that_differs_is_looked_at_anew(small, steady):
    """The rule sees two runs in the profile, whatever the CTAs do."""
    gpu = small(sm__ctas=4)
    workload = steady(grid=1280).workload()
    (kernel,) = workload.kernels
    seen = cta_instructions(kernel)
    seen[640:] *= 3
    rule = Epochs({kernel.id: seen})
    (k,) = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    assert len(rule.units[k.id]) == 2
    places = [u.end.counters.begun + u.end.counters.skipped for u in rule.units[k.id]]
    assert places[0] < 640 < places[1]


def test_units_that_do_not_agree_leave_nothing_out(small, steady):
    gpu = small(sm__ctas=4)
    workload = steady(grid=400).workload()
    (kernel,) = workload.kernels
    rule = Epochs({kernel.id: cta_instructions(kernel)}, agreement=1e-9)
    (k,) = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    assert k.complete and rule.units[k.id] == []


def test_what_makes_no_rule_is_refused():
    for options in ({"distance": -1}, {"agreement": 0}, {"bin": 0}):
        with pytest.raises(LockstepError, match="expected at least"):
            Epochs({}, **options)
