"""Progress of a simulation on a terminal: percent, cycles, speed, time left."""

import sys
import time
from typing import TYPE_CHECKING, Self

from lockstep.report.figures import count, kernel_name

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from lockstep.campaigns import CampaignState

NAME_WIDTH = 24
REFRESH = 0.1  # seconds


class Progress:
    """Shows progress on stderr while used as a context manager; nothing in a pipe.

    ``update`` and ``notice`` are the callbacks that ``simulate`` takes.
    """

    def __init__(self, quiet: bool = False):
        """``quiet`` shows nothing at all, notices included."""
        self.quiet = quiet
        self.shown = not quiet and sys.stderr.isatty()
        self._bar: Bar | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        """Begin; the bar itself appears with the first update."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def notice(self, text: str) -> None:
        """Say once what takes long."""
        if self._bar:
            self._bar.console.print(text, highlight=False, markup=False)
        elif not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def update(self, done: int, total: int, cycle: int, instructions: int, kernel: str) -> None:
        """Show how far the simulation is."""
        if not self.shown:
            return
        if self._bar is None:
            self._began = time.monotonic()
            self._bar = _bar()
        fraction = done / total if total else 0.0
        elapsed = time.monotonic() - self._began
        text = status(fraction, cycle, instructions, elapsed)
        name = kernel_name(kernel, NAME_WIDTH)
        self._bar.update(self._bar.task_ids[0], completed=fraction, status=text, kernel=name)
        self._bar.refresh()


class LaunchProgress:
    """Shows how many launches there were on a terminal; as :class:`Progress` otherwise."""

    def __init__(self, quiet: bool = False, hidden: bool = False):
        """``hidden`` shows notices alone."""
        self._progress = Progress(quiet)
        self._progress.shown &= not hidden
        self._shown_at = 0.0

    def __enter__(self) -> Self:
        """Begin; nothing is shown before the first launch."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what is shown."""
        self.clear()

    def clear(self) -> None:
        """Remove what is shown until the next launch."""
        if self._shown_at:
            self._shown_at = 0.0
            print(end="\r\x1b[K", file=sys.stderr, flush=True)

    def notice(self, text: str) -> None:
        """Say once what takes long."""
        self._progress.notice(text)

    def launched(self, launches: int, kernel: str) -> None:
        """Show the number of launches, and the kernel of the last one; ten times a second."""
        now = time.monotonic()
        if self._progress.shown and now - self._shown_at >= REFRESH:
            self._shown_at = now
            text = f"{count(launches)} launches  {kernel_name(kernel, NAME_WIDTH)}"
            print(end=f"\r\x1b[K{text}", file=sys.stderr, flush=True)


class PointProgress:
    """Shows how many points of a campaign are done on a terminal; a context manager."""

    def __init__(self, quiet: bool = False):
        """``quiet`` shows nothing."""
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        """Begin; the bar itself appears with the first update."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()

    def update(self, state: "CampaignState") -> None:
        """Show how far the campaign is."""
        if not self._shown:
            return
        self._bar = self._bar or _bar()
        share = state.done / state.points if state.points else 1.0
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=share, status=points_status(state), kernel="")
        self._bar.refresh()


def points_status(state: "CampaignState") -> str:
    """Percent, points, failures and time left, in one line."""
    share = state.done / state.points if state.points else 1.0
    left = "-:--" if state.seconds_left != state.seconds_left else clock(state.seconds_left)
    failed = f"  {count(state.failed)} failed" if state.failed else ""
    return f"{share:4.0%}  {count(state.done)} of {count(state.points)}{failed}  {left} left"


def status(fraction: float, cycle: int, instructions: int, elapsed: float) -> str:
    """Percent, cycles, kilo-instructions per second and time left, in one line."""
    speed = f"{count(instructions / 1000 / elapsed)} kips" if elapsed > 0 else "- kips"
    left = clock(elapsed * (1 - fraction) / fraction) if fraction > 0 else "-:--"
    return f"{fraction:4.0%}  {count(cycle)} cycles  {speed}  {left} left"


def clock(seconds: float) -> str:
    """A duration as minutes and seconds, or hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bar() -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = [
        TextColumn("{task.fields[kernel]}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[status]}", markup=False),
    ]
    # No refresh thread: it would wait for the interpreter lock that the engine holds in Python.
    bar = Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
    bar.add_task("", total=1.0, status="", kernel="")
    bar.start()
    return bar
