"""Rows beside measured ones: which are near, by group."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path

from lockstep.correlation.statistics import Statistics, relative_error
from lockstep.microbench import code, table
from lockstep.microbench.table import TableRow

NEAR, NEARER = 0.10, 0.05
SHIPPED = ("h100-sxm",)
"""Tables of measurements that the package has, by name."""


@dataclass(frozen=True, slots=True)
class RowPair:
    """A row of ours and the measured one."""

    ours: TableRow
    measured: TableRow
    group: str

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return relative_error(self.ours.value, self.measured.value)


@dataclass(frozen=True, slots=True)
class Share:
    """How many rows of a group are near."""

    group: str
    count: int
    nearer: int
    near: int
    median: float

    @classmethod
    def of(cls, group: str, pairs: Sequence[RowPair]) -> "Share":
        """The share of some pairs."""
        errors = [abs(pair.error) for pair in pairs]
        statistics = Statistics.of(
            [pair.ours.value for pair in pairs], [pair.measured.value for pair in pairs]
        )
        nearer, near = (sum(error <= limit for error in errors) for limit in (NEARER, NEAR))
        return cls(group, len(pairs), nearer, near, statistics.median)


@dataclass(slots=True)
class TableComparison:
    """What was compared; measured rows that were not, by reason; rows of ours without a partner."""

    pairs: list[RowPair] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    alone: list[TableRow] = field(default_factory=list)

    def shares(self) -> list[Share]:
        """By group, in the order of the rows, and overall."""
        groups = dict.fromkeys(pair.group for pair in self.pairs)
        found = [Share.of(g, [p for p in self.pairs if p.group == g]) for g in groups]
        return [*found, Share.of("all", self.pairs)]


def reference(name: str) -> list[TableRow]:
    """Measured rows by the name of a table that the package has, or by file."""
    if name not in SHIPPED:
        return table.read(Path(name))
    with resources.as_file(code.package().joinpath("data", f"{name}.csv.xz")) as path:
        return table.read(path)


def compare(ours: Iterable[TableRow], measured: Iterable[TableRow]) -> TableComparison:
    """Pair rows by name and parameters."""
    comparison = TableComparison()
    known = {row.key: row for row in measured}
    for row in ours:
        if reason := unmodelled(row):
            known.pop(row.key, None)
            comparison.left_out[reason] += 1
        elif row.key in known:
            comparison.pairs.append(RowPair(row, known.pop(row.key), group_of(row.name)))
        else:
            comparison.alone.append(row)
    for row in known.values():
        comparison.left_out[unmodelled(row) or "not run"] += 1
    return comparison


def unmodelled(row: TableRow) -> str:
    """Why no model can have a row; empty if one can."""
    text = f"{row.name} {row.parameters}"
    for pattern, reason in _unmodelled():
        if fnmatchcase(text, pattern):
            return reason
    return ""


@cache
def _unmodelled() -> list[tuple[str, str]]:
    text = code.package().joinpath("data", "unmodelled.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["rows"]
    return [(pattern, row["reason"]) for row in rows for pattern in row["patterns"]]


def group_of(name: str) -> str:
    """The group of the benchmark whose row is called so."""
    return _groups().get(name, name.partition(".")[0])


@cache
def _groups() -> dict[str, str]:
    from lockstep.microbench.benchmark import Target
    from lockstep.microbench.suite import all_benchmarks

    return {name: b.group for b in all_benchmarks(Target(1, 90)) for name in b.names}
