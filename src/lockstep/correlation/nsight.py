"""Nsight Compute's tables: ``ncu --csv``, one row a launch (``--page raw``) or one row a metric."""

import re
from collections.abc import Iterator

from lockstep.correlation.csvfile import Table, dimensions, number
from lockstep.correlation.launches import Launch
from lockstep.errors import InputError
from lockstep.metrics import aliases

KERNEL, METRIC, UNIT, VALUE = "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"
PROGRAM = ("program", "model", "group", "Process Name")  # the first of them that is there

SAME = aliases.same(aliases.NSIGHT)
"""Other names of what lockstep counts, where the name that it uses is absent."""
_TIMES = {"nsecond": 1.0, "usecond": 1e3, "msecond": 1e6, "second": 1e9}
_TIMES |= {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIX = re.compile(r"([KMGT])[a-z]+(?:/\w+)?\Z")
_POWERS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def is_head(cells: list[str]) -> bool:
    """Whether these are the columns of such a table."""
    return KERNEL in cells


def launches(table: Table) -> Iterator[Launch]:
    """The launches of a table, in its order."""
    yield from _long(table) if METRIC in table.columns else _wide(table)


def scale(unit: str) -> float:
    """What a number in a unit is multiplied by: bytes, counts and nanoseconds come out."""
    if unit in _TIMES:
        return _TIMES[unit]
    found = _PREFIX.match(unit)
    return _POWERS[found[1]] if found else 1.0


def program_column(columns: list[str]) -> str:
    """The column that names the program; "" if there is none."""
    return next((name for name in PROGRAM if name in columns), "")


def named(values: dict[str, float]) -> dict[str, float]:
    """With lockstep's names; what has them already goes before other names of the same."""
    found = {name: value for name, value in values.items() if name not in SAME}
    for name, same in SAME.items():
        if name in values:
            found.setdefault(same, values[name])
    return found


def _wide(table: Table) -> Iterator[Launch]:
    """A row a launch; the row of units has no kernel, and may be absent."""
    program = program_column(table.columns)
    numbers: dict[str, int] = {}
    units = dict.fromkeys(table.columns, 1.0)
    for record in table.records():
        if not record[KERNEL]:
            units = {name: scale(unit) for name, unit in record.items()}
            continue
        values = {n: v * units[n] for n, text in record.items() if (v := number(text)) is not None}
        yield _launch(record, program, numbers, values)


def _long(table: Table) -> Iterator[Launch]:
    """A row a metric; the rows of a launch have one ID."""
    program = program_column(table.columns)
    numbers: dict[str, int] = {}
    for name in (UNIT, VALUE, "ID"):
        if name not in table.columns:
            raise InputError(table.path, "", f"has a column {METRIC} but none called {name}")
    key = None
    first: dict[str, str] = {}
    values: dict[str, float] = {}
    for record in table.records():
        here = record.get(program), record["ID"], record[KERNEL]
        if key is not None and here != key:
            yield _launch(first, program, numbers, values)
            values = {}
        if here != key:
            key, first = here, record
        value = number(record[VALUE])
        if value is not None:  # a metric that several sections have is the same in all of them
            values.setdefault(record[METRIC], value * scale(record[UNIT]))
    if key is not None:
        yield _launch(first, program, numbers, values)


def _launch(
    record: dict[str, str], program: str, numbers: dict[str, int], values: dict[str, float]
) -> Launch:
    """``numbers`` has the number of the last launch of each program."""
    name = record[program] if program else ""
    numbers[name] = numbers.get(name, 0) + 1
    grid, block = (dimensions(record.get(f"{what} Size", "")) for what in ("Grid", "Block"))
    return Launch(name, record[KERNEL], numbers[name], named(values), grid, block)
