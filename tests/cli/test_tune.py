"""``lockstep tune``: a file that ``--gpu`` takes, a report, errors in one line."""

import csv
import json

import pytest

from lockstep.gpus import library

ROWS = """\
name,parameters,value,unit,notes,raw
device.sms,NVIDIA H100 80GB HBM3,120,SMs,"clock 1500000 kHz, memory 2000000 kHz",
lat.lds32,stride_bytes=4 conflict=1,30.99,cycles,,
ERROR,lat exit 3,,,,
"""


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return "rows.csv"


def test_the_file_is_a_gpu(call, measured, tmp_path):
    done = call("tune", measured, "-o", "MINE.toml")
    assert done.exit_code == 0, done.output
    gpu = library.gpu(tmp_path / "MINE.toml")
    assert (gpu.sm.count, gpu.clock_mhz, gpu.shared.latency) == (120, 1500.0, 31)
    assert gpu.l2 == library.gpu("H100").l2
    assert "shared.latency" in done.stdout
    assert "a program failed, its rows are absent: lat exit 3" in done.stderr
    assert call("gpus", "MINE.toml").exit_code == 0


def test_the_report_has_every_parameter_and_row(call, measured, tmp_path):
    call("tune", measured, "-o", "MINE.toml", "--rounds", 0, "--report", "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    found = {row["parameter"]: row for row in document["parameters"]}
    assert found["shared.latency"]["kind"] == "direct"
    assert (found["shared.latency"]["value"], found["shared.latency"]["before"]) == (31, 29)
    assert found["l1.latency"]["kind"] == "base"
    assert [row["name"] for row in document["rows"]] == ["device.sms", "lat.lds32"]
    call("tune", measured, "-o", "MINE.toml", "--rounds", 0, "--report", "r.csv")
    with (tmp_path / "r.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["lat.lds32"]["tells"] == "shared.latency"
    assert rows["lat.lds32"]["simulated"] == ""


def test_standard_output_can_be_the_file(call, measured, capfd):
    assert call("tune", measured, "-o", "-", "--base", "QV100").exit_code == 0
    assert capfd.readouterr().out.startswith("# Made by: lockstep tune rows.csv --base QV100\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "-o", "a.toml"], "none.csv: cannot read: No such file"),
        (["rows.csv", "-o", "a.toml", "--base", "H1"], "no GPU is named 'H1'"),
        (["rows.csv", "-o", "a.toml", "--report", "r.txt"], "expected a name that ends in .csv"),
        (["rows.csv", "-o", "a.toml", "--facts", "f.toml"], "f.toml: No such file"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(call, measured, arguments, message):
    done = call("tune", "-q", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("lockstep: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
