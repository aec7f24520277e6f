"""Campaigns over processes that end in every way: one table, nothing twice, nothing lost."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pandas
import pytest

import lockstep
from campaign_points import Square, interrupts, square
from lockstep.campaigns import PointJournal, campaign
from lockstep.campaigns.attempts import Attempt
from lockstep.campaigns.runner import CampaignState
from lockstep.errors import InputError, LockstepError
from lockstep.metrics.output import write_parquet

TROUBLE = {1: "fails", 2: "dies once", 3: "dies", 4: "fails once", 5: "raises", 6: "leaves"}


def squares(folder, count, trouble=()):
    folder.mkdir(exist_ok=True)
    return [Square(n, str(folder), dict(trouble).get(n, "")) for n in range(count)]


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    """Points of all sorts, what became of them in two workers, and their journal."""
    folder = tmp_path_factory.mktemp("troubled")
    points = squares(folder / "log", 9, (*TROUBLE.items(), (7, "is wrong")))
    states = []
    table = campaign(
        points,
        square,
        workers=2,
        journal=folder / "journal",
        progress=lambda state: states.append((state.done, state.failed)),
    )
    return points, table, folder / "journal", states


def test_each_point_has_a_row_in_the_order_of_points(troubled):
    _, table, _, states = troubled
    assert list(table.columns) == ["number", "digest", "error", "square", "even"]
    assert table["number"].tolist() == list(range(9))
    assert table["square"].dropna().tolist() == [0, 4, 16, 64]
    assert table["even"].dropna().tolist() == ["yes"] * 4
    assert states[0] == (0, 0) and states[-1] == (9, 5)


def test_what_went_wrong_is_said(troubled):
    _, table, _, _ = troubled
    errors = {n: e for n, e in enumerate(table["error"]) if e}
    assert errors == {
        1: "no square of 1",
        3: "its worker was ended by SIGKILL",
        5: "ZeroDivisionError: two lines",
        6: "its worker ended with exit status 3",
        7: "value 'square' is a list: expected a number or a text",
    }


def test_trouble_is_tried_twice_and_nothing_else_is(troubled):
    points, _, _, _ = troubled
    assert [p.attempts() for p in points] == [1, 2, 2, 2, 2, 2, 2, 2, 1]


def test_what_a_journal_has_is_not_evaluated_again(troubled, tmp_path):
    _, table, journal, _ = troubled
    copy = tmp_path / "journal"
    copy.write_bytes(journal.read_bytes())
    more = [replace(p, trouble="", log=str(tmp_path)) for p in squares(tmp_path, 10)]
    again = campaign(more, square, workers=1, journal=copy)
    assert [p.attempts() for p in more] == [0] * 9 + [1]
    pandas.testing.assert_frame_equal(again.iloc[:9], table)
    mended = campaign(more, square, workers=1, journal=copy, retry=True)
    assert [p.attempts() for p in more] == [0, 1, 0, 1, 0, 1, 1, 1, 0, 1]
    assert mended["square"].tolist() == [n * n for n in range(10)]


@pytest.mark.long
def test_the_table_is_the_same_for_any_number_of_workers(tmp_path):
    tables = [
        campaign(squares(tmp_path / str(n), 7, TROUBLE.items()), square, workers=n) for n in (1, 3)
    ]
    pandas.testing.assert_frame_equal(*tables)


def test_an_interrupted_campaign_keeps_what_has_ended(tmp_path):
    journal = tmp_path / "journal"
    points = squares(tmp_path / "log", 6)
    with pytest.raises(KeyboardInterrupt):
        campaign(points, interrupts, workers=1, journal=journal)
    before = [p.attempts() for p in points]
    assert before[:2] == [1, 1] and before[3:] == [0, 0, 0]
    table = campaign(points, square, workers=1, journal=journal)
    assert table["square"].tolist() == [0, 1, 4, 9, 16, 25]
    assert [p.attempts() for p in points][:2] == [1, 1]


def test_points_with_one_digest_are_evaluated_once(tmp_path):
    points = squares(tmp_path, 2) * 2
    assert campaign(points, square, workers=2)["square"].tolist() == [0, 1, 0, 1]
    assert points[0].attempts() == 1


def test_workers_of_a_killed_campaign_end(tmp_path):
    script = (
        "import sys; from campaign_points import Square, square\n"
        "from lockstep.campaigns import campaign\n"
        "campaign([Square(0, sys.argv[1]), Square(1, sys.argv[1], 'waits')], square, workers=1,"
        " journal=sys.argv[1] + '/journal')\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], env=os.environ | {"PYTHONPATH": paths}
    )
    points = squares(tmp_path, 2)
    _wait_until(points[1].attempts)
    [worker] = [pid for pid in _children(process.pid) if _is_spawned(pid)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    _wait_until(lambda: not os.path.exists(f"/proc/{worker}") or _is_dead(worker))
    resumed = campaign(points, square, workers=1, journal=tmp_path / "journal")
    write_parquet(tmp_path / "resumed.parquet", resumed)
    write_parquet(tmp_path / "whole.parquet", campaign(squares(tmp_path / "new", 2), square))
    tables = [(tmp_path / f"{name}.parquet").read_bytes() for name in ("resumed", "whole")]
    assert tables[0] == tables[1]
    assert [p.attempts() for p in points] == [1, 2]


def _wait_until(holds):
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("a minute has passed")


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


def _is_spawned(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return "spawn_main" in file.read()


def _is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def test_no_points_make_no_table():
    assert campaign([], square).shape == (0, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers is 0; expected at least 1"),
        ({"executor": "locl"}, "no executor is named 'locl': local, dask, ray; did you mean local"),
        ({"address": "tcp://here:1"}, "an address is for the executors dask and ray"),
        ({"run": lambda point: {}}, "cannot be sent to workers"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, options, message):
    with pytest.raises(LockstepError, match=message):
        campaign(squares(tmp_path, 1), **{"run": square} | options)


def test_a_value_may_not_have_the_name_of_a_fact(tmp_path):
    with PointJournal(tmp_path / "journal") as journal:
        journal.add("square 0", Attempt({"number": 1.0}), 1)
    with pytest.raises(LockstepError, match="number is a value, and says what a point is"):
        campaign(squares(tmp_path, 1), square, journal=tmp_path / "journal")


def test_time_left_follows_from_what_this_run_has_done():
    state = CampaignState(4)
    state.note(Attempt({}), made=False)
    assert state.seconds_left != state.seconds_left
    state.note(Attempt({}, "no"), made=True)
    assert (state.done, state.failed) == (2, 1)
    first = state.seconds_left
    state.note(Attempt({}), made=True)
    assert state.seconds_left >= 0 and first >= 0
    state.note(Attempt({}), made=True)
    assert state.seconds_left == 0


def test_only_one_campaign_writes_a_journal(tmp_path):
    with (
        PointJournal(tmp_path / "journal"),
        pytest.raises(InputError, match="another campaign writes this file"),
    ):
        PointJournal(tmp_path / "journal")


def test_a_campaign_is_found_at_the_top():
    assert lockstep.campaign is campaign


def test_integers_stay_so_where_some_points_have_none(tmp_path):
    points = squares(tmp_path, 3, {1: "fails"})
    table = campaign(points, square, workers=1)
    assert str(table["square"].dtype) == "Int64"
    assert table["square"].to_list() == [0, pandas.NA, 4]
    write_parquet(tmp_path / "table.parquet", table)
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "table.parquet"), table)
