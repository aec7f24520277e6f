"""What a text says about which launches are simulated."""

from pathlib import Path

import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.sampling import LaunchTable, Plan
from lockstep.sampling.running import Follower, Online, Warmth
from lockstep.sampling.running.choice import chooser_of, plan_of


@pytest.mark.parametrize(
    ("text", "path", "warmth"),
    [
        ("plan.json", "plan.json", Warmth.ALL),
        ("plan.json,warm=none", "plan.json", Warmth.NOTHING),
        ("plan.json,warm=all", "plan.json", Warmth.ALL),
        ("a,warm=some", "a,warm=some", Warmth.ALL),
        ("a,warm=none,warm=all", "a,warm=none", Warmth.ALL),
        ("a,b", "a,b", Warmth.ALL),
        (",warm=none", ".", Warmth.NOTHING),
    ],
)
def test_the_file_of_a_plan_may_be_followed_by_what_warms(text, path, warmth):
    assert plan_of(text) == (Path(path), warmth)


def test_a_plan_is_read_and_followed(tmp_path):
    table = LaunchTable.of([{"name": "a"}] * 4)
    plan = Plan.of(table, "test", [0] * 4, [1, 2], drawn=True)
    plan.write(tmp_path / "plan.json")
    for tail, warmed in (("", 2), (",warm=all", 2), (",warm=none", 0)):
        chooser = chooser_of(f"plan:{tmp_path / 'plan.json'}{tail}")
        assert isinstance(chooser, Follower)
        assert chooser.plan.chosen.tolist() == [1, 2] and chooser._warmed == warmed


def test_samples_need_no_file():
    assert chooser_of("full") is None
    for text in ("sample:3", "sample:error=1%", "sample:error=0.5,confidence=90%,seed=3,warm=none"):
        assert isinstance(chooser_of(text), Online)


@pytest.mark.parametrize(
    "text",
    [
        "", "half", "sample", "sample:", "plan:", "sample:0", "sample:x", "sample:error=0",
        "sample:error=1%,warm=some", "sample:confidence=90%", "sample:error=nan",
    ],
)  # fmt: skip
def test_other_texts_are_refused_in_a_line(text):
    with pytest.raises(LockstepError) as caught:
        chooser_of(text)
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.json: cannot read"):
        chooser_of(f"plan:{tmp_path / 'nothing.json'},warm=none")
