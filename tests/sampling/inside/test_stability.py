"""When a launch counts as steady, on IPC that is made up and on the simulator's."""

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import program
from lockstep.errors import LockstepError
from lockstep.sampling.inside.stability import LONG_WAVE, READINGS, Mark, Stability, _deviation

K = SimpleNamespace(id=1)


def fed(rule, counters, ipc, *, kernel=K, bin=50, begin=0, done=None, **grid):
    """Ask a rule once a bin; the cycles at which it said yes."""
    total, ends = 0, []
    for n, each in enumerate(ipc):
        cycle = begin + (n + 1) * bin
        total += each * bin
        if rule(kernel, cycle, counters(total, cycle if done is None else done, **grid)):
            ends.append(cycle)
            break
    return ends


def test_a_constant_ipc_is_steady_after_one_window_and_no_sooner(counters):
    rule = Stability(window=1000)
    assert fed(rule, counters, [4] * 100) == [1050], "the first mark is at 50, the window from it"
    stable = rule.stable[1]
    assert (stable.begin.cycle, stable.end.cycle, stable.ipc) == (50, 1050, 4.0)
    assert stable.deviation == 0


def test_the_two_readings_of_the_threshold_differ_by_the_mean(counters):
    wobbling = [8, 12] * 100  # mean 10, deviation 2
    assert fed(Stability(0.21, "mean", window=1000), counters, wobbling) == [1050]
    assert fed(Stability(0.19, "mean", window=1000), counters, wobbling) == []
    assert fed(Stability(2.1, "gpu", window=1000), counters, wobbling) == [1050]
    assert fed(Stability(1.9, "gpu", window=1000), counters, wobbling) == []


def test_the_window_rolls(counters):
    rule = Stability(0.25, window=500)
    ipc = [1, 9] * 20 + [5] * 40
    (end,) = fed(rule, counters, ipc)
    assert end > 40 * 50, "while IPC jumps nothing is steady"
    assert end <= 40 * 50 + 500, "and once all of the window is calm, it is"


@pytest.mark.parametrize(("done", "ends"), [(9, []), (10, [550])])
def test_one_wave_must_have_finished_where_the_grid_has_one(counters, done, ends):
    assert fed(Stability(window=500), counters, [3] * 50, done=done, wave=10) == ends


@pytest.mark.parametrize(("ctas", "waits"), [(10, True), (9, False)])
def test_a_grid_below_a_wave_runs_whole_unless_its_wave_is_long(counters, ctas, waits):
    rule = Stability(window=500, long_wave=4000)
    ends = fed(rule, counters, [3] * 100, done=0, ctas=ctas, wave=10)
    assert ends == ([] if waits else [4000])
    assert fed(Stability(window=500), counters, [3] * 100, done=0, ctas=9, wave=10) == []
    assert LONG_WAVE > 100 * 50


def test_questions_within_a_bin_are_passed_over(counters):
    rule, often = Stability(window=1000, bin=50), Stability(window=1000, bin=50)
    assert fed(rule, counters, [4] * 100) == [1050]
    assert fed(often, counters, [4] * 500, bin=10) == [1010], "the first mark is at 10"
    assert len(often._histories) == 0


def test_each_kernel_has_a_state_of_its_own(counters):
    rule = Stability(window=500)
    assert fed(rule, counters, [1, 9] * 10) == []
    assert fed(rule, counters, [4] * 40, kernel=SimpleNamespace(id=2), begin=1000) == [1550]
    assert set(rule.stable) == {2} and set(rule._histories) <= {1}
    assert fed(rule, counters, [4] * 40, begin=5000, launched=5000) == [5550]
    assert not rule._histories


def test_kernels_that_run_together_are_not_ended(counters):
    rule = Stability(window=500)
    for n in range(40):
        for number in (1, 2):
            kernel = SimpleNamespace(id=number)
            assert not rule(kernel, 50 * (n + 1), counters(200 * n, n))
    for n in range(40, 51):
        assert not rule(K, 50 * (n + 1), counters(200 * n, n)), "what it saw in company is gone"
    assert rule(K, 50 * 52, counters(200 * 51, 51))


def test_the_deviation_is_that_of_cycles_not_of_bins():
    rng = np.random.default_rng(5)
    lengths, ipc = rng.integers(50, 90, 40), rng.integers(0, 20, 40)
    cycles = np.concatenate([[0], lengths.cumsum()])
    done = np.concatenate([[0], (lengths * ipc).cumsum()])
    marks = deque(
        Mark(c, SimpleNamespace(sm={"warp_instructions": i})) for c, i in zip(cycles, done)
    )
    naive = np.repeat(ipc, lengths).std()
    assert _deviation(marks) == pytest.approx(naive)


def test_what_makes_no_rule_is_refused():
    for options in ({"of": "sm"}, {"threshold": 0}, {"bin": 0}, {"bin": 60, "window": 50}):
        with pytest.raises(LockstepError, match="expected"):
            Stability(**options)
    assert {Stability(of=each).of for each in READINGS} == set(READINGS)


def test_a_simulation_ends_where_the_rule_says_and_later_kernels_have_their_own(small, steady):
    gpu, rule = small(sm__ctas=4), Stability(window=600)
    workload = program(steady("a"), steady("b", grid=12), steady("c", grid=600, loops=7))
    run = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run
    a, b, c = run.kernels
    assert b.complete, "below a wave"
    assert set(rule.stable) == {a.id, c.id}
    for k in (a, c):
        stable = rule.stable[k.id]
        assert k.stopped.startswith("IPC is steady at") and k.end == stable.end.cycle
        assert 16 <= k.ctas_done < k.ctas and not k.complete
        assert k.warp_instructions == stable.end.instructions
