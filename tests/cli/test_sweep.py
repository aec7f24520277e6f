"""``lockstep sweep``: a table, a journal beside it, plots, exit codes."""

import pandas
import pytest

POINTS = """
workloads = [{name = "vecadd", size = 100}]
gpus = ["QV100"]
[changes]
"sm.count" = [2, 4]
"dram.channels" = 2
"launch.overhead" = [100, -1]
"""


@pytest.fixture
def points(tmp_path):
    """Four points, of which two have a GPU that cannot be."""
    path = tmp_path / "points.toml"
    path.write_text(POINTS)
    return path


def test_points_are_simulated_once_and_drawn(call, points, tmp_path):
    arguments = ("sweep", points, "-o", "new/all.csv", "-j", 1)
    first = call(*arguments, "--plot", "sm.count", "cycles")
    assert first.exit_code == 1
    assert first.stdout.splitlines() == [
        "4 of 4 points, 2 failed: new/all.csv",
        "cycles by sm.count: new/all-sm.count-cycles.png and .svg",
    ]
    assert "lockstep: row 2: launch.overhead = -1" in first.stderr
    content = (tmp_path / "new" / "all.csv").read_bytes()
    table = pandas.read_csv(tmp_path / "new" / "all.csv")
    assert table["sm.count"].tolist() == [2, 2, 4, 4]
    assert table["cycles"].notna().tolist() == [True, False] * 2
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "all.csv", "all.csv.journal", "all-sm.count-cycles.png", "all-sm.count-cycles.svg"
    }  # fmt: skip
    journal = (tmp_path / "new" / "all.csv.journal").read_bytes()
    again = call(*arguments, "-q")
    assert (again.exit_code, again.output) == (1, "")
    assert (tmp_path / "new" / "all.csv").read_bytes() == content
    assert (tmp_path / "new" / "all.csv.journal").read_bytes() == journal


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-o", "all.csv", "--executor", "loca"), "'loca' is not one of"),
        (("-o", "all.xls"), "names no kind of table"),
        (("-o", "all.csv", "--plot", "sm.coun", "cycles"), "did you mean sm.count"),
        (("-o", "all.csv", "--address", "here"), "an address is for the executors dask and ray"),
    ],
)
def test_what_cannot_be_is_said_at_once(call, points, tmp_path, arguments, problem):
    done = call("sweep", points, *arguments)
    assert done.exit_code == 2 and problem in done.stderr
    assert not (tmp_path / "all.csv").exists()


def test_points_of_which_none_can_be_leave_nothing(call, points, tmp_path):
    points.write_text(POINTS.replace("sm.count", "sm.coun"))
    done = call("sweep", points, "-o", "all.csv")
    assert done.exit_code == 2 and "no parameter is named 'sm.coun'" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["points.toml"]
