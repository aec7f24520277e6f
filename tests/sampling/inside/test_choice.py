"""Texts of rules inside launches."""

import pytest

from lockstep.errors import LockstepError
from lockstep.sampling.inside import Durations, Epochs, Stability, Windows
from lockstep.sampling.inside.choice import RULES, check_rule, inside_by

CASES = [
    ("windows", Windows, {"speed_up": 4.0}),
    ("windows:speed_up=8,pairs=0", Windows, {"speed_up": 8.0}),
    ("pkp:of=gpu,by=ctas,threshold=0.1,window=900", Stability, {"of": "gpu", "by": "ctas"}),
    ("photon", Durations, {"levels": ("warps", "blocks"), "places": "ctas"}),
    ("photon:levels=blocks,places=warps", Durations, {"levels": ("blocks",), "places": "warps"}),
    ("photon:levels=warps+blocks,warps=64", Durations, {"warps": 64}),
]


@pytest.mark.parametrize(("text", "kind", "expected"), CASES)
def test_a_text_makes_its_rule(text, kind, expected):
    check_rule(text)
    inside = inside_by(text)
    assert type(inside.rule) is kind and inside.name == text
    assert {name: getattr(inside.rule, name) for name in expected} == expected


def test_options_of_all_rules():
    inside = inside_by("pkp:pairs=3,seed=2")
    assert inside.pairs == 3 and inside_by("pkp").pairs == 10


def test_tbpoint_reads_the_trace_before(steady):
    check_rule("tbpoint:distance=0.2")
    inside = inside_by("tbpoint:distance=0.2", steady(grid=3).workload())
    assert type(inside.rule) is Epochs and inside.rule.distance == 0.2
    assert [len(each) for each in inside.rule.instructions.values()] == [3]
    with pytest.raises(LockstepError, match="of a trace alone"):
        inside_by("tbpoint")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("steady", "expected one of: windows, pkp, photon, tbpoint"),
        ("windows:units=3", "windows has no 'units'; it has speed_up, pairs, seed"),
        ("windows:", "windows has no ''"),
        ("windows:speed_up=fast", "speed_up is 'fast', which is no number"),
        ("windows:speed_up=1", "expected above 1"),
        ("photon:levels=ctas", "expected some of: warps, blocks"),
        ("pkp:by=cycles", "expected one of: instructions, ctas"),
        ("pkp:pairs=-1", "expected 0 or more"),
    ],
)
def test_what_is_no_rule_is_refused(text, problem):
    with pytest.raises(LockstepError, match=problem):
        check_rule(text)


def test_all_rules_are_listed():
    assert {rule.make for rule in RULES.values()} == {Windows, Stability, Durations, Epochs}
