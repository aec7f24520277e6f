"""Every rule finds the kernel that was made to have its problem, and leaves all others alone."""

import math

import pytest

from lockstep.advice.advise import examined
from lockstep.advice.lifts import NAMES
from lockstep.advice.observation import Observation
from lockstep.advice.rules import RULES

BY_NAME = {rule.name: rule for rule in RULES}
COUNTED = {"instruction_cache", "partial_sectors"}
"""Rules that say nothing unless instructions were counted: they would have to guess."""


@pytest.fixture(scope="module")
def rules(pairs):
    """The names of all rules; each has its pair of kernels."""
    assert set(pairs.PAIRS) == set(BY_NAME)
    return BY_NAME


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
def test_a_rule_finds_the_kernel_with_its_problem(rules, outcome, name):
    found = [item for item in examined(outcome(name, False)).items if item.rule.name == name]
    assert len(found) == 1
    item = found[0]
    assert 0 < item.found.share <= 1 and item.gain > 1 and item.cycles > 0
    assert item.found.what.endswith(".") and item.found.todo.endswith(".")
    assert item.found.evidence and all(math.isfinite(e.value) for e in item.found.evidence)
    assert item.lift in ("", *NAMES)


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
def test_a_rule_is_silent_of_the_same_kernel_without_it(rules, outcome, name):
    assert name not in [item.rule.name for item in examined(outcome(name, True)).items]


@pytest.mark.parametrize("kernel", BY_NAME)
def test_no_rule_finds_a_problem_in_a_kernel_made_without(rules, outcome, kernel):
    result = outcome(kernel, True)
    assert [item.rule.name for item in examined(result).problems] == []
    seen = Observation(result, result.run.kernels)
    for name, rule in rules.items():
        if not rule.limit:
            assert rule.look(seen) is None, name


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
def test_without_counts_by_instruction_rules_find_it_too_or_nothing(rules, outcome, name):
    bad, clean = (examined(outcome(name, clean, False)) for clean in (False, True))
    assert (name in [item.rule.name for item in bad.items]) == (name not in COUNTED)
    assert clean.problems == () and all(item.found.spot is None for item in bad.items)


SPOTS = {
    "uncoalesced": "LDG.E", "partial_sectors": "LDG.E", "local_memory": "LDL", "slow_units": "DADD",
    "atomics": "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "barriers": "BAR.SYNC", "l1_thrash": "LDG.E",
}  # fmt: skip
"""By rule: the instruction at which the kernel with the problem has it."""


@pytest.mark.parametrize("name", SPOTS)
def test_a_rule_names_the_instruction(rules, outcome, name):
    result = outcome(name, False)
    spot = next(i for i in examined(result).items if i.rule.name == name).found.spot
    assert spot.text == SPOTS[name] or (name == "local_memory" and spot.text == "STL")
    counted = result.source
    assert counted[counted["pc"] == spot.pc].iloc[0]["text"] == spot.text


EVIDENCE = {
    ("uncoalesced", "sectors a request"): 32,
    ("uncoalesced", "sectors that the bytes fill"): 4,
    ("partial_sectors", "of touched sectors used"): 50,
    ("bank_conflicts", "passes of those that are needed"): 16,
    ("small_grid", "launch__grid_size"): 2,
    ("tail_wave", "launch__waves_per_multiprocessor"): 9 / 8,
    ("partial_warps", "launch__block_size"): 33,
    ("launches", "kernels"): 8,
    ("occupancy", "sm__maximum_warps_per_active_cycle_pct"): 12.5,
}


@pytest.mark.parametrize(("rule", "name"), EVIDENCE)
def test_the_evidence_is_what_the_kernel_was_made_with(rules, outcome, rule, name):
    found = next(i for i in examined(outcome(rule, False)).items if i.rule.name == rule).found
    values = {each.name: each.value for each in found.evidence}
    assert values[name] == pytest.approx(EVIDENCE[rule, name])


def test_the_limiter_says_what_lifts_it(rules, outcome):
    found = next(
        i for i in examined(outcome("occupancy", False)).items if i.rule.name == "occupancy"
    )
    assert found.lift == "registers"
    assert found.found.todo == "With at most 128 registers a thread (it has 200) 2 CTAs fit."


def test_rules_have_names_of_their_own():
    assert len(BY_NAME) == len(RULES) >= 14
