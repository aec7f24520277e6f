"""Nsight Systems' tables: ``nsys stats -f csv``, reports cuda_kern_exec_trace and cuda_gpu_trace.

A row a launch, or a copy, which is passed over. Times are in the unit that the column names.
"""

import re
from collections.abc import Iterator

from lockstep.correlation.csvfile import Table, dimensions, number
from lockstep.correlation.launches import DURATION, Launch
from lockstep.correlation.units import TIMES as UNITS
from lockstep.errors import InputError

TIMES = ("Kernel Dur", "Duration")
NAMES = ("Kernel Name", "Name")
_ORDER = ("API Start", "CorrId", "Kernel Start", "Start")  # the first that there is
_SIZES = {"grid": ("GridXYZ", "Grd"), "block": ("BlockXYZ", "Blk")}
_UNIT = re.compile(r"(.*?) ?\((\w+)\)\Z")


def is_head(cells: list[str]) -> bool:
    """Whether these are the columns of such a table."""
    plain = {_plain(cell) for cell in cells}
    if not plain & set(NAMES) or not any(_UNIT.match(c) and _plain(c) in TIMES for c in cells):
        return False
    return any({names[0], f"{names[1]}X"} & plain for names in _SIZES.values())


def launches(table: Table) -> Iterator[Launch]:
    """The launches of a table, in the order in which the program made them."""
    columns = {_plain(name): name for name in reversed(table.columns)}
    time = next(columns[name] for name in TIMES if name in columns)
    kernel = next(columns[name] for name in NAMES if name in columns)
    for whole, begins in _SIZES.values():
        if whole not in columns and not {f"{begins}{axis}" for axis in "XYZ"} <= columns.keys():
            what = f"has no columns {begins}X, {begins}Y and {begins}Z, nor {whole}"
            raise InputError(table.path, "", what)
    unit = _UNIT.match(time)
    if unit and unit[2] not in UNITS:
        what = f"has times in {unit[2][:40]!r}, in the column {time[:80]}; expected ns, us, ms or s"
        raise InputError(table.path, "", what)
    factor = UNITS[unit[2]] if unit else 1.0
    found = []
    for line, record in zip(table.lines, table.records()):
        grid, block = (_size(record, columns, what) for what in ("grid", "block"))
        if not grid or not record[kernel]:
            continue  # a copy
        value = table.number(line, time, record[time])
        if value is None:
            what = f"{time} = {record[time]!r}; expected a number"
            raise InputError(table.path, f"line {line}", what)
        found.append((_turn(record, columns), record, value * factor, grid, block))
    found.sort(key=lambda row: row[0])
    for count, (_, record, nanoseconds, grid, block) in enumerate(found, 1):
        stream = number(record.get("Strm", "")) or 0
        metrics = {DURATION: nanoseconds} | _needs(record, columns)
        yield Launch("", record[kernel], count, metrics, grid, block, stream=int(stream))


def _plain(column: str) -> str:
    """A column's name without its unit."""
    found = _UNIT.match(column)
    return found[1] if found else column


def _turn(record: dict[str, str], columns: dict[str, str]) -> float:
    name = next((columns[name] for name in _ORDER if name in columns), None)
    return (number(record[name]) or 0.0) if name else 0.0


def _size(record: dict[str, str], columns: dict[str, str], what: str) -> tuple[int, ...]:
    """A size in one column, as ``12 1 1``, or in three."""
    whole, begins = _SIZES[what]
    if whole in columns:
        return dimensions(record[columns[whole]])
    parts = [number(record.get(columns.get(f"{begins}{axis}", ""), "")) for axis in "XYZ"]
    return tuple(int(part) for part in parts if part is not None) if None not in parts else ()


def _needs(record: dict[str, str], columns: dict[str, str]) -> dict[str, float]:
    """Registers, where they are told."""
    value = number(record.get(columns.get("Reg/Trd", ""), ""))
    return {} if value is None else {"launch__registers_per_thread": value}
