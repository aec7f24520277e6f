import json

import pytest

from lockstep.cli import diagnosis
from lockstep.cli.diagnosis import Severity, Symptom


@pytest.fixture
def found(monkeypatch):
    """What each section finds; a test changes it."""
    symptoms = {name: [Symptom(name, f"all of {name}")] for name in diagnosis.SECTIONS}
    monkeypatch.setattr(diagnosis, "look", symptoms.__getitem__)
    return symptoms


def test_a_healthy_installation_is_exit_code_0(call, found):
    found["extras"].append(Symptom("plots", "not installed", Severity.NOTE, "pip install x"))
    done = call("doctor")
    assert done.exit_code == 0, done.output
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[-1] == "nothing hinders"
    assert "  note  plots   not installed -> pip install x" in lines


def test_a_problem_is_exit_code_1(call, found):
    found["packages"].append(Symptom("numba", "missing", Severity.PROBLEM, "pip install numba"))
    done = call("doctor")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "problems: 1, see above"
    assert "problem  numba" in done.stdout and "-> pip install numba" in done.stdout


def test_json_goes_where_it_is_asked_for(call, found, tmp_path, capfd):
    found["packages"].append(Symptom("numba", "no", Severity.PROBLEM, facts={"bytes": 3}))
    done = call("doctor", "--json", tmp_path / "doctor.json")
    assert done.exit_code == 1 and "problems: 1" in done.stdout
    document = json.loads((tmp_path / "doctor.json").read_text())
    assert list(document) == ["healthy", *diagnosis.SECTIONS]
    assert document["healthy"] is False
    assert document["packages"][1] == {
        "name": "numba", "found": "no", "severity": "problem", "advice": "", "bytes": 3,
    }  # fmt: skip
    capfd.readouterr()
    assert call("doctor", "--json").exit_code == 1
    assert json.loads(capfd.readouterr().out) == document  # and nothing else


def test_this_installation_is_looked_at(call, tmp_path):
    call("doctor", "--json", tmp_path / "doctor.json")
    document = json.loads((tmp_path / "doctor.json").read_text())
    names = {entry["name"] for section in diagnosis.SECTIONS for entry in document[section]}
    wanted = {"Python", "numba", "llvmlite", "numpy", "processor", "cores", "nvcc", "folder"}
    assert wanted | {"model", "plots"} <= names
