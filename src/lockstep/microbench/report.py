"""Tables for people."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockstep.microbench.against import TableComparison
from lockstep.microbench.benchmark import Benchmark
from lockstep.microbench.table import TableRow
from lockstep.report import columns
from lockstep.report.columns import Column, Kind

if TYPE_CHECKING:
    from rich.table import Table

VALUES = (Column("name", Kind.NAME), Column("parameters", Kind.NAME), Column("value"),
          Column("unit", Kind.PROSE, 1))  # fmt: skip
LISTED = (Column("benchmark", Kind.NAME), Column("group", Kind.NAME), Column("rows"),
          Column("what it measures", Kind.PROSE, 1))  # fmt: skip
COMPARED = (Column("name", Kind.NAME), Column("parameters", Kind.NAME), Column("lockstep"),
            Column("measured"), Column("difference"))  # fmt: skip
SHARES = (Column("group", Kind.NAME), Column("rows"), Column("within 5 %"), Column("within 10 %"),
          Column("median difference"))  # fmt: skip


def values(rows: Iterable[TableRow], width: int) -> "Table":
    """All rows."""
    cells = [[row.name, row.parameters, f"{row.value:,.5g}", row.unit] for row in rows]
    return columns.table(VALUES, cells, width, "microbenchmarks")


def listed(benchmarks: Iterable[Benchmark], width: int) -> "Table":
    """What there is."""
    cells = [
        [b.name, b.group, str(sum(len(case.rows) for case in b.cases)), b.what] for b in benchmarks
    ]
    return columns.table(LISTED, cells, width, "microbenchmarks")


def compared(comparison: TableComparison, width: int) -> "list[Table | str]":
    """Rows beside measured ones, shares by group, and what was not compared."""
    cells = [
        [p.ours.name, p.ours.parameters, f"{p.ours.value:,.5g}", f"{p.measured.value:,.5g}",
         f"{100 * p.error:+.1f} %"]
        for p in comparison.pairs
    ]  # fmt: skip
    shares = [
        [s.group, str(s.count), *(f"{100 * n / s.count:.0f} %" for n in (s.nearer, s.near)),
         f"{100 * s.median:.1f} %"]
        for s in comparison.shares() if s.count
    ]  # fmt: skip
    lines = [
        f"{count:,} measured rows left out: {why}" for why, count in comparison.left_out.items()
    ]
    if comparison.alone:
        lines.append(
            f"{len(comparison.alone):,} rows of ours were not measured, or in another size"
        )
    return [
        columns.table(COMPARED, cells, width, "microbenchmarks"),
        columns.table(SHARES, shares, width, "rows within 5 % and 10 % of what was measured"),
        *lines,
    ]
