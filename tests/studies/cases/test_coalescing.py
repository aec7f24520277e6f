"""Coalescing against merging: what is said of numbers made by hand."""

import pytest

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.cases.coalescing import SETTINGS, THEIRS


def runs(combined, gain, line=1.0):
    """A program of which coalescing combines so many times the requests, and gains so much."""
    made = {}
    for setting in SETTINGS:
        factor = gain if setting.order == "multi2sim" else line
        for join, more, cycles in (("coalesce", combined, 1000), ("merge", 1, 1000 * factor)):
            of = {
                f"sim__vmu_{of}_{what}.sum": n
                for of, n in (("load", 10 / more), ("store", 20))
                for what in ("accesses", "merged")
            }
            counters = {"cycles": cycles, "sim__vmu_combined.sum": 100 * more} | of
            made[setting.called(join)] = counters
    return made


def test_what_joins_order_and_phases_differ_and_nothing_else():
    study = find("coalescing")
    variants = {v.name: api.gpu(study.gpu, v.changes) for v in study.variants}
    assert len(variants) == 8
    for setting in SETTINGS:
        coalesce, merge = (variants[setting.called(join)] for join in ("coalesce", "merge"))
        assert (coalesce.vmu.ports, coalesce.vmu.join) == (2, "coalesce")
        assert (coalesce.vmu.order, coalesce.vmu.phases) == (setting.order, setting.phases)
        assert library.replace(coalesce, **{"vmu.join": "merge"}) == merge
    assert (THEIRS.order, THEIRS.phases) == ("multi2sim", 4)


def test_claims_are_judged_program_by_program(outcome_of):
    programs = {
        "matrix_transpose": runs(1.8, 3.0, line=2.5),
        "recursive_gaussian": runs(1.3, 1.1),
        "reduction": runs(1.02, 1),
        "binary_search": runs(0.9, 1),
    }
    outcome = outcome_of("coalescing", programs)
    transpose, gaussian, equal, fast, slow, ordered = outcome.claims
    assert (transpose.here, transpose.verdict.value) == ("1.80", "met")
    assert transpose.reason == "6 accesses of loads for 10, 20 accesses of stores for 20"
    assert (gaussian.here, gaussian.verdict.value) == ("1.30", "in part")
    assert (equal.here, equal.verdict.value) == ("1 of 2", "in part")
    assert equal.reason == "binary_search 0.90"
    assert (fast.here, fast.verdict.value) == ("3.00", "met")
    assert fast.reason == "multi2sim 1: 3.00; line 4: 2.50; line 1: 2.50"
    assert (slow.here, slow.verdict.value) == ("1.10", "in part")
    assert (ordered.here, ordered.verdict.value) == ("3.00 and 1.10", "met")


@pytest.mark.parametrize("programs", [{}, {"reduction": runs(1, 1)}])
def test_nothing_is_said_of_programs_that_were_not_run(outcome_of, programs):
    claims = outcome_of("coalescing", programs).claims
    assert {claims[n].verdict.value for n in (0, 1, 3, 4, 5)} == {"unknown"}
