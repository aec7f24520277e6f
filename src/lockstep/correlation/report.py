"""A correlation on a terminal: statistics of each counter, the worst rows, what was left out."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockstep.correlation.comparison import ComparedRow, Correlation
from lockstep.correlation.statistics import Statistics
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import NONE, clean

if TYPE_CHECKING:
    from rich.table import Table

DIFFERING = 3  # counters that are named beside a bad row

STATISTICS = (
    Column("counter", Kind.NAME),
    Column("rows", rank=6),
    Column("MAPE"),
    Column("median"),
    Column("90 %", rank=5),
    Column("worst", rank=4),
    Column("bias", rank=3),
    Column("NRMSE", rank=1),
    Column("r", rank=2),
)
ROWS = (
    Column("kernel", Kind.NAME),
    Column("launch", rank=2),
    Column("hardware", rank=3),
    Column("lockstep", rank=3),
    Column("error"),
    Column("differs most", Kind.PROSE, 1),
)


def percent(fraction: float, sign: bool = False) -> str:
    """A fraction in percent; large ones without digits after the point."""
    if math.isnan(fraction):
        return NONE
    digits = 1 if abs(fraction) < 10 else 0
    return f"{100 * fraction:{'+' if sign else ''},.{digits}f} %"


def figure(value: float) -> str:
    """A counter's value."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"


def statistics_cells(correlation: Correlation) -> list[list[str]]:
    """A row of texts a counter, as ``STATISTICS`` has columns."""
    return [_cells(name, s) for name, s in correlation.statistics.items()]


def _cells(name: str, s: Statistics) -> list[str]:
    errors = [percent(e) for e in (s.mape, s.median, s.p90, s.worst)]
    r = NONE if math.isnan(s.pearson) else f"{s.pearson:.4f}"
    return [clean(name), f"{s.count:,}", *errors, percent(s.bias, True), percent(s.nrmse), r]


def worst_cells(correlation: Correlation, count: int) -> list[list[str]]:
    """A row of texts for each of the worst rows, as ``ROWS`` has columns."""
    return [_row_cells(correlation, row) for row in correlation.worst(count)]


def _row_cells(correlation: Correlation, row: ComparedRow) -> list[str]:
    first = correlation.metrics[0]
    differing = correlation.differing(row, DIFFERING)
    said = ", ".join(f"{clean(name)} {percent(error, True)}" for name, error in differing)
    which = str(row.number or NONE) if row.launches == 1 else f"{row.launches} launches"
    numbers = [figure(side[first]) for side in (row.hardware, row.ours)]
    return [clean(row.name), which, *numbers, percent(row.error(first), True), said]


def headline(correlation: Correlation) -> str:
    """How much was compared."""
    c = correlation.coverage
    cycles = c["hardware_cycles"]
    of_cycles = "" if math.isnan(cycles) else f", {percent(cycles)} of their cycles"
    what = {"launch": "", "kernel": " by kernel", "program": " by program"}[correlation.group_by]
    launches = "launch" if c["hardware"] == 1 else "launches"
    rows = "row" if len(correlation.rows) == 1 else "rows"
    return (
        f"{c['compared']:,} of {c['hardware']:,} measured {launches} compared{of_cycles}; "
        f"{c['results']:,} simulated; {len(correlation.rows):,} {rows}{what}"
    )


def views(correlation: Correlation, top: int, width: int) -> Iterator["Table | str"]:
    """What is printed: a headline, the statistics, the worst rows."""
    yield headline(correlation)
    yield ""
    yield table(STATISTICS, statistics_cells(correlation), width)
    if top and (cells := worst_cells(correlation, top)):
        yield ""
        title = f"Worst rows by {correlation.metrics[0]}"
        yield table(ROWS, cells, width, title)
