"""Metrics of all launches from counters of some: against the registry, by hand, and by seeds."""

import msgspec
import numpy as np
import pytest

from lockstep.metrics import facts, registry
from lockstep.sampling import Plan, estimate_ratio
from lockstep.sampling.counters import Counters, counted, estimate_rates


def _plan(launches, chosen):
    chosen = np.asarray(chosen, np.int64)
    probability = np.full(len(chosen), len(chosen) / launches)
    return Plan("0" * 64, "by hand", np.zeros(launches, np.int32), chosen, probability)


@pytest.fixture
def runs(synthetic):
    """Twelve launches with random counters."""
    return synthetic.make_run(kernels=12).kernels


@pytest.fixture
def gpu(synthetic):
    return synthetic.small_gpu()


def test_all_launches_have_the_metrics_of_them_together(runs, gpu):
    counters = Counters.of(runs, gpu)
    together = registry.evaluate(registry.columns(gpu), facts.of_kernels(runs, gpu))
    rates = counters.rates()
    assert {name: together[name] for name in rates} == pytest.approx(rates, nan_ok=True)
    assert "sim__l2_hit_rate.pct" in rates and "sim__l2_fills.sum" not in rates
    found = estimate_rates(_plan(12, np.arange(12)), counters)
    for name, value, low, high, _ in found.itertuples():
        assert (low, value, high) == pytest.approx((rates[name],) * 3)
    assert set(found.index) == {name for name, value in rates.items() if np.isfinite(value)}


def test_a_rate_is_a_ratio_of_estimated_totals(runs, gpu):
    chosen = [1, 4, 5, 10]
    some = [runs[k] for k in chosen]
    found = estimate_rates(_plan(12, chosen), Counters.of(some, gpu)).loc["sim__ipc"]
    instructions = np.array([run.sm["warp_instructions"].sum() for run in some])
    expected = estimate_ratio(_plan(12, chosen), instructions, np.array([r.running for r in some]))
    assert found["estimated"] == pytest.approx(expected.total)
    assert found["low"] == pytest.approx(expected.low, rel=1e-3)  # slopes are differences
    assert found["high"] == pytest.approx(expected.high, rel=1e-3)
    rates = [registry.evaluate(registry.columns(gpu), facts.of_kernel(r, gpu)) for r in some]
    mean = np.mean([each["sim__ipc"] for each in rates])
    assert found["estimated"] != pytest.approx(mean, rel=1e-3), "no mean of rates"


def test_a_row_is_what_a_launch_counted(runs):
    run = runs[3]
    row = counted(run)
    assert row[:2].tolist() == [run.cycles, run.running]
    assert row[2:].sum() == sum(
        np.ascontiguousarray(records).view(np.int64).sum() for records in (run.sm, run.partition)
    )


@pytest.mark.long
def test_intervals_of_rates_hold_as_often_as_they_say(synthetic, gpu):
    random = np.random.default_rng(3)
    launches = synthetic.make_run(kernels=1).kernels * 300
    sectors = random.integers(1000, 5000, 300)
    hits = (sectors * random.beta(8, 4, 300)).astype(np.int64)
    made = []
    for run, read, hit in zip(launches, sectors, hits):
        partition = np.zeros_like(run.partition)
        partition["l2_read_sectors"][0], partition["l2_read_hits"][0] = read, hit
        made.append(msgspec.structs.replace(run, partition=partition))
    counters = Counters.of(made, gpu)
    truth, held = 100 * hits.sum() / sectors.sum(), 0
    for _ in range(40):  # each estimates all metrics
        chosen = np.sort(random.choice(300, 20, replace=False))
        some = Counters.of([made[k] for k in chosen], gpu)
        _, low, high, _ = estimate_rates(_plan(300, chosen), some).loc["sim__l2_read_hit_rate.pct"]
        held += low <= truth <= high
    assert counters.rates()["sim__l2_read_hit_rate.pct"] == pytest.approx(truth)
    assert held >= 36
