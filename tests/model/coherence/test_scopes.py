"""Scopes in time: litmus tests through SMs, L2 and DRAM; 10,000 seeds: ``scripts/coherence.py``."""

import pytest

from coherence_twin import timed
from coherence_twin.scope_tests import TIMED

SEEDS = range(40)
RARE = ("IRIW weak", "IRIW fences cta", "WRC weak", "WRC cta")
"""Allowed, and seen less often than in one of twenty seeds."""
BY_NAME = {test.name: test for test in TIMED}


@pytest.mark.parametrize("name", [t.name for t in TIMED if t.verdict != "seen"])
def test_what_is_forbidden_is_never_seen(name):
    """Nor what these caches are too strict for."""
    assert timed.count(BY_NAME[name], SEEDS) == 0


@pytest.mark.parametrize("name", [t.name for t in TIMED if t.verdict == "seen"])
def test_what_is_weak_is_seen(name):
    test = BY_NAME[name]
    assert timed.count(test, range(1000 if name in RARE else 100)) > 0


@pytest.mark.parametrize(
    "name", ["CoWR", "CoRW1", "MP gpu", "MP cta, one SM", "SB fences gpu", "ISA2 through one SM"]
)
def test_without_scopes_it_is(name):
    """So the tests can tell."""
    assert timed.count(BY_NAME[name], range(500), "none") > 0
