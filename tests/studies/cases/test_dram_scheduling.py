"""FR-FCFS against FCFS: what is said of numbers made by hand."""

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find


def test_schedulers_and_nothing_else_differ():
    variants = {
        v.name: api.gpu(v.gpu or "QV100", v.changes) for v in find("dram-scheduling").variants
    }
    for model in ("old", "new"):
        fcfs, frfcfs = variants[f"{model} FCFS"], variants[f"{model} FR-FCFS"]
        assert (fcfs.dram.scheduler, frfcfs.dram.scheduler) == ("fcfs", "frfcfs")
        assert library.replace(fcfs, **{"dram.scheduler": "frfcfs"}) == frfcfs
    assert variants["old FCFS"].dram.standard == "GDDR5"
    assert variants["new FCFS"].dram.standard == "HBM2"


def test_claims_are_judged_by_the_means(scheduling):
    old, new, order = scheduling.claims
    assert (old.paper, old.here, old.verdict.value) == ("1.2 times", "1.24 times", "met")
    assert (new.paper, new.here, new.verdict.value) == ("2.5 times", "2.50 times", "met")
    assert (order.here, order.verdict.value) == ("in 2 of 2 programs", "met")
    assert "DRAM in use 35 → 70 %" in old.reason and "DRAM in use 18 → 70 %" in new.reason
    assert "row hits 90 → 90 %" in new.reason
