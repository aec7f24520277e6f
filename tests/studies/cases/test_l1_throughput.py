"""What the L1 refuses: the variants, and what is said of numbers made by hand."""

import pytest

from lockstep import api, kernels
from lockstep.device import Device
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.cases import FIXED_L1
from lockstep.studies.cases.l1_throughput import LINES, QUEUE, WAITED


def test_what_the_variants_differ_in():
    gpus = {v.name: api.gpu(v.gpu or "QV100", v.changes) for v in find("l1-throughput").variants}
    assert [g.l1.allocate for g in gpus.values()] == ["miss", "fill", "miss", "fill", "fill"]
    assert library.replace(gpus["old"], **{"l1.allocate": "fill"}) == gpus["old streaming"]
    assert (
        library.replace(gpus["32 KB reserving"], **{"l1.allocate": "fill"})
        == gpus["32 KB streaming"]
    )
    assert gpus["32 KB streaming"].l1.bytes == 32 << 10 and not gpus["32 KB streaming"].l1.carveouts
    assert gpus["new"] == api.gpu("QV100")
    assert gpus["old"].l1.mshr_entries < gpus["new"].l1.mshr_entries


@pytest.fixture
def outcome(outcome_of):
    """Two programs on SMs that are active for 10,000 cycles."""

    def variant(cycles, waited, lines, queue, hits):
        return {
            "cycles": cycles,
            "sm__cycles_active.sum": 10_000,
            WAITED: waited,
            LINES: lines,
            QUEUE: queue,
            "sim__l1_fail_merge.sum": 7,
            "sim__l1_global_load_hit_rate.pct": hits,
        }

    def program(factor):
        return {
            "old": variant(4000 * factor, 6000 * factor, 4000 * factor, 100, 20),
            "old streaming": variant(3000, 5000, 0, 100, 20),
            "32 KB reserving": variant(1500, 1000, 1000, 50, 30),
            "32 KB streaming": variant(1500, 0, 0, 50, 30),
            "new": variant(1000, 30, 0, 50, 40),
        }

    return outcome_of("l1-throughput", {"a": program(1), "b": program(0.25)})


def test_fails_are_those_of_a_thousand_cycles_by_cause(outcome):
    row = outcome.figures["a"]
    assert (row["old lines"], row["old MSHRs"], row["old queue"]) == (400, 200, 10)
    assert (row["new lines"], row["new MSHRs"], row["new queue"]) == (0, 3, 5)


def test_claims_are_judged_by_the_means(outcome):
    none, streaming, bottleneck = outcome.claims
    assert (none.here, none.verdict.value) == ("375 → 3", "met")
    assert "old: lines 250, MSHRs 125, miss queue 10" in none.reason
    assert "7 refusals because a line had its merges" in none.reason
    assert (streaming.here, streaming.verdict.value) == ("100 → 0", "met")
    assert (bottleneck.here, bottleneck.verdict.value) == ("2.00 times the cycles", "met")


def test_an_l1_that_reserves_lines_waits_for_them_and_a_streaming_one_does_not():
    waited = {}
    for allocate in ("miss", "fill"):
        changes = (*FIXED_L1, "l1.bytes=4096", f"l1.allocate={allocate}", "sm.count=4")
        with Device(api.gpu("QV100", changes), timing=True) as device:
            kernels.load("gesummv").run(device, 70)
            total = device.result.total
        waited[allocate] = total[LINES]
        assert 0 <= total[LINES] <= total[WAITED]
    assert waited["miss"] > 0
    assert waited["fill"] == 0
