"""A sample of every target's inputs, from a fixed seed; ``scripts/fuzz.py`` reads many more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzing.outcome import examine
from fuzzing.runner import prepared
from fuzzing.targets import targets

FOUND = Path(__file__).parent / "found"


@pytest.fixture(scope="session")
def reports(repository, tmp_path_factory):
    """What became of the sample, by target; from a process of its own, which may fork."""
    folder = tmp_path_factory.mktemp("fuzzing")
    command = [sys.executable, repository / "scripts" / "fuzz.py", "--sample"]
    command += ["--jobs", "1", "--keep", folder / "kept", "--json", folder / "reports.json"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (folder / "reports.json").is_file(), run.stderr
    reports = json.loads((folder / "reports.json").read_text())
    return {report["target"]: report for report in reports}


@pytest.mark.long
@pytest.mark.parametrize("name", targets())
def test_damage_is_refused_in_one_line_or_read(reports, name):
    report, target = reports[name], targets()[name]
    assert report["findings"] == []
    assert sum(report["counts"].values()) == target.sample
    assert (report["counts"].get("refused", 0) > 0) == target.refuses


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(path.name for path in FOUND.iterdir()))
def test_what_was_found_is_mended(name):
    target = targets()[name]()
    with prepared(target):
        seed = target.seeds()[0]
        for path in sorted((FOUND / name).iterdir()):
            assert not examine(target, path.read_bytes(), seed).is_defect, path
