"""``--source``: which lines or instructions cost most."""

import pandas
import pytest

SMALL = ("--set", "sm.count=4", "--set", "dram.channels=2")


def test_a_program_tells_its_lines_and_writes_all_instructions(call, tmp_path):
    done = call("run", "vecadd", "--size", "1e3", *SMALL, "--source-table", "t.csv", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "Source lines with most stalls" in done.stdout and "vecadd.cu:" in done.stdout
    table = pandas.read_csv(tmp_path / "t.csv")
    assert (
        table["file"].dropna().str.endswith("vecadd.cu").all()
        and table["warp_instructions"].sum() > 0
    )
    assert list((tmp_path / "out").glob("source.*"))


def test_a_trace_tells_its_instructions(call, trace):
    done = call("simulate", trace, *SMALL, "--source", "--summary", "short")
    assert done.exit_code == 0, done.output
    assert "Instructions with most stalls" in done.stdout and "LDG.E" in done.stdout
    assert "kernel" in done.stdout, "there are two"


def test_nothing_is_told_where_nobody_asks(call, trace, tmp_path):
    done = call("simulate", trace, *SMALL, "--out", "out")
    assert "most stalls" not in done.output and not list((tmp_path / "out").glob("source.*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "vecadd", "--timing", "none", "--source"), "--source"),
        (("run", "vecadd", "--source-table", "t.txt"), "expected .parquet or .csv"),
        (("run", "vecadd", "--source-table", "."), "is a directory"),
        (("run", "vecadd", "--source-table", "nowhere.csv/t.csv"), "not a writable directory"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(call, tmp_path, arguments, message):
    (tmp_path / "nowhere.csv").write_text("")
    done = call(*arguments)
    assert done.exit_code == 2 and message in done.stderr
