"""What is reported: every parameter, every row with its residual."""

import csv
import json
from pathlib import Path

import pytest

from lockstep.errors import InputError
from lockstep.gpus import library
from lockstep.tuning.report import check_name, outcomes, residuals, summary, write_report
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.tuner import infer

LATENCY = Row("lat.lds32", "stride_bytes=4 conflict=1", 20.0, "cycles", line=2)
OTHER = Row("bw.l2", "bits=32 read", 1000.0, "GB/s", line=3)
MEASURED = Rows(Path("r.csv"), (LATENCY, OTHER))
SIMULATED = Rows(Path("s"), (Row("lat.lds32", LATENCY.parameters, 21.0, "cycles"),))


@pytest.fixture
def tuned():
    return infer(MEASURED, library.loaded("QV100"))


def test_every_parameter_has_an_outcome(tuned):
    found = {outcome.parameter: outcome for outcome in outcomes(tuned)}
    assert found["shared.latency"].kind == "direct"
    assert (found["shared.latency"].text, found["shared.latency"].base) == ("20", "19")
    assert found["l1.latency"].kind == "base"
    assert found["l1.latency"].base == ""


def test_every_row_has_a_residual_or_none(tuned):
    first, second = residuals(tuned, MEASURED, SIMULATED)
    assert first.relative == pytest.approx(0.05)
    assert first.parameters == ("shared.latency",)
    assert (second.simulated, second.relative, second.parameters) == (None, None, ())
    assert summary([first, second]).startswith("1 of 2 rows have a simulated counterpart: median")
    assert summary([second]) == "none of 1 rows was simulated"


def test_reports_are_written_as_their_names_say(tuned, tmp_path):
    found = residuals(tuned, MEASURED, SIMULATED)
    write_report(tuned, found, tmp_path / "r.csv")
    with (tmp_path / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["lat.lds32", "bw.l2"]
    assert (rows[0]["measured"], rows[0]["simulated"], rows[0]["residual"]) == (
        "20",
        "21",
        "0.0500",
    )
    assert (rows[1]["simulated"], rows[1]["residual"]) == ("", "")
    write_report(tuned, found, tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["rows"][0]["tells"] == ["shared.latency"]
    assert document["parameters"][0]["parameter"] == "shared.latency"


def test_another_name_is_refused():
    check_name(None)
    check_name(Path("r.json"))
    with pytest.raises(InputError, match=r"ends in \.csv or \.json"):
        check_name(Path("r.txt"))
