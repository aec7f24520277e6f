"""Nsight Compute's tables: ``ncu --csv``, one row a launch (``--page raw``) or one row a metric."""

import functools
import re
from collections.abc import Iterator

from lockstep.correlation.csvfile import Table, dimensions, number
from lockstep.correlation.launches import DURATION, Launch
from lockstep.correlation.units import factor
from lockstep.errors import InputError
from lockstep.metrics import aliases
from lockstep.metrics.registry import REGISTRY

KERNEL, METRIC, UNIT, VALUE = "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"
PROGRAM = ("program", "model", "group", "Process Name")  # the first of them that is there

SAME = aliases.same(aliases.NSIGHT)
"""Other names of what lockstep counts, where the name that it uses is absent."""
_OURS = re.compile("|".join(re.escape(m.name).replace(r"\{\}", r"\w+") for m in REGISTRY))


def is_head(cells: list[str]) -> bool:
    """Whether these are the columns of such a table."""
    return KERNEL in cells


def launches(table: Table) -> Iterator[Launch]:
    """The launches of a table, in its order."""
    table = _in_order(table)
    yield from _long(table) if METRIC in table.columns else _wide(table)


@functools.lru_cache(maxsize=4096)
def used(name: str) -> bool:
    """Whether lockstep counts a metric, too."""
    return name in SAME or bool(_OURS.fullmatch(name))


def _factor(table: Table, line: int, name: str, unit: str) -> float | None:
    """What a metric in a unit is multiplied by; None if neither is known.

    Raises :class:`InputError` for an unknown unit of a metric that lockstep counts.
    """
    found = factor(unit, SAME.get(name, name) == DURATION)
    if found is None and used(name):
        table.refuse_unit(line, name, unit, "; ncu has --print-units base")
    return found


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


def _in_order(table: Table) -> Table:
    """With the rows of a process by their IDs; those that have none stay in their places."""
    program = program_column(table.columns)
    turns = [
        (_process(record, program), turn)
        if record[KERNEL] and (turn := number(record.get("ID", ""))) is not None
        else None
        for record in table.records()
    ]
    return table.arranged(turns)


def _process(record: dict[str, str], program: str) -> tuple[str | None, str | None]:
    return record.get(program), record.get("Process ID")


def _wide(table: Table) -> Iterator[Launch]:
    """A row a launch; the row of units has no kernel, and may be absent."""
    program = program_column(table.columns)
    numbers: dict[str, int] = {}
    units: dict[str, float | None] = dict.fromkeys(table.columns, 1.0)
    strict = {name for name in table.columns if used(name)}
    for line, record in zip(table.lines, table.records()):
        if not record[KERNEL]:
            units = {name: _factor(table, line, name, unit) for name, unit in record.items()}
            continue
        values = {}
        for name, text in record.items():
            value = table.number(line, name, text) if name in strict else number(text)
            unit = units[name]
            if value is not None and unit is not None:
                values[name] = value * unit
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
    for line, record in zip(table.lines, table.records()):
        here = _process(record, program), record["ID"], record[KERNEL]
        if key is not None and here != key:
            yield _launch(first, program, numbers, values)
            values = {}
        if here != key:
            key, first = here, record
        name = record[METRIC]
        unit = _factor(table, line, name, record[UNIT])
        text = record[VALUE]
        value = table.number(line, name, text) if used(name) else number(text)
        if value is not None and unit is not None:
            values.setdefault(name, value * unit)  # the same in all sections that have it
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
