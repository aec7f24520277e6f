"""docs/advice.md has every rule, every limit, and every built-in program."""

import re

import pytest

from lockstep import kernels
from lockstep.advice.lifts import LIFTS
from lockstep.advice.rules import RULES
from lockstep.gpus import library


@pytest.fixture(scope="module")
def page(repository):
    return (repository / "docs" / "advice.md").read_text(encoding="utf-8")


def test_every_rule_has_a_paragraph_that_names_its_limit(page):
    said = re.findall(r"^\*\*`(\w+)`\*\*(.*?)(?=\n\n)", page, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in said] == [name for name in _in_the_order_of(said)]
    assert {name for name, _ in said} == {rule.name for rule in RULES}
    for rule in RULES:
        text = dict(said)[rule.name]
        assert not rule.lift or f"`{rule.lift}`" in text, rule.name


def _in_the_order_of(said):
    names = [name for name, _ in said]
    return sorted(set(names), key=names.index)


def test_every_limit_stands_with_its_parameters(page):
    rows = {row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", page, re.M)}
    for lift in LIFTS:
        meaning, parameters = rows[lift.name]
        changed = lift.changes(library.gpu("QV100"))
        general = {re.sub(r"^sm\.units\.\w+", "sm.units.UNIT", name) for name in changed}
        assert meaning == lift.meaning and set(re.findall("`(.*?)`", parameters)) == general


def test_every_program_has_a_row(page):
    rows = re.findall(r"^\| (\w+) \| [\d,]+ \| (.*) \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == list(kernels.names())
    named = {name for _, found in rows for name in re.findall("`(.*?)`", found)}
    assert named <= {rule.name for rule in RULES}
