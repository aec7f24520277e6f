import math

import numpy as np

from lockstep._jit import as_records
from lockstep.metrics import facts
from lockstep.model.counters import N_STALLS, SM_COUNTERS, Stall


def test_ratios_without_a_whole_are_undefined():
    assert facts.ratio(1, 4) == 0.25
    assert facts.percent(1, 4) == 25.0
    assert math.isnan(facts.ratio(3, 0))
    assert math.isnan(facts.percent(0, 0))


def test_sums_agree_with_a_field_by_field_sum(synthetic):
    records = synthetic.counters(np.random.default_rng(5), SM_COUNTERS, 7)
    total = facts.sums(records)
    for name in SM_COUNTERS.names:
        assert getattr(total, name) == records[name].sum(axis=0).tolist(), name
    assert len(total.stalls) == N_STALLS


def test_sums_take_a_single_record_and_an_array(synthetic):
    records = synthetic.counters(np.random.default_rng(5), SM_COUNTERS, 2)
    assert facts.sums(records[0]).ctas == int(records["ctas"][0])
    assert facts.sums(as_records(records)).ctas == int(records["ctas"].sum())


def test_intervals_add_up_to_the_last_sample(synthetic):
    run, gpu = synthetic.make_run(samples=5), synthetic.small_gpu()
    parts = [facts.of_interval(run, number, gpu) for number in range(5)]
    last = run.samples[-1]
    assert sum(p.cycles for p in parts) == last["cycle"] == run.cycles
    assert sum(p.sm.warp_instructions for p in parts) == last["sm"]["warp_instructions"]
    fetch = sum(p.sm.stalls[Stall.FETCH] for p in parts)
    assert fetch == last["sm"]["stalls"][Stall.FETCH]


def test_a_run_adds_its_kernels_and_leaves_out_gaps(synthetic):
    run, gpu = synthetic.make_run(kernels=3), synthetic.small_gpu()
    whole = facts.of_run(run, gpu)
    each = [facts.of_kernel(k, gpu) for k in run.kernels]
    assert whole.cycles == run.cycles
    assert whole.running == sum(k.running for k in each) == run.cycles - 300  # launch overheads
    assert whole.sm.transactions == sum(k.sm.transactions for k in each)
    assert whole.sm.issued[1] == sum(k.sm.issued[1] for k in each)
