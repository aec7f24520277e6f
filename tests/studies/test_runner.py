"""Runs of small programs: the table that is kept, and what is not run again."""

import dataclasses

import pytest

from lockstep.errors import LockstepError, SpecError
from lockstep.studies import find, library, runner
from lockstep.studies.description import Program
from lockstep.studies.programs import of_study
from lockstep.studies.rows import read_rows


@pytest.fixture
def tiny(monkeypatch):
    """A study of one tiny program, under its own name."""
    study = dataclasses.replace(
        find("dram-scheduling"),
        name="tiny",
        programs=(Program("vecadd", 3000, 5000),),
    )
    monkeypatch.setattr(library, "_all", lambda: {"tiny": study})
    return study


@pytest.fixture
def runs(monkeypatch):
    """The runs that are really made."""
    made, run = [], runner.run
    monkeypatch.setattr(runner, "run", lambda task: made.append(task.row.variant) or run(task))
    return made


def test_every_program_runs_on_every_variant(tiny, runs, tmp_path):
    told = []
    table = tmp_path / "new" / "tiny.csv"
    outcome = runner.study("tiny", size="small", table=table, say=told.append)
    assert runs == [variant.name for variant in tiny.variants]
    assert [row.variant for row in outcome.rows] == runs
    assert all(row.counters["cycles"] > 0 for row in outcome.rows)
    assert [row.items for row in outcome.rows] == [3000] * 4
    assert told[-1] == "tiny: 4 of 4: vecadd on new FR-FCFS"
    assert [row.key for row in read_rows(table)] == [row.key for row in outcome.rows]


def test_what_a_table_has_is_not_run_again(tiny, runs, tmp_path):
    table = tmp_path / "tiny.csv"
    first = runner.study("tiny", size="small", table=table)
    runs.clear()
    again = runner.study("tiny", size="small", table=table)
    assert runs == []
    assert again.figures["vecadd"]["new gain"] == first.figures["vecadd"]["new gain"]
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:2], *lines[3:]]) + "\n")
    runner.study("tiny", size="small", table=table)
    assert runs == ["old FR-FCFS"]
    runner.study("tiny", size="small", table=table, overrides=["sm.count=79"])
    assert len(runs) == 5  # another GPU: nothing is known of it


def test_overrides_are_for_all_and_a_gpu_for_the_new(tiny):
    tasks = list(runner._tasks(tiny, of_study(tiny, None), "small", "A100", ("sm.count=4",)))
    assert [task.row.gpu for task in tasks] == ["GPGPUSIM3_V100"] * 2 + ["A100"] * 2
    assert {task.row.changes for task in tasks} == {
        "sm.count=4 dram.scheduler=fcfs",
        "sm.count=4 dram.scheduler=frfcfs",
    }


def test_processes_change_nothing(tiny):
    serial = runner.study("tiny", size="small")
    parallel = runner.study("tiny", size="small", jobs=2)
    assert repr(parallel.rows) == repr(serial.rows)  # NaN is not equal to itself


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"size": "huge"}, LockstepError, "size is huge; expected small or large"),
        ({"jobs": 0}, LockstepError, "jobs is 0"),
        ({"gpu": "QV10"}, SpecError, "'new FCFS' of tiny: .*did you mean QV100?"),
        ({"overrides": ["sm.coun=3"]}, SpecError, "'old FCFS' of tiny: .*sm.count"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(tiny, runs, options, error, problem):
    with pytest.raises(error, match=problem):
        runner.study("tiny", **options)
    assert runs == []
