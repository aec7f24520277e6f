"""Reads measurements, whoever wrote them: the columns of a table say which kind it is."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from lockstep.correlation import nsight, nsys, nvprof, tables
from lockstep.correlation.csvfile import Table, read_table
from lockstep.correlation.launches import Launch
from lockstep.errors import InputError

PROFILERS = (nsys, nsight, nvprof)
REPORTS = {
    ".ncu-rep": "ncu --import {0} --csv --page raw > {1}",
    ".nsys-rep": "nsys stats -r cuda_kern_exec_trace -f csv {0} > {1}",
    ".qdrep": "nsys stats -r cuda_kern_exec_trace -f csv {0} > {1}",
}
"""What makes a table of a profiler's own file."""


def read_hardware(path: str | Path, where: Mapping[str, str] | None = None) -> list[Launch]:
    """The launches in a profiler's CSV file, or in a table with names like ours.

    ``where`` keeps the rows that have these values in these columns. The file may end in ``.xz``
    or ``.gz``. Raises :class:`InputError` if it is damaged or nothing is left.
    """
    table = chosen(read_profile(path), where or {})
    found = [launch for launch in kind_of(table).launches(table) if launch.metrics]
    if not found:
        raise InputError(path, "", "has no launch with a counter" + " left" * bool(where))
    return found


def read_profile(path: str | Path) -> Table:
    """The table in a file of measurements; raises :class:`InputError` if there is none."""
    path = Path(path)
    if path.suffix in REPORTS:
        names = shlex.quote(path.name), shlex.quote(f"{path.stem}.csv")
        what = REPORTS[path.suffix].format(*names)
        raise InputError(path, "", f"is a profiler's own file; `{what}` makes a table of it")
    return read_table(path, lambda cells: any(kind.is_head(cells) for kind in PROFILERS))


def kind_of(table: Table) -> ModuleType:
    """The module whose ``launches`` reads a table."""
    return next((kind for kind in PROFILERS if kind.is_head(table.columns)), tables)


def chosen(table: Table, where: Mapping[str, str]) -> Table:
    """The rows that have these values, and those that are no launch's: units, nvprof's heads."""
    for name, value in where.items():
        if name not in table.columns:
            raise InputError(table.path, "", f"has no column {name}")
        place = table.columns.index(name)
        kernel = table.columns.index(nsight.KERNEL) if nsight.KERNEL in table.columns else None
        kept = [
            (row, line)
            for row, line in zip(table.rows, table.lines)
            if row[place] == value
            or (kernel is not None and not row[kernel])
            or nvprof.is_head(row)
        ]
        if not any(row[place] == value for row, _ in kept):
            raise InputError(table.path, "", f"has no row with {name} = {value}")
        table = table._replace(rows=[row for row, _ in kept], lines=[line for _, line in kept])
    return table
