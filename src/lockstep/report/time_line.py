"""Tables of where the time of a run went, if its host takes time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockstep.metrics import host
from lockstep.metrics.result import Result
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import clean, percent, scaled

if TYPE_CHECKING:
    from rich.table import Table

STEPS_SHOWN = 24
_PART = (Column("part", Kind.WORD), Column("time"), Column("share", rank=1))
_STEP = (Column("what", Kind.NAME), Column("begins"), Column("takes"))


def tables(result: Result, width: int) -> "Iterator[str | Table]":
    """Parts of the run's time, then what took longest, in order; none without a timed host."""
    parts = result.parts
    if not parts:
        return
    total = sum(parts.values())
    cells = [
        (name, _time(seconds), percent(100 * seconds / total))
        for name, seconds in parts.items()
        if seconds
    ]
    yield ""
    yield table(_PART, [*cells, ("all", _time(total), percent(100.0))], width, "Time")
    steps = [step for step in host.steps(result.run, result.gpu) if step.end > step.start]
    longest = sorted(steps, key=lambda step: step.start - step.end)[:STEPS_SHOWN]
    rows = [
        (clean(step.what), _time(step.start * 1e-12), _time((step.end - step.start) * 1e-12))
        for step in sorted(longest, key=lambda step: step.start)
    ]
    more = f": the {STEPS_SHOWN} longest steps of {len(steps)}" if len(steps) > STEPS_SHOWN else ""
    yield ""
    yield table(_STEP, rows, width, f"Time line{more}")


def _time(seconds: float) -> str:
    return scaled(seconds, "s")
