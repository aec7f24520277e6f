"""What a run leaves: which files it takes from its options, and that all are written."""

from pathlib import Path

import pytest

from lockstep.cli.outputs import OutputFiles, take_all
from lockstep.errors import InputError, LockstepError
from lockstep.files import STANDARD_OUTPUT


def test_files_are_taken_out_of_the_options_of_a_command():
    options = {"json_file": Path("a.json"), "out": None, "source_table": None, "threads": 2}
    assert OutputFiles.taken(options) == OutputFiles(json_file=Path("a.json"))
    assert options == {"threads": 2}


@pytest.mark.parametrize("name", ["json_file", "timeline", "report"])
def test_a_file_may_take_standard_output(name):
    assert not OutputFiles(**{name: Path("file")}).take_stdout
    assert OutputFiles(**{name: STANDARD_OUTPUT}).take_stdout


@pytest.mark.parametrize("name", ["json_file", "timeline", "report", "source_table", "out"])
def test_what_cannot_be_written_is_refused_before_a_run(tmp_path, name):
    (tmp_path / "file.csv").touch()
    OutputFiles(**{name: tmp_path / "new.csv"}).check()
    with pytest.raises(InputError, match="cannot write"):
        OutputFiles(**{name: tmp_path / "file.csv" / "new.csv"}).check()


def test_all_is_written_also_after_what_cannot_be():
    taken = []

    def refuse():
        taken.append(1)
        raise LockstepError("no room")

    with pytest.raises(LockstepError, match="no room; no room"):
        take_all([refuse, lambda: taken.append(2), refuse])
    assert taken == [1, 2, 1]
