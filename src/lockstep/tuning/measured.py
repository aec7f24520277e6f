"""What inferences read: rows by name and keys, in the unit that they ask for."""

import re
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from lockstep.errors import InputError
from lockstep.tuning.rows import Row, Rows

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SMALLEST, LARGEST = 1e-15, 1e15  # nothing that is measured is beyond, in any unit
CYCLES = ("cycles", "cycle", "clocks", "clk")
_RATE = re.compile(r"([KMGT]?)(B|op)/s", re.ASCII)
_THOUSANDS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class Absent(Exception):
    """A row that an inference needs is not there; the text says which."""


class Point(NamedTuple):
    """A row of a series: its number, its value in the unit that was asked for."""

    at: int
    value: float
    row: Row

    @property
    def warm(self) -> float:
        """The same without the first round."""
        return self.value * self.row.warm / self.row.value


class Measured:
    """Rows, and the GPU as far as it is known; remembers which rows were looked at.

    ``parameters`` is the GPU as a flat table, by dotted name.
    """

    def __init__(self, rows: Rows, parameters: dict[str, object]):
        self.rows, self.parameters = rows, parameters
        self.used: list[Row] = []
        self.seen: list[Row] = []  # those used, and those that were compared with them
        self.said = ""  # what counts of the notes of a row, where its value does not

    def __getitem__(self, parameter: str):
        """A parameter of the GPU as far as it is known."""
        if parameter not in self.parameters:
            raise Absent(f"the base has no {parameter}")
        return self.parameters[parameter]

    def row(self, name: str, words: str | None = None, **keys: int) -> Row:
        """The first row with these words and numbers; raises :class:`Absent`."""
        found = self.rows.select(name, words, **keys)
        if not found:
            raise Absent(f"no row {_asked(name, words, keys)}")
        self._use(found[0])
        return found[0]

    def get(self, name: str, unit: str = "cycles", words: str | None = None, **keys: int) -> float:
        """The value of that row in a unit; raises :class:`Absent` if it is not positive."""
        return self.positive(self.row(name, words, **keys), unit)

    def series(
        self, name: str, key: str, unit: str = "cycles", words: str | None = None, **keys: int
    ) -> list[Point]:
        """All rows with these words and numbers, by the number that ``key`` has.

        None counts as looked at before :meth:`use` says so.
        """
        rows = [row for row in self.rows.select(name, words, **keys) if key in row.keys]
        if len(rows) < 2:
            raise Absent(f"fewer than two rows {_asked(name, words, keys)} by {key}")
        rows.sort(key=lambda row: row.keys[key])
        self.seen += rows
        return [Point(row.keys[key], self.positive(row, unit), row) for row in rows]

    def use(self, *points: Point) -> None:
        """The value that is read comes from these."""
        for point in points:
            self._use(point.row)

    def highest(self, name: str, unit: str, wanted: Callable[[Row], bool]) -> float:
        """The largest value of the rows that are ``wanted``."""
        rows = [row for row in self.rows.named(name) if wanted(row)]
        if not rows:
            raise Absent(f"no row {name} of so many warps")
        best = max(rows, key=lambda row: row.value)
        self.seen += rows
        self._use(best)
        return self.positive(best, unit)

    def middle(self, name: str, wanted: Callable[[Row], bool], unit: str = "cycles") -> float:
        """The median of the rows that are ``wanted``."""
        rows = [row for row in self.rows.named(name) if wanted(row)]
        if not rows:
            raise Absent(f"no such row {name}")
        for row in rows:
            self._use(row)
        return median(self.positive(row, unit) for row in rows)

    def positive(self, row: Row, unit: str) -> float:
        """The value of a row in a unit; raises :class:`Absent` if nothing can have it."""
        value = self._convert(row, unit)
        if value <= 0:
            raise Absent(f"{row} is not positive")
        if not SMALLEST < value < LARGEST:
            raise Absent(f"{row} is no measurement")
        return value

    def difference(self, one: float, other: float) -> float:
        """``one - other``; raises :class:`Absent` if that is not positive: no such cost."""
        if one <= other:
            raise Absent(f"{one:.6g} is not more than {other:.6g}")
        return one - other

    def _use(self, row: Row) -> None:
        if row not in self.used:
            self.used.append(row)
            self.seen.append(row)

    def _convert(self, row: Row, unit: str) -> float:
        wanted, given = unit.partition("/")[0], row.unit.partition("/")[0]
        if row.unit == unit or (wanted in CYCLES and given in CYCLES):
            return row.value
        hertz = float(self["clock_mhz"]) * 1e6
        if wanted in CYCLES and given in SECONDS:
            return row.value * SECONDS[given] * hertz
        if wanted in SECONDS and (given in SECONDS or given in CYCLES):
            return row.value * SECONDS.get(given, 1 / hertz) / SECONDS[wanted]
        one, other = _RATE.fullmatch(row.unit), _RATE.fullmatch(unit)
        if one and other and one[2] == other[2]:
            return row.value * _THOUSANDS[one[1]] / _THOUSANDS[other[1]]
        where = f"line {row.line}" if row.line else ""
        raise InputError(
            self.rows.path,
            where,
            f"{row.label} is in {row.unit[:40]!r}; expected {unit}: convert the value, or delete "
            "the line",
        )


def _asked(name: str, words: str | None, keys: dict[str, int]) -> str:
    parts = [words or "", *(f"{key}={value}" for key, value in keys.items())]
    return ", ".join(filter(None, (name, " ".join(filter(None, parts)))))
