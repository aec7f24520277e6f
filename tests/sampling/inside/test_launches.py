"""A rule for all launches of a run: which run to their end, and what the sum may be off by."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import program
from lockstep.errors import LockstepError
from lockstep.sampling.inside import Inside, Stability, Windows, correct
from lockstep.sampling.inside.deviation import Deviation
from lockstep.sampling.running import estimate_all


def steadiness():
    return Stability(threshold=5, window=600)  # it ends all launches of a wave and more


@pytest.fixture(scope="module")
def gpu(small):
    return small(sm__ctas=2, sm__count=2)


def simulated(workload, gpu, inside):
    return simulate(workload, gpu, stop=inside, stop_interval=inside.bin)


@pytest.fixture(scope="module")
def ended(steady, gpu):
    """Six launches of two kernels, one in two of which runs to its end; the rule, and the run."""
    inside = Inside(steadiness(), pairs=2)
    workload = program(*(steady("ab"[n % 2], grid=40 + 8 * n, loops=1) for n in range(6)))
    return inside, simulated(workload, gpu, inside)


def test_launches_that_are_drawn_run_to_their_end_and_correct_the_others(ended):
    inside, result = ended
    runs = result.run.kernels
    drawn = [n for n, run in enumerate(runs) if inside.twin(run)]
    cut = [n for n, run in enumerate(runs) if run.stopped]
    assert sorted(drawn + cut) == list(range(6))
    assert [n // 2 for n in drawn] == [0, 1, 2], "one in two, in the order of launches"
    pairs = [(inside.twin(runs[n]).cycles, runs[n].cycles) for n in drawn]
    projected = [inside.projection(runs[n]).cycles for n in cut]
    exact = correct(projected + [seen for seen, _ in pairs], pairs)
    outcome = estimate_all(result, inside)
    whole = sum(runs[n].cycles for n in drawn)
    assert outcome.cycles.total == pytest.approx(exact.ratio * sum(projected) + whole)
    assert outcome.cycles.total == pytest.approx(exact.total)
    half = (outcome.cycles.high - outcome.cycles.low) / 2
    assert half == pytest.approx(exact.error * 4.302653, rel=1e-5), "Student's, two degrees"
    assert outcome.in_part == outcome.paired == 3 and outcome.speedup > 1
    assert outcome.simulated_cycles == sum(run.cycles for run in runs)
    kernels = outcome.by_kernel()
    assert [row.launches for row in kernels] == [3, 3]
    assert sum(row.estimated for row in kernels) == pytest.approx(outcome.cycles.total)


def test_what_is_estimated_has_no_name_of_what_is_measured(ended):
    inside, result = ended
    outcome = estimate_all(result, inside)
    document = outcome.document()
    assert "observed" not in document and document["confidence"] == 0.95
    assert set(document["cycles"]) == {"estimated", "low", "high"}
    about = document["inside"]
    assert (about["rule"], about["in part"], about["run to their end"]) == ("Stability", 3, 3)
    assert about["cycles simulated"] == [run.cycles for run in result.run.kernels]
    assert sum(about["estimated"]) == pytest.approx(outcome.cycles.total)
    metrics = outcome.metrics()
    assert metrics["estimated"].notna().all() and metrics[["low", "high"]].isna().all(axis=None)
    with pytest.raises(LockstepError, match="3 launches ran in part"):
        outcome.relative_to(outcome)


def test_what_a_drawn_launch_would_have_been_is_what_it_is_if_it_is_ended(steady, gpu):
    workload = steady(grid=80, loops=1).workload()
    drawn, short = Inside(steadiness(), pairs=1), Inside(steadiness(), pairs=0)
    (whole,) = simulated(workload, gpu, drawn).run.kernels
    (cut,) = simulated(workload, gpu, short).run.kernels
    assert whole.complete and cut.stopped
    twin, projection = drawn.twin(whole), short.projection(cut)
    assert twin.measured == projection.measured and twin.estimated == projection.estimated
    assert drawn.projection(whole).cycles == whole.cycles and short.twin(cut) is None
    (again,) = simulated(workload, gpu, drawn).run.kernels
    assert drawn.twin(again).estimated == twin.estimated, "a rule may serve another run"


class Known(Inside):
    """Launches of which everything is known: (projected, exact, whether they were drawn)."""

    def projection(self, run):
        method, cycles = ("whole", run.exact) if run.drawn else ("ctas", run.projected)
        return SimpleNamespace(method=method, cycles=cycles, deviation=run.deviation)

    def twin(self, run):
        return SimpleNamespace(cycles=run.projected) if run.drawn else None


def launches(rng, n, every):
    """Projections 6 to 10 % too low, of which one in ``every`` was drawn."""
    exact = rng.uniform(5_000, 20_000, n)
    projected = exact * rng.uniform(0.9, 0.94, n)
    drawn = np.concatenate([rng.permutation(every) == 0 for _ in range(n // every)])
    return [
        SimpleNamespace(exact=e, projected=p, drawn=d, deviation=None)
        for e, p, d in zip(exact, projected, drawn.tolist())
    ]


def test_the_interval_of_pairs_holds():
    rng, inside, holds = np.random.default_rng(5), Known(Windows()), 0
    for _ in range(300):
        runs = launches(rng, 60, 6)
        found = inside.together(runs, np.ones(60))
        ((variance, freedom),) = found.variances(np.ones(60), np.zeros(60, int))
        off = abs(found.cycles.sum() - sum(run.exact for run in runs))
        assert off < 0.04 * found.cycles.sum() and freedom == 9
        holds += off <= 2.262 * variance**0.5
    assert 0.92 * 300 <= holds <= 0.985 * 300


def test_what_windows_are_off_by_adds_up_within_a_kernel():
    """As if all launches of a kernel were off in the same direction, and kernels not."""
    off = [3.0, 4.0, 5.0]
    runs = [
        SimpleNamespace(exact=0, projected=100.0, drawn=False, deviation=Deviation(each, 2 + n))
        for n, each in enumerate(off)
    ]
    found = Known(Windows()).together(runs, np.ones(3))
    kernels = np.array([0, 1, 0])
    assert found.variances(np.array([1.0, 1, 2]), kernels) == [(13.0**2, 2), (16.0, 3)]
    assert found.variances(np.array([0.0, 1, 0]), kernels) == [(16.0, 3)]
    runs[0].deviation = None
    unknown = Known(Windows()).together(runs, np.ones(3)).variances(np.ones(3), kernels)
    assert np.isnan(unknown[0][0]) and unknown[1] == (16.0, 3)


def test_what_cannot_be_is_refused(steady, gpu):
    for options in ({"pairs": -1}, {"seed": -1}):
        with pytest.raises(LockstepError, match="expected 0 or more"):
            Inside(Windows(), **options)
    inside = Inside(Windows())
    beside = program(steady("a", grid=2, stream=1), steady("b", grid=2, stream=2))
    with pytest.raises(LockstepError, match="streams 1 and 2 may run at the same time"):
        estimate_all(simulated(beside, gpu, inside), inside)
