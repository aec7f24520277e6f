"""Entries of MSHR files: what is said of numbers made by hand."""

from lockstep import api
from lockstep.gpus import library
from lockstep.studies import find
from lockstep.studies.cases.mshr_entries import ENDLESS, L1, L2, name_of


def runs(slowness, waited=7):
    """Counters of a program that takes ``slowness(l1, l2)`` times the cycles without a limit."""
    made = {name_of(l1, l2): slowness(l1, l2) for l1 in L1 for l2 in L2} | {ENDLESS: 1}
    return {
        name: {"cycles": 1000 * factor, "sim__l2_nacks.sum": 40, "sim__l1_waited.sum": waited}
        for name, factor in made.items()
    }


def test_entries_and_nothing_else_differ():
    study = find("mshr-entries")
    variants = {v.name: api.gpu(study.gpu, v.changes) for v in study.variants}
    assert len(variants) == 1 + len(L1) * len(L2)
    one, other = variants[name_of(16, 32)], variants[name_of(64, 256)]
    assert (one.l1.mshr_entries, one.l2.mshr_entries, one.l2.mshr_full) == (16, 32, "nack")
    entries = {"l1.mshr_entries": 64, "l2.mshr_entries": 256}
    assert library.replace(one, **entries) == other
    endless = variants[ENDLESS]
    assert endless.l1.mshr_entries == endless.l2.mshr_entries == 2048
    assert all(gpu.dram.scheduler == "fixed" for gpu in variants.values())


def test_claims_are_judged_program_by_program(outcome_of):
    slow = runs(lambda l1, l2: 5 if l2 == 16 else 1)  # 0.2 of the OPC, then all of it
    falling = runs(lambda l1, l2: 1.5 if l2 == 256 else 1)
    by_l1 = runs(lambda l1, l2: 1 + (64 - l1) / 100)
    hurt = runs(lambda l1, l2: 0.9 + l1 / 200)
    programs = {"mersenne_twister": slow, "reduction": by_l1, "dwt_haar_1d": hurt}
    few, mersenne, rises, saturates, matter, hurts, beats = outcome_of(
        "mshr-entries", {**programs, "floyd_warshall": falling}
    ).claims
    assert (few.here, few.verdict.value) == ("1 of 4", "in part")
    assert (mersenne.here, mersenne.verdict.value) == ("0.20", "met")
    assert (rises.here, rises.verdict.value) == ("in 3 of 4 programs", "in part")
    assert (saturates.here, saturates.verdict.value) == ("4 of 4", "met")
    assert (matter.here, matter.verdict.value) == ("in 2 of them", "met")
    assert (hurts.here, hurts.verdict.value) == ("in 1 of them", "met")
    assert (beats.here, beats.verdict.value) == ("1.02", "met")
    assert few.reason == "on average 40 refusals and 7 reads that wait beside an L1"
