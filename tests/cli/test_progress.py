from types import SimpleNamespace

import pytest

from lockstep.cli import progress
from lockstep.cli.progress import PointProgress, Progress


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (61.4, "1:01"), (3600, "1:00:00"), (86399, "23:59:59")]
)
def test_durations(seconds, text):
    assert progress.clock(seconds) == text


def test_the_status_says_percent_cycles_speed_and_time_left():
    assert progress.status(0.25, 12345, 2_000_000, 10.0) == (
        " 25%  12,345 cycles  200 kips  0:30 left"
    )
    assert progress.status(0.0, 0, 0, 0.0) == "  0%  0 cycles  - kips  -:-- left"


def test_nothing_is_shown_in_a_pipe_but_notices(capsys):
    with Progress() as shown:
        shown.update(1, 2, 10, 100, "k")
        shown.notice("Compiling.")
    assert capsys.readouterr() == ("", "Compiling.\n")


def test_quiet_shows_nothing(capsys):
    with Progress(quiet=True) as shown:
        shown.notice("Compiling.")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar_on_stderr(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress() as shown:
        shown.update(1, 2, 1234, 100, "a_kernel[red]\x1b")
        shown.notice("Something [bold] took long.")
        shown.update(2, 2, 2345, 100, "a_kernel")
    captured = capsys.readouterr()
    assert captured.out == ""
    for text in ("50%", "1,234 cycles", "a_kernel[red]?", "Something [bold] took long.", "100%"):
        assert text in captured.err


def test_a_campaign_shows_points_failures_and_time_left(capsys, monkeypatch):
    state = SimpleNamespace(points=2000, done=1500, failed=2, seconds_left=61.4)
    assert progress.points_status(state) == " 75%  1,500 of 2,000  2 failed  1:01 left"
    unknown = SimpleNamespace(points=0, done=0, failed=0, seconds_left=float("nan"))
    assert progress.points_status(unknown) == "100%  0 of 0  -:-- left"
    with PointProgress() as shown:
        shown.update(state)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with PointProgress() as shown:
        shown.update(state)
    assert "1,500 of 2,000" in capsys.readouterr().err
