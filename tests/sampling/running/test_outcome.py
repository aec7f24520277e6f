"""What simulated launches say of all: metrics, documents, and two designs side by side."""

import msgspec
import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.metrics import facts, registry
from lockstep.sampling import Plan, estimate
from lockstep.sampling.running import SampledRun


@pytest.fixture
def sampled(synthetic):
    """Function: of some launches, and the runs of them, what they say of twelve of one kernel."""

    def make(chosen, runs, stratum=(0,) * 12):
        chosen, stratum = np.asarray(chosen, np.int64), np.array(stratum, np.int32)
        share = np.bincount(stratum[chosen]) / np.bincount(stratum)
        plan = Plan("0" * 64, "by hand", stratum, chosen, share[stratum[chosen]])
        kernel_of = np.zeros(12, np.int64)
        return SampledRun(plan, runs, synthetic.small_gpu(), kernel_of, ["_Z4axpyv"], 0.95)

    return make


@pytest.fixture
def runs(synthetic):
    return synthetic.make_run(kernels=12).kernels


def test_every_metric_of_a_run_is_estimated(sampled, runs, synthetic):
    found = sampled(range(12), runs).metrics()
    gpu = synthetic.small_gpu()
    together = registry.evaluate(registry.columns(gpu), facts.of_kernels(runs, gpu))
    for name, value in together.items():
        if np.isfinite(value):  # sectors of bytes that are made up are rounded in each launch
            assert found.loc[name].tolist() == pytest.approx([value] * 3, rel=0.005), name
    assert found.index.is_unique


def test_sums_grow_and_rates_do_not(sampled, runs):
    some = sampled([2, 3], [runs[1], msgspec.structs.replace(runs[1])])  # the same twice
    found, one = some.metrics(), some.observed.iloc[0]
    assert found.loc["sim__l2_fills.sum", "estimated"] == 12 * one["sim__l2_fills.sum"]
    assert found.loc["sim__ipc", "estimated"] == pytest.approx(one["sim__ipc"])
    ipc = found.loc["sim__ipc"]
    assert ipc["low"] < ipc["estimated"] < ipc["high"], "what was not seen may be off"


def test_the_document_has_no_estimate_under_the_name_of_a_metric(sampled, runs):
    document = sampled(range(12), runs).document()
    total = sum(run.cycles for run in runs)
    assert document["cycles"] == {"estimated": total, "low": total, "high": total}
    assert document["metrics"]["gpc__cycles_elapsed.max"] == document["cycles"]
    assert set(document["metrics"]["sim__ipc"]) == {"estimated", "low", "high"}
    assert document["launches"] == 12 and document["kernels"][0]["title"] == "axpy()"


def _slower(run, factor):
    return msgspec.structs.replace(run, end=run.launched + round(run.cycles * factor))


def test_two_designs_are_compared_in_pairs(sampled, runs):
    some = runs[:4]
    first = sampled([0, 3, 5, 9], some)
    second = sampled([0, 3, 5, 9], [_slower(run, 1.5) for run in some])
    found = second.relative_to(first)
    assert found.total == pytest.approx(1.5, rel=1e-3)
    both = [estimate(first.plan, each._cycles).half_width for each in (first, second)]
    assert found.half_width < 0.5 * np.hypot(*both), "what varies alike does not widen it"
    assert found.low < found.total < found.high


def test_runs_of_different_plans_are_no_pairs(sampled, runs):
    first = sampled([0, 3], runs[:2])
    for other in (sampled([0, 4], runs[:2]), sampled([0, 3], runs[:2], [0, 1, 1, 1] + [0] * 8)):
        with pytest.raises(LockstepError, match="followed different plans"):
            other.relative_to(first)


@pytest.mark.parametrize("copy", ["instant", "timed"])
def test_estimates_say_that_they_are_without_the_host_where_it_takes_time(sampled, runs, copy):
    outcome = sampled([0, 1], runs[:2])
    host = msgspec.structs.replace(outcome.gpu.host, copy=copy)
    outcome.gpu = msgspec.structs.replace(outcome.gpu, host=host)
    without = ["copies and calls of the host are not in it"] * (copy == "timed")
    assert outcome.document()["notes"] == without
