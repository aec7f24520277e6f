"""Launch tables: levels, files, what is refused."""

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.sampling import LaunchTable
from lockstep.sampling.features import PROFILE
from lockstep.sampling.readings import (
    check_profiled,
    pka_features,
    profiled,
)


def _frame(launches=3, **columns):
    return pd.DataFrame({"name": [f"k{i % 2}" for i in range(launches)]} | columns)


def _profile(launches=3):
    return {name: np.arange(launches) + float(k) for k, name in enumerate(PROFILE)}


def test_a_name_is_enough():
    table = LaunchTable(_frame())
    assert table.level == 0 and not table.has_times
    assert table.codes().tolist() == [0, 1, 0]
    assert table.ctas().tolist() == [1, 1, 1]
    with pytest.raises(LockstepError, match="has no times"):
        _ = table.times
    with pytest.raises(LockstepError, match="no column l1tex__t_sectors_pipe_lsu_mem_global"):
        pka_features(table)


def test_levels():
    frame = _frame(**_profile())
    assert LaunchTable(frame).level == 1
    lists = {"blocks": [[0, 1]] * 3, "executions": [[4, 4]] * 3}
    assert LaunchTable(frame.assign(**lists)).level == 2
    memory = {"sectors_read": 1.0, "sectors_written": 1.0, "new_sectors": 0.0}
    assert LaunchTable(frame.assign(**lists, **memory)).level == 3
    assert LaunchTable(_frame(time=[1.0, 2, 3])).level == 0


def test_shapes_tell_launches_of_one_kernel_apart():
    table = LaunchTable(_frame(4, grid_x=[1, 1, 1, 2], arguments=["", "", "7", ""]))
    assert table.shapes().tolist() == [0, 1, 2, 3]
    assert LaunchTable(_frame(4)).shapes().tolist() == [0, 1, 0, 1]
    assert LaunchTable(_frame(2, grid_x=[3, 4], block_y=[2, 5])).threads().tolist() == [6, 20]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_give_the_same_table(tmp_path, suffix):
    lists = {"blocks": [[0, 1], [2], []], "executions": [[4, 4], [1], []]}
    frame = _frame(time=[1.5, 2.5, 3.5], arguments=["a", "", "7"], **_profile(), **lists)
    table = LaunchTable(frame, "ns", "nsys")
    path = tmp_path / f"table.{suffix}"
    table.write(path)
    again = LaunchTable.read(path)
    assert (again.unit, again.source, again.digest) == ("ns", "nsys", table.digest)
    plain = [name for name in table.frame if name not in lists]
    pd.testing.assert_frame_equal(again.frame[plain], table.frame[plain], check_dtype=False)
    for name, values in lists.items():
        assert [list(row) for row in again.frame[name]] == values


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_first_launches_alone_may_have_a_profile(tmp_path, suffix):
    profile = {name: [7.0, np.nan, np.nan] for name in PROFILE}
    table = LaunchTable(_frame(**profile))
    assert table.level == 1 and profiled(table) == 1
    path = tmp_path / f"table.{suffix}"
    table.write(path)
    assert profiled(LaunchTable.read(path)) == 1
    assert profiled(LaunchTable(_frame(**_profile()))) == 3
    with pytest.raises(LockstepError, match="s reads the profile of every launch, and launch 1 "):
        check_profiled(table, "s")


def test_the_digest_is_that_of_the_launches():
    table = LaunchTable(_frame(time=[1.0, 2, 3], **_profile()))
    assert table.digest == table.without_times().digest == LaunchTable(_frame()).digest
    assert table.digest != LaunchTable(_frame(grid_x=[1, 1, 2])).digest
    assert not table.without_times().has_times


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"grid_x": [1, -1, 1]}, "launch 1: grid_x is -1; expected a count"),
        ({"grid_x": [1, "*t " * 400, 1]}, r"grid_x is '(\*t ){19}\*t; expected a count"),
        ({"grid_x": [1, 1.5, 1]}, "launch 1: grid_x"),
        ({"stream": ["a", 1, 1]}, "launch 0: stream is 'a'"),
        ({"time": [1, 1, 0]}, "launch 2: time is 0"),
        ({"new_sectors": [1, -1, 0]}, "launch 1: new_sectors is -1; expected a count"),
        ({"new_sectors": [1, 1, np.inf]}, "launch 2: new_sectors is inf"),
        ({"time": [1, np.nan, 1]}, "launch 1: time"),
        ({"time": [1, np.inf, 1]}, "launch 1: time"),
    ],
)
def test_columns_that_hold_something_else(columns, message):
    with pytest.raises(LockstepError, match=message):
        LaunchTable(_frame(**columns))


def test_tables_that_are_none(tmp_path):
    with pytest.raises(LockstepError, match="has a column 'name'"):
        LaunchTable(pd.DataFrame({"kernel": ["k"]}))
    with pytest.raises(LockstepError, match="is empty"):
        LaunchTable(_frame(0))
    with pytest.raises(LockstepError, match="unit of time is 'days'"):
        LaunchTable(_frame(), "days")
    path = tmp_path / "t.parquet"
    _frame().to_parquet(path)
    with pytest.raises(InputError, match="another table"):
        LaunchTable.read(path)
    for suffix, content in [("parquet", b"PAR1"), ("csv", b""), ("csv", b"\xff\xfe\x00")]:
        path = tmp_path / f"t.{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError, match="no launch table"):
            LaunchTable.read(path)
    for name, reason in [("absent", "No such file or directory"), (".", "Is a directory")]:
        with pytest.raises(InputError, match=f": cannot read: {reason}$"):
            LaunchTable.read(tmp_path / name)


def test_a_line_with_more_fields_than_names_is_refused(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("name\na" + ",1" * 900 + "\n")
    with pytest.raises(InputError, match="line 2 has 901 fields where line 1 names 1"):
        LaunchTable.read(path)
