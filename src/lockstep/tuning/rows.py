"""Rows of the microbenchmark suite, as it prints them: CSV, one measurement a line.

Columns are ``name, parameters, value, unit`` and, if they are there, ``second_run``, ``notes``,
``raw``. Parameters are words and ``key=number``: ``warps=4 ilp=1``, ``x4 warps=8``, ``one word,
blocks=1 threads=32``. A row is looked up by its name and some of its keys, so that a suite of
smaller sizes, as it runs in simulation, has the same rows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median

from lockstep import notebook
from lockstep.correlation.csvfile import Table, number, read_table
from lockstep.errors import InputError

COLUMNS = ("name", "parameters", "value", "unit")
ERROR = "ERROR"  # the name of the row that a program leaves if it fails
NO_NUMBER = ("", "nan", "inf", "infinity")  # what a suite prints that measured nothing
AGREEMENT = 0.1  # of two measurements of one row, by which they may differ
_KEY = re.compile(r"(\w{1,32})=(-?\d{1,18})(?!\S)", re.ASCII)


@dataclass(frozen=True)
class Row:
    """One measurement. ``line`` is its line in the file; 0 if it comes from a simulation.

    ``raw``: the numbers that ``value`` is the median of, where the table has them.
    """

    name: str
    parameters: str
    value: float
    unit: str
    notes: str = ""
    line: int = 0
    raw: tuple[float, ...] = ()

    @cached_property
    def keys(self) -> dict[str, int]:
        """The numbers among the parameters."""
        return {key: int(value) for key, value in _KEY.findall(self.parameters)}

    @cached_property
    def words(self) -> str:
        """The parameters without the numbers."""
        return " ".join(_KEY.sub(" ", self.parameters).replace(",", " ").split())

    @property
    def warm(self) -> float:
        """The median of the raw numbers but the first: its round may have filled caches."""
        return median(self.raw[1:]) if len(self.raw) > 1 else self.value

    @property
    def label(self) -> str:
        """Name and parameters, as a source names the row."""
        return f"{self.name}, {self.parameters}" if self.parameters else self.name

    def __str__(self) -> str:
        return f"{self.label}: {self.value:.6g} {self.unit}"


@dataclass(frozen=True)
class Rows:
    """All rows by name. ``remarks`` say what of a file is left out, and why."""

    path: Path
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()
    _by_name: dict[str, list[Row]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        for row in self.rows:
            self._by_name.setdefault(row.name, []).append(row)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        table = [
            {"benchmark": r.name, "parameters": r.parameters, "value": r.value, "unit": r.unit}
            for r in self.rows
        ]
        return notebook.rows(str(self.path), table)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def named(self, name: str) -> list[Row]:
        """The rows of a benchmark, in the order of the file."""
        return self._by_name.get(name, [])

    def select(self, name: str, words: str | None = None, **keys: int) -> list[Row]:
        """The rows of a benchmark whose parameters have these words and numbers."""
        return [
            row
            for row in self.named(name)
            if (words is None or row.words == words)
            and all(row.keys.get(key) == value for key, value in keys.items())
        ]


def read_rows(path: str | Path) -> Rows:
    """The rows of a file, plain, ``.xz`` or ``.gz``.

    Of a row that is there twice, the median counts. Raises :class:`InputError` for what is no
    such table, a value that is no number, and two measurements of a row that disagree.
    """
    table = read_table(path, _is_head)
    absent = [name for name in COLUMNS if name not in table.columns]
    if absent:
        raise InputError(
            table.path,
            f"line {_head_line(table)}",
            f"expected the columns {', '.join(COLUMNS)}; {', '.join(absent)} is missing",
        )
    remarks: list[str] = []
    rows = _joined(table.path, _rows(table, remarks), remarks)
    if not rows:
        raise InputError(table.path, "", "has no measurement; run the microbenchmarks again")
    return Rows(table.path, tuple(rows), tuple(remarks))


def _is_head(columns: list[str]) -> bool:
    return set(COLUMNS) <= set(columns)


def _head_line(table: Table) -> int:
    return max(table.lines[0] - 1, 1) if table.lines else 1


def _rows(table: Table, remarks: list[str]) -> Iterator[Row]:
    for record, line in zip(table.records(), table.lines):
        name, place = record["name"], f"line {line}"
        if name == ERROR:
            said = " ".join(filter(None, (record["parameters"], record.get("unit"))))
            remarks.append(f"{table.path}, {place}: a program failed, its rows are absent: {said}")
            continue
        if not name:
            raise InputError(table.path, place, "a row without a name; delete the line")
        value = number(record["value"])
        if value is None and record["value"].lower().lstrip("+-") in NO_NUMBER:
            remarks.append(f"{table.path}, {place}: {name} has no value ({record['value']})")
            continue
        if value is None:
            what = f"{name}: the value {record['value'][:40]!r} is no number; measure it again"
            raise InputError(table.path, place, f"{what}, or delete the line")
        notes, raw = record.get("notes", ""), clocks(record.get("raw", ""))
        yield Row(name, record["parameters"], value, record["unit"], notes, line, raw)


def clocks(text: str) -> tuple[float, ...]:
    """The numbers of a cell of raw ones; () if it has anything else."""
    found = [number(word) for word in text.split()]
    numbers = tuple(n for n in found if n is not None)
    return numbers if len(numbers) == len(found) else ()


def _joined(path: Path, rows: Iterable[Row], remarks: list[str]) -> list[Row]:
    """Each row once."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.name, row.parameters), []).append(row)
    return [_one(path, same, remarks) for same in found.values()]


def _one(path: Path, same: list[Row], remarks: list[str]) -> Row:
    first = same[0]
    if len(same) == 1:
        return first
    for row in same[1:]:
        if row.unit != first.unit or _differ(row.value, first.value):
            raise InputError(
                path,
                f"line {row.line}",
                f"{row} disagrees with line {first.line}, {first.value:.6g} {first.unit}; "
                "delete the wrong one",
            )
    lines = ", ".join(str(row.line) for row in same)
    remarks.append(f"{path}: {first.label} is there {len(same)} times, lines {lines}: the median")
    middle = median(row.value for row in same)
    return Row(first.name, first.parameters, middle, first.unit, first.notes, first.line, first.raw)


def _differ(a: float, b: float) -> bool:
    return abs(a - b) > AGREEMENT * max(abs(a), abs(b))
