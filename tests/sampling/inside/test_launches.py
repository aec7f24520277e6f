"""A rule for all launches of a run: which run to their end, and what the sum may be off by."""

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import program
from lockstep.errors import LockstepError
from lockstep.sampling.inside import Durations, Inside, Stability, Windows, correct
from lockstep.sampling.running import estimate_all

RULES = {
    "pkp": lambda: Stability(threshold=0.5, window=1500),
    "photon": lambda: Durations(warps=256, executions=1024, slope=0.1),
    "windows": lambda: Windows(),
}


@pytest.fixture(scope="module")
def workload(steady):
    """Launches of two kernels, as long as each other but for their grids."""
    sizes = (480, 560, 640, 520, 600, 680)
    launches = [steady("ab"[n % 2], grid=sizes[n % 6], loops=2 + n % 2) for n in range(12)]
    return program(*launches)


@pytest.fixture(scope="module")
def gpu(small):
    return small(sm__ctas=4)


@pytest.fixture(scope="module")
def truth(workload, gpu):
    return simulate(workload, gpu).run.kernels


def simulated(workload, gpu, inside):
    return simulate(workload, gpu, stop=inside, stop_interval=inside.bin)


@pytest.mark.parametrize("name", RULES)
def test_the_interval_holds_all_launches(workload, gpu, truth, name):
    inside = Inside(RULES[name](), pairs=3)
    result = simulated(workload, gpu, inside)
    outcome = estimate_all(result, inside)
    whole = sum(run.cycles for run in truth)
    assert outcome.in_part >= 6 and outcome.speedup > 1.5
    assert outcome.simulated_cycles < whole
    assert outcome.cycles.low < whole < outcome.cycles.high
    assert outcome.cycles.total == pytest.approx(whole, rel=0.1)
    kernels = outcome.by_kernel()
    assert [row.launches for row in kernels] == [6, 6]
    assert sum(row.estimated for row in kernels) == pytest.approx(outcome.cycles.total)
    assert all(row.low < row.estimated < row.high for row in kernels)


def test_launches_that_are_drawn_run_to_their_end_and_correct_the_others(workload, gpu, truth):
    inside = Inside(RULES["pkp"](), pairs=3)
    result = simulated(workload, gpu, inside)
    runs = result.run.kernels
    drawn = [n for n, run in enumerate(runs) if inside.twin(run)]
    ended = [n for n, run in enumerate(runs) if run.stopped]
    assert sorted(drawn + ended) == list(range(12)) and len(drawn) == 4
    assert [n // 3 for n in drawn] == [0, 1, 2, 3], "one in three, in the order of launches"
    pairs = [(inside.twin(runs[n]).cycles, runs[n].cycles) for n in drawn]
    projected = [inside.projection(runs[n]).cycles for n in ended]
    exact = correct(projected + [seen for seen, _ in pairs], pairs)
    outcome = estimate_all(result, inside)
    assert outcome.cycles.total == pytest.approx(exact.total)
    assert exact.total == pytest.approx(
        exact.ratio * sum(projected) + sum(runs[n].cycles for n in drawn)
    )
    assert ((outcome.cycles.high - outcome.cycles.low) / 2) == pytest.approx(
        exact.error * 3.182446, rel=1e-5
    ), "Student's, with three degrees of freedom"
    assert outcome.document()["inside"]["ratio"] == exact.ratio


def test_what_a_drawn_launch_would_have_been_is_what_it_is_if_it_is_ended(workload, gpu):
    """The first launch: all that follow find another state."""
    short = simulated(workload, gpu, Inside(RULES["pkp"](), pairs=0)).run.kernels[0]
    rule = RULES["pkp"]()
    inside = Inside(rule, pairs=1)
    whole = simulated(workload, gpu, inside).run.kernels[0]
    assert whole.complete and not short.complete
    twin, inside_short = inside.twin(whole), Inside(RULES["pkp"](), pairs=0)
    again = simulated(workload, gpu, inside_short).run.kernels[0]
    assert twin.measured == inside_short.projection(again).measured
    assert twin.estimated == inside_short.projection(again).estimated


def test_without_pairs_nothing_bounds_what_a_rule_ended(workload, gpu):
    inside = Inside(RULES["photon"](), pairs=0)
    outcome = estimate_all(simulated(workload, gpu, inside), inside)
    assert not outcome.cycles.bounded and outcome.in_part == 12
    document = outcome.document()
    assert document["inside"]["ratio"] is None and "observed" not in document
    assert document["cycles"]["estimated"] == outcome.cycles.total
    assert np.isnan(document["cycles"]["low"])
    assert outcome.metrics()["low"].isna().all()
    with pytest.raises(LockstepError, match="ran in part"):
        outcome.ratio("a", "b")


def test_what_windows_are_off_by_adds_up_within_a_kernel(workload, gpu):
    """As if all launches of a kernel were off in the same direction, kernels not."""
    inside = Inside(RULES["windows"]())
    result = simulated(workload, gpu, inside)
    found = inside.together(result.run.kernels, np.ones(12))
    of = np.array([run.name == "a" for run in result.run.kernels]).astype(int)
    variances = found.variances(np.ones(12), of)
    off = [found.deviations[of == k].sum() for k in (0, 1)]
    assert [v for v, _ in variances] == pytest.approx(np.square(off))
    assert found.correction is None and found.pairs == 0


def test_a_rule_that_ends_nothing_leaves_what_was_measured(workload, gpu, truth):
    inside = Inside(Stability(of="gpu", threshold=1e-9))
    outcome = estimate_all(simulated(workload, gpu, inside), inside)
    whole = sum(run.cycles for run in truth)
    assert outcome.cycles.total == outcome.cycles.low == outcome.cycles.high == whole
    assert outcome.in_part == 0 and outcome.speedup == 1


def test_what_cannot_be_is_refused(steady, gpu):
    for options in ({"pairs": -1}, {"seed": -1}):
        with pytest.raises(LockstepError, match="expected 0 or more"):
            Inside(Windows(), **options)
    inside = Inside(Windows())
    beside = program(steady("a", grid=40, stream=1), steady("b", grid=40, stream=2))
    with pytest.raises(LockstepError, match="streams 1 and 2 may run at the same time"):
        estimate_all(simulated(beside, gpu, inside), inside)
