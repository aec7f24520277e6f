"""Nsight Systems' tables as measurements."""

import pytest

from lockstep.correlation import nsys
from lockstep.correlation.hardware import read_hardware
from lockstep.errors import InputError

HEAD = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Strm,Name"
ROWS = ["5,20,2,4,1,1,32,1,1,16,7,late", "9,10,1,2,1,1,64,1,1,8,9,early", "1,3,0,,,,,,,,7,[copy]"]


def _read(tmp_path, *lines):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_hardware(path)


def test_launches_in_the_order_of_their_calls(tmp_path):
    early, late = _read(tmp_path, "Processing [x]", HEAD, *ROWS)
    assert (early.kernel, early.number, early.grid, early.block) == (
        "early",
        1,
        (2, 1, 1),
        (64, 1, 1),
    )
    assert (late.kernel, late.number, late.stream) == ("late", 2, 7)
    assert late.metrics == {"gpu__time_duration.sum": 20, "launch__registers_per_thread": 16}


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("us", 1e3), ("\u03bcs", 1e3), ("\u00b5s", 1e3), ("usec", 1e3), ("nsec", 1), ("msec", 1e6),
     ("sec", 1e9)],
)  # fmt: skip
def test_the_unit_of_times_is_in_the_head(tmp_path, unit, factor):
    first, _ = _read(tmp_path, HEAD.replace("Duration (ns)", f"Duration ({unit})"), *ROWS)
    assert first.metrics["gpu__time_duration.sum"] == 10 * factor


def test_times_in_an_unknown_unit_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"has times in 'MB', in the column Duration .MB.; expect"):
        _read(tmp_path, HEAD.replace("Duration (ns)", "Duration (MB)"), *ROWS)


def test_a_time_with_a_decimal_comma_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"line 2: Duration .ns. = '2,5'; .*LC_ALL=C"):
        _read(tmp_path, HEAD, ROWS[0].replace("20", '"2,5"', 1))


@pytest.mark.parametrize("column", ["Duration (ns)", "Name"])
def test_a_table_without_what_tells_launches_is_none(column):
    cells = HEAD.split(",")
    assert nsys.is_head(cells)
    assert not nsys.is_head([cell for cell in cells if cell != column])


def test_a_launch_without_its_time_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"line 2: Duration .ns. = ''; expected a number"):
        _read(tmp_path, HEAD, ROWS[0].replace("20", "", 1))


@pytest.mark.parametrize("column", ["GrdX", "BlkZ"])
def test_a_size_without_all_of_its_columns_is_refused(tmp_path, column):
    what = f"has no columns {column[:3]}X, {column[:3]}Y and {column[:3]}Z, nor"
    with pytest.raises(InputError, match=what):
        _read(tmp_path, HEAD.replace(column, "x"), *ROWS)
