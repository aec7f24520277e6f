"""What is recorded of a user's policies."""

import json

import pytest

import lockstep
from lockstep.errors import PolicyError
from lockstep.policies import POLICIES, captured, describe, helpers, select

STEP = 3


def step(a):
    return a + STEP


def uses(a, b):
    return step(a) * b


def test_the_names_are_those_that_simulate_takes():
    import inspect

    parameters = inspect.signature(lockstep.simulate).parameters
    assert [name for name in parameters if name in POLICIES] == list(POLICIES)


def test_only_what_is_given_is_selected_and_other_names_are_refused():
    assert select({"scheduler": uses, "slice_hash": None}) == {"scheduler": uses}
    with pytest.raises(PolicyError, match="no policy 'schedular'; there are scheduler, l1_rep"):
        select({"schedular": uses})


def test_constants_and_helpers_are_found():
    assert captured(step) == {"STEP": 3}
    assert helpers(uses) == [step]


def test_a_description_has_what_decides():
    found = describe(uses)
    assert (found["name"], found["file"]) == ("uses", __file__)
    assert found["line"] == uses.__code__.co_firstlineno
    assert "return step(a) * b" in found["source"] and "return a + STEP" in found["source"]
    assert found["constants"] == {"STEP": "3"}
    json.dumps(found)


def test_the_digest_follows_constants_and_source(monkeypatch):
    before = describe(uses)["digest"]
    assert describe(uses)["digest"] == before
    monkeypatch.setitem(globals(), "STEP", 4)
    assert describe(uses)["digest"] != before


def test_a_function_without_source_is_described_by_its_code():
    space = {}
    exec("def f(a): return a + 1\ndef g(a): return a + 2", space)
    one, two = describe(space["f"]), describe(space["g"])
    assert one["source"] and one["digest"] != two["digest"]


def test_policies_that_call_each_other_are_described_once():
    def first(a):
        return second(a) if a else 0

    def second(a):
        return first(a - 1)

    assert helpers(first) == [second]
    assert describe(first)["name"].endswith("first")
