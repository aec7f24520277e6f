"""What all rules found, put together: order, table, document."""

import msgspec
import pytest

import lockstep
from lockstep.advice.advise import examined
from lockstep.advice.rules import RULES


def test_problems_come_first_by_the_time_that_they_take(outcome):
    advice = examined(outcome("partial_sectors", False))
    limits = [item.rule.limit for item in advice.items]
    assert limits == sorted(limits) and True in limits and False in limits
    for kind in (False, True):
        cycles = [item.cycles for item in advice.items if item.rule.limit is kind]
        assert cycles == sorted(cycles, reverse=True)
    assert len(advice.problems) == limits.count(False)


def test_the_table_has_a_row_an_item(outcome):
    advice = examined(outcome("uncoalesced", False))
    row = advice.table[advice.table["rule"] == "uncoalesced"].iloc[0]
    assert (row["kernel"], row["text"], row["lift"]) == ("strided", "LDG.E", "coalescing")
    assert 0 < row["share"] <= 1 and row["gain"] > 1 and not row["at_limit"]
    result = outcome("uncoalesced", False)
    assert row["gain"] == pytest.approx(result.cycles / (result.cycles - row["cycles"]))


def test_without_findings_the_table_is_empty_and_has_its_columns(outcome):
    result = outcome("tensor", True)
    whole = examined(outcome("uncoalesced", False)).table
    advice = msgspec.structs.replace(examined(result), items=())
    assert advice.table.empty and list(advice.table.columns) == list(whole.columns)


def test_looking_leaves_a_result_as_it_is(outcome):
    result = outcome("barriers", False)
    examined(result)
    assert result.advice == {} and "advice" not in result.to_dict()


def test_a_run_without_kernels_has_no_advice(synthetic):
    assert lockstep.advise(synthetic.make_result(kernels=0)).items == ()


def test_any_counters_can_be_looked_at(synthetic):
    for seed in range(5):
        result = synthetic.make_result(seed=seed)
        for item in examined(result).items:
            assert item.rule in RULES and item.gain > 0


def test_launches_of_a_kernel_are_one_item(outcome):
    rules = [item.rule.name for item in examined(outcome("launches", False)).items]
    assert len(rules) == len(set(rules)), "the eight launches are of one kernel"
