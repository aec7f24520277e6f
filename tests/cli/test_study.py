"""``lockstep study``: what it prints, writes and refuses; the study is a tiny one."""

import dataclasses
import importlib.util
import json

import pytest

from lockstep.report import pictures
from lockstep.studies import find, library
from lockstep.studies.description import Program


@pytest.fixture
def tiny(monkeypatch):
    """A study of one tiny program, the only one that there is."""
    study = dataclasses.replace(
        find("dram-scheduling"), name="tiny", programs=(Program("vecadd", 3000, 5000),)
    )
    monkeypatch.setattr(library, "_all", lambda: {"tiny": study})


def test_what_there_is_is_listed(call):
    done = call("study", "--list")
    assert done.exit_code == 0
    assert "dram-scheduling" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "no study is named: "),
        (("dram-schedulign",), "'dram-schedulign'; did you mean dram-scheduling?"),
        (("all", "dram"), "no study is named 'dram'; lockstep study --list has them all"),
        (("dram-scheduling", "--gpu", "QV10"), "did you mean QV100?"),
        (("dram-scheduling", "--set", "sm.count"), "expected parameter=value"),
        (("dram-scheduling", "--document", "absent.md"), "absent.md: cannot read"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_one_line_and_exit_code_2(call, arguments, problem):
    done = call("study", *arguments)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1 and problem in done.stderr
    assert done.stdout == ""


def test_files_are_written_and_runs_are_not_repeated(call, tiny, tmp_path):
    options = ("--size", "small", "-o", "out", "--no-plots")
    done = call("study", "all", *options)
    assert done.exit_code == 0, done.output
    assert "vecadd" in done.stdout and "2.5 times" in done.stdout
    assert done.stderr.splitlines()[-1] == "lockstep: tiny: 4 of 4: vecadd on new FR-FCFS"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["tiny.csv", "tiny.json"]
    document = json.loads((tmp_path / "out" / "tiny.json").read_text())
    assert document["figures"]["vecadd"]["old gain"] > 0.9
    again = call("study", "tiny", *options)
    assert again.stdout == done.stdout
    assert again.stderr == "lockstep: tiny: 4 of 4 runs are in out/tiny.csv\n"


def test_the_tables_of_a_document_are_renewed(call, tiny, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: tiny -->\nold\n<!-- end -->\nafter\n")
    done = call("study", "tiny", "--size", "small", "--document", page)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("<!-- end -->\nafter\n")
    assert "| program | old gain" in text and "\nold\n" not in text


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="needs matplotlib")
def test_plots_are_drawn(call, tiny, tmp_path):
    done = call("study", "tiny", "--size", "small", "-o", "out", "--quiet")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert (tmp_path / "out" / "tiny-gain.png").exists()
    assert (tmp_path / "out" / "tiny-gain.svg").exists()


def test_without_matplotlib_nothing_is_run(call, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    done = call("study", "tiny", "-o", "out")
    assert done.exit_code == 2
    assert done.stderr == f"lockstep: {pictures.NO_MATPLOTLIB}\n"
    assert not (tmp_path / "out").exists()


def test_a_table_of_something_else_is_left_alone(call, tiny, tmp_path):
    (tmp_path / "tiny.csv").write_text("a,b\n1,2\n")
    done = call("study", "tiny", "-o", ".", "--no-plots")
    assert done.exit_code == 2 and "no table of a study" in done.stderr
    assert (tmp_path / "tiny.csv").read_text() == "a,b\n1,2\n"
