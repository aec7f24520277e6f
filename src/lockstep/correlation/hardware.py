"""Reads measurements, whoever wrote them: the columns of a table say which kind it is."""

from collections.abc import Mapping
from pathlib import Path

from lockstep.correlation import nsight, nvprof, tables
from lockstep.correlation.csvfile import Table, read_table
from lockstep.correlation.launches import Launch
from lockstep.errors import InputError

PROFILERS = (nsight, nvprof)


def read_hardware(path: str | Path, where: Mapping[str, str] | None = None) -> list[Launch]:
    """The launches in a CSV file of Nsight Compute or nvprof, or in a table with names like ours.

    ``where`` keeps the rows that have these values in these columns. The file may end in ``.xz``
    or ``.gz``. Raises :class:`InputError` if it is damaged or nothing is left.
    """
    table = read_table(path, lambda cells: any(kind.is_head(cells) for kind in PROFILERS))
    table = _chosen(table, where or {})
    kind = next((kind for kind in PROFILERS if kind.is_head(table.columns)), tables)
    found = [launch for launch in kind.launches(table) if launch.metrics]
    if not found:
        raise InputError(path, "", "has no launch with a counter" + " left" * bool(where))
    return found


def _chosen(table: Table, where: Mapping[str, str]) -> Table:
    """The rows that have these values; the row of units stays, as no row of it is a launch's."""
    for name, value in where.items():
        if name not in table.columns:
            raise InputError(table.path, "", f"has no column {name}")
        place = table.columns.index(name)
        kernel = table.columns.index(nsight.KERNEL) if nsight.KERNEL in table.columns else None
        kept = [
            (row, line)
            for row, line in zip(table.rows, table.lines)
            if row[place] == value or (kernel is not None and not row[kernel])
        ]
        if not any(row[place] == value for row, _ in kept):
            raise InputError(table.path, "", f"has no row with {name} = {value}")
        table = table._replace(rows=[row for row, _ in kept], lines=[line for _, line in kept])
    return table
