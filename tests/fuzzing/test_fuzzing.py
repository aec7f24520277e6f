"""A sample of every target's inputs, from a fixed seed; ``scripts/fuzz.py`` reads many more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzing.outcome import ACCEPTED, examine
from fuzzing.runner import prepared
from fuzzing.targets import targets

INPUTS = 120
FOUND = Path(__file__).parent / "found"


@pytest.fixture(scope="module")
def reports(repository, tmp_path_factory):
    """What became of the sample, by target; from a process of its own, which may fork."""
    folder = tmp_path_factory.mktemp("fuzzing")
    command = [sys.executable, repository / "scripts" / "fuzz.py", "--inputs", str(INPUTS)]
    command += ["--jobs", "1", "--keep", folder / "kept", "--json", folder / "reports.json"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (folder / "reports.json").is_file(), run.stderr
    reports = json.loads((folder / "reports.json").read_text())
    return {report["target"]: report for report in reports}


@pytest.mark.parametrize("name", targets())
def test_damage_is_refused_in_one_line_or_read(reports, name):
    report = reports[name]
    assert report["findings"] == []
    assert sum(report["counts"].values()) == INPUTS
    assert report["counts"]["refused"] > 0


@pytest.mark.parametrize("name", targets())
def test_whole_inputs_are_accepted_and_those_that_once_broke_something_are_not_defects(
    name, tmp_path
):
    target = targets()[name]()
    with prepared(target):
        for seed in target.seeds():
            assert examine(target, seed, seed).kind == ACCEPTED
        for path in sorted((FOUND / name).glob("*")):
            data = path.read_bytes()
            assert not examine(target, data, target.seeds()[0]).is_defect, path


def test_what_was_found_belongs_to_targets():
    assert {path.name for path in FOUND.iterdir()} <= set(targets())
