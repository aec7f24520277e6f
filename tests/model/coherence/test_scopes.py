"""Scopes in time: litmus tests through SMs, L2 and DRAM; 10,000 seeds: ``scripts/coherence.py``."""

import pytest

from coherence_twin import timed
from coherence_twin.scope_tests import TIMED, UNDER_STRESS, verdict

SEEDS = range(40)
RARE = ("IRIW weak", "IRIW fences cta", "WRC weak", "WRC cta")
"""Allowed, and seen less often than in one of twenty seeds."""
BY_NAME = {test.name: test for test in TIMED}


@pytest.mark.long
@pytest.mark.parametrize("name", [t.name for t in TIMED if t.verdict != "seen"])
def test_what_is_forbidden_is_never_seen(name):
    """Nor what these caches are too strict for."""
    assert timed.count(BY_NAME[name], SEEDS) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", [t.name for t in TIMED if t.verdict == "seen"])
def test_what_is_weak_is_seen(name):
    test = BY_NAME[name]
    assert timed.count(test, range(1000 if name in RARE else 100)) > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["CoWR", "CoRW1", "MP gpu", "MP cta, one SM", "SB fences gpu", "ISA2 through one SM"]
)
def test_without_scopes_it_is(name):
    """So the tests can tell."""
    assert timed.count(BY_NAME[name], range(500), "none") > 0


STRICT = (
    "CoRR mixed", "CoWR", "CoRW2", "MP gpu", "MP cta, one SM", "SB fences gpu", "IRIW fences",
    "2+2W fences", "WRC", "ISA2 through one SM",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", UNDER_STRESS)
def test_under_stress_stores_are_passed_by_what_goes_elsewhere(name):
    test = BY_NAME[name]
    assert test.verdict == "unseen" and verdict(test, stress=True) == "seen"
    some = (range(k, k + 100) for k in range(0, 1000, 100))
    assert any(timed.count(test, seeds, stress=True) for seeds in some)


@pytest.mark.parametrize("name", STRICT)
def test_under_stress_what_is_forbidden_is_never_seen(name):
    assert timed.count(BY_NAME[name], SEEDS, stress=True) == 0


SIDES = {
    "l2__sides": 2,
    "l2__side_reads": "near",
    "l2__side_writes": "both",
    "l2__neighbours": 2,
    "l2__far_latency": 40,
}


@pytest.mark.parametrize("name", STRICT)
def test_two_sides_have_one_home_for_a_line(name):
    values = timed.outcomes(BY_NAME[name], SEEDS, dram__channels=2, **SIDES)
    assert not any(timed.shows(BY_NAME[name], v) for v in values)


def test_sides_with_copies_are_seen_without_scopes():
    """So the tests above can tell."""
    some = (BY_NAME["MP acquire alone"], BY_NAME["CoRR mixed"], BY_NAME["MP gpu"])
    values = [(test, v) for test in some for v in timed.outcomes(test, SEEDS, "none", **SIDES)]
    assert any(timed.shows(test, v) for test, v in values)
