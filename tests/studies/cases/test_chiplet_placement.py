"""Placement of CTAs and pages: what is said of numbers made by hand."""

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.chiplets import GPU


def test_placements_and_nothing_else_differ():
    study = find("chiplet-placement")
    gpus = {v.name: api.gpu(GPU, v.changes) for v in study.variants}
    base = gpus["round robin, interleaved"]
    for ctas in ("round_robin", "contiguous"):
        for pages in ("interleaved", "first_touch"):
            name = f"{ctas.replace('_', ' ')}, {pages.replace('_', ' ')}"
            changes = {"modules.ctas": ctas, "modules.pages": pages}
            assert gpus[name] == library.replace(base, **changes)
    assert gpus["monolithic"] == library.replace(base, **{"modules.count": 1})


def outcome(outcome_of, both=0.5):
    def variant(cycles, carried, remote, dram=80.0):
        counters = {"sim__sol_dram.pct": dram, "sim__module_remote.pct": remote}
        counters |= {"sim__sol_module_link.pct": 1.0, "sim__module_link_bytes.sum": carried}
        return counters | {"cycles": cycles, "sim__module_link_wait.avg": 1.0}

    def program(together, dram):
        return {
            "monolithic": variant(900 * together, float("nan"), float("nan"), dram),
            "round robin, interleaved": variant(1000, 5e6, 75.0),
            "round robin, first touch": variant(1100, 4e6, 60.0),
            "contiguous, interleaved": variant(1000, 5e6, 75.0),
            "contiguous, first touch": variant(1000 * together, 1e6, 10.0),
        }

    return outcome_of("chiplet-placement", {"a": program(both, 80), "b": program(1.0, 20)})


def test_claims_are_of_all_programs_but_one(outcome_of):
    faster, less, near, together, intensive = outcome(outcome_of).claims
    assert (faster.here, faster.verdict.value) == ("1.41 times", "in part")
    assert (less.here, less.verdict.value) == ("5.00 times", "met")
    assert (near.here, near.verdict.value) == ("+11.1 % of cycles", "not met")
    assert (together.here, together.verdict.value) == ("1.41 times; alone 0.91 and 1.00", "met")
    assert (intensive.here, intensive.verdict.value) == ("2.00 times", "met")
    assert "contiguous, first touch: 10.0 % of requests are remote" in faster.reason


def test_what_gains_nothing_is_told(outcome_of):
    faster, *_ = outcome(outcome_of, both=1.0).claims
    assert (faster.here, faster.verdict.value) == ("1.00 times", "not met")
