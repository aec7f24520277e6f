"""Accesses by line and by sector: the variants, and what is said of numbers made by hand."""

import pytest

from lockstep import api, kernels
from lockstep.device import Device
from lockstep.studies import find
from lockstep.studies.cases.coalescer import HITS, LOADS, READS


def variant(cycles, accesses, hits=50, reads=100):
    return {"cycles": cycles, LOADS: accesses, HITS: hits, READS: reads}


@pytest.fixture
def outcome(outcome_of):
    """Of one program, all of each line is needed, of the other a quarter."""
    runs = {
        "dense": {
            "old": variant(200, 1000),
            "lines": variant(100, 1000),
            "new": variant(100, 1000),
        },
        "sparse": {
            "old": variant(800, 400, reads=800),
            "lines": variant(150, 400, reads=400),
            "new": variant(100, 100),
        },
    }
    return outcome_of("coalescer", runs, {"dense": {LOADS: 1000.0}, "sparse": {LOADS: 100.0}})


def test_accesses_stand_beside_hardware(outcome):
    assert outcome.figures["dense"]["old accesses"] == 1000
    assert outcome.figures["sparse"]["old / H100"] == outcome.figures["sparse"]["lines / H100"] == 4
    assert outcome.means["new / H100"] == 1


def test_claims_are_judged_beside_hardware(outcome):
    sectors, lines, reads, slower = outcome.claims
    assert (sectors.here, sectors.verdict.value) == ("0.00", "met")
    # Root of the mean square of 0 and 300, over the mean of 1000 and 100.
    assert (lines.here, lines.verdict.value) == ("0.39", "in part")
    assert "bias +150.0 %" in lines.reason
    assert (reads.here, reads.verdict.value) == ("2.00 times the L2 reads", "met")
    assert (slower.here, slower.verdict.value) == ("4.00 times the cycles", "met")


def test_without_hardware_accesses_are_not_judged(outcome_of, outcome):
    alone = outcome_of("coalescer", outcome.runs)
    alone.measured.clear()
    bare = {p: {v: dict(c) for v, c in r.items() if v != "hardware"} for p, r in alone.runs.items()}
    claims = outcome_of("coalescer", bare).claims
    assert [c.verdict.value for c in claims[:2]] == ["unknown", "unknown"]
    assert "nan" not in "".join(c.here + c.reason for c in claims)


def test_sectors_of_an_h100_are_known_of_large_programs():
    study = find("coalescer")
    measured = study.measured("QV100", "large")
    assert set(measured) < {program.name for program in study.programs}
    assert len(measured) == 5 and measured["softmax"][LOADS] == 512_000
    assert study.measured("QV100", "small") == {}


def test_the_coalescers_differ_in_what_they_fetch():
    totals = {}
    for v in find("coalescer").variants:
        with Device(api.gpu(v.gpu or "QV100", ("sm.count=4", *v.changes)), timing=True) as device:
            kernels.load("spmv").run(device, 200)
            totals[v.name] = device.result.total
    lines = totals["new"]["sim__coalesced_transactions.sum"]
    assert totals["lines"][LOADS] == totals["old"][LOADS] <= 4 * lines  # of loads and stores
    assert totals["lines"][LOADS] % 4 == 0
    assert totals["new"][LOADS] < totals["lines"][LOADS]
    assert totals["new"][READS] < totals["lines"][READS]
