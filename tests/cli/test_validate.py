"""``lockstep validate``: what it prints, writes and refuses; the comparisons are stubs."""

import json

import pytest

from lockstep.cli import validate
from lockstep.validation import sections
from lockstep.validation.comparison import Comparison, Figure


@pytest.fixture
def comparisons(monkeypatch):
    """Replaces all comparisons; the kinds that were asked for."""
    asked = []

    def make(kind):
        def compare(sources):
            asked.append(kind)
            return [Comparison(kind, f"Title of {kind}", [Figure("x", 11, 10, "y")], ["z: absent"])]

        return compare

    monkeypatch.setattr(sections, "KINDS", {kind: make(kind) for kind in sections.KINDS})
    return asked


def test_the_kinds_are_those_that_there_are():
    assert tuple(sections.KINDS) == validate.KINDS


def test_everything_is_compared(call, comparisons):
    done = call("validate")
    assert done.exit_code == 0
    assert comparisons == list(validate.KINDS)
    assert "Title of grids" in done.stdout and "+10.00 %" in done.stdout
    assert "error: mean 10.00 %" in done.stdout and "1 of 2 compared" in done.stdout
    assert "lockstep: not compared: z: absent" in done.stderr


def test_a_document_and_a_json_file(call, comparisons, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- table: grids -->\n<!-- end -->\n")
    done = call("validate", "grids", "--document", page, "--json", "rows.json")
    assert done.exit_code == 0
    assert comparisons == ["grids"]
    assert "| x | 11 | 10 | +10.00 % |" in page.read_text()
    (document,) = json.loads((tmp_path / "rows.json").read_text())
    assert document["rows"][0]["error"] == pytest.approx(0.1)
    assert document["statistics"]["mape"] == pytest.approx(0.1)


def test_without_builds_there_is_nothing_to_compare(call, comparisons, tmp_path):
    done = call("validate", "--programs", tmp_path)
    assert done.exit_code == 2
    assert comparisons == []
    assert "0 of 71 compared" in done.stdout
    assert done.stderr.splitlines()[-1] == "lockstep: nothing could be compared"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(("frob",), "'frob' is not one of"), (("--document", "absent.md"), "cannot read"),
     (("--data", "absent"), "does not exist")],
)  # fmt: skip
def test_wrong_usage_is_one_line(call, arguments, problem):
    done = call("validate", *arguments)
    assert done.exit_code == 2
    assert problem in done.stderr and len(done.stderr.splitlines()) == 1
