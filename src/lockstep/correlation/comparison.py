"""Counter by counter, kernel by kernel: what a correlation holds, and what makes it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lockstep import notebook
from lockstep.correlation.hardware import read_hardware
from lockstep.correlation.kernels import full_name
from lockstep.correlation.launches import CYCLES, TIMES, Launch, is_rate, is_sum, together
from lockstep.correlation.matching import LaunchPair, Matching, match, nearest
from lockstep.correlation.results import Ours, read_result
from lockstep.correlation.statistics import Statistics, relative_error
from lockstep.errors import LockstepError
from lockstep.metrics import manifest, output
from lockstep.metrics.result import Result

if TYPE_CHECKING:
    import pandas

Grouping = Literal["launch", "kernel", "program"]
Source = Result | str | Path
HANDFUL = 100  # events


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One launch, or all of a kernel or of a program: counters measured and simulated."""

    program: str
    kernel: str  # "" where it is a program
    number: int  # of the first launch, counted from 1
    launches: int
    hardware: dict[str, float]
    ours: dict[str, float]

    @property
    def name(self) -> str:
        """Program and kernel in one, as far as they are known."""
        return ": ".join(filter(None, (self.program, self.kernel))) or "all"

    def error(self, metric: str) -> float:
        """The relative error of a metric; NaN where a side does not have it."""
        if metric not in self.hardware or metric not in self.ours:
            return math.nan
        return relative_error(self.ours[metric], self.hardware[metric])


@dataclass(frozen=True)
class Correlation:
    """Rows with the counters that both sides have. ``metrics`` begins with what rows are ranked by.

    ``remarks`` say in a line each what was not compared, and why.
    """

    rows: list[ComparedRow]
    metrics: list[str]
    matching: Matching
    group_by: Grouping

    @property
    def remarks(self) -> list[str]:
        """What was not compared, a line each."""
        return self.matching.remarks

    @cached_property
    def statistics(self) -> dict[str, Statistics]:
        """Of each metric, over the rows that have it on both sides."""
        found = {}
        for metric in self.metrics:
            rows = [r for r in self.rows if metric in r.hardware and metric in r.ours]
            ours = [r.ours[metric] for r in rows]
            found[metric] = Statistics.of(ours, [r.hardware[metric] for r in rows])
        return found

    def _repr_html_(self) -> str:
        """What notebooks show."""
        pairs = f"{len(self.matching.pairs):,} of {self.matching.hardware:,} measured launches"
        return notebook.rows(
            f"{pairs} compared", [{"metric": m, **s.row} for m, s in self.statistics.items()]
        )

    @property
    def coverage(self) -> dict[str, float]:
        """Of the measured launches of compared programs: how many there are, and how many pairs.

        ``hardware_cycles`` is the fraction of their cycles; NaN where cycles were not measured.
        """
        known = self.matching.hardware_cycles
        compared = sum(p.hardware.cycles for p in self.matching.pairs if p.hardware.cycles > 0)
        return {
            "compared": len(self.matching.pairs),
            "hardware": self.matching.hardware,
            "results": self.matching.ours,
            "hardware_cycles": compared / known if known else math.nan,
        }

    def worst(self, count: int | None = None, metric: str = "") -> list[ComparedRow]:
        """The rows whose error of a metric is largest; without one, of the first metric."""
        metric = metric or self.metrics[0]
        rows = [row for row in self.rows if not math.isnan(row.error(metric))]
        return sorted(rows, key=lambda row: -abs(row.error(metric)))[:count]

    def differing(self, row: ComparedRow, count: int) -> list[tuple[str, float]]:
        """The counters of a row that differ most, with their errors: what may be the cause.

        Times and rates are left out, as they follow from it, and so are counts that differ by a
        handful of events: 3 sectors for 1 are no cause of anything.
        """
        errors = [(m, row.error(m)) for m in self.metrics[1:] if _may_matter(row, m)]
        errors = [(m, e) for m, e in errors if e and not math.isnan(e)]
        return sorted(errors, key=lambda found: -abs(found[1]))[:count]

    @property
    def table(self) -> "pandas.DataFrame":
        """A row for each counter of each row."""
        import pandas

        columns = ["program", "kernel", "launch", "launches", "metric", "hardware", "lockstep"]
        cells = [
            (r.program, r.kernel, r.number, r.launches, m, r.hardware[m], r.ours[m], r.error(m))
            for r in self.rows
            for m in self.metrics
            if m in r.hardware and m in r.ours
        ]
        return pandas.DataFrame(cells, columns=[*columns, "error"])

    def to_dict(self) -> dict[str, Any]:
        """The document of ``--json``; errors are fractions, undefined numbers still NaN."""
        return {
            "version": manifest.version(),
            "group_by": self.group_by,
            "coverage": self.coverage,
            "statistics": {m: s.to_dict() for m, s in self.statistics.items()},
            "rows": [self._entry(row) for row in self.worst()],
            "remarks": self.remarks,
        }

    def _entry(self, row: ComparedRow) -> dict[str, Any]:
        metrics = [m for m in self.metrics if m in row.hardware and m in row.ours]
        return {
            "program": row.program,
            "kernel": row.kernel,
            "launch": row.number,
            "launches": row.launches,
            "hardware": {m: row.hardware[m] for m in metrics},
            "lockstep": {m: row.ours[m] for m in metrics},
            "error": {m: row.error(m) for m in metrics},
        }

    def to_json(self, path: str | Path) -> None:
        """Write statistics, rows and remarks; undefined numbers are null."""
        output.write_json(path, self.to_dict())


def correlate(
    hardware: str | Path | Sequence[Launch],
    results: Source | Sequence[Source] | Mapping[str, Source],
    metrics: Sequence[str] = (),
    group_by: Grouping = "launch",
    min_cycles: float = 0,
    where: Mapping[str, str] | None = None,
) -> Correlation:
    """Compare results with measurements.

    ``hardware`` is a CSV file (:func:`read_hardware`), ``results`` are :class:`Result` objects,
    JSON files and folders, or a mapping from names of programs to them. ``metrics`` are names, may
    hold ``*``, and default to all that both sides have; the first one ranks rows, cycles if there
    are any. ``group_by`` joins launches, ``min_cycles`` leaves out rows that were shorter on
    hardware, and ``where`` chooses rows of the measurements. Raises :class:`LockstepError` if
    nothing can be compared.
    """
    if isinstance(hardware, str | Path):
        hardware = read_hardware(hardware, where)
    return correlate_read(hardware, _read(results), metrics, group_by, min_cycles)


def correlate_read(
    hardware: Sequence[Launch],
    results: Sequence[Ours],
    metrics: Sequence[str] = (),
    group_by: Grouping = "launch",
    min_cycles: float = 0,
) -> Correlation:
    """The same of what has been read; raises :class:`LockstepError` the same way."""
    matching = match(hardware, results)
    names = _chosen(metrics, matching.pairs)
    rows = _rows(matching.pairs, group_by, names)
    kept = [row for row in rows if row.hardware.get(CYCLES, math.inf) >= min_cycles]
    if len(kept) < len(rows):
        short = f"{len(rows) - len(kept)} rows of less than {min_cycles:,.0f} cycles on hardware"
        matching.remarks.append(short + " are left out")
    kept = [row for row in kept if any(name in row.ours for name in names)]
    if not kept:
        raise LockstepError("no row is left to compare: " + "; ".join(matching.remarks))
    return Correlation(kept, names, matching, group_by)


def _read(results: Source | Sequence[Source] | Mapping[str, Source]) -> list[Ours]:
    if isinstance(results, Mapping):
        return [read_result(source, name) for name, source in results.items()]
    if isinstance(results, Result | str | Path):
        results = [results]
    return [read_result(source) for source in results]


def _chosen(wanted: Sequence[str], pairs: list[LaunchPair]) -> list[str]:
    """The metrics that both sides of some pair have, in the order of those that are wanted."""
    common: dict[str, None] = {}
    for hardware, ours in pairs:
        common |= dict.fromkeys(m for m in ours.metrics if m in hardware.metrics)
    if not common:
        raise LockstepError("measurements and results have no counter in common")
    ordered = sorted(common, key=lambda m: TIMES.index(m) if m in TIMES else len(TIMES))
    chosen: dict[str, None] = {}
    for name in wanted:
        name = CYCLES if name == "cycles" else name
        if not (found := [m for m in ordered if fnmatchcase(m, name)]):
            hint = nearest(name, ordered)
            raise LockstepError(f"{name}: no counter that both sides have{hint}")
        chosen |= dict.fromkeys(found)
    return list(chosen) or ordered


def _rows(pairs: list[LaunchPair], group_by: Grouping, names: Iterable[str]) -> list[ComparedRow]:
    names = list(dict.fromkeys((*names, CYCLES)))
    groups: dict[tuple, list[LaunchPair]] = {}
    for pair in pairs:
        groups.setdefault(_key(pair.hardware, group_by), []).append(pair)
    rows = []
    for (program, kernel, *_), group in groups.items():
        sides = [together([pair[side] for pair in group], names) for side in (0, 1)]
        number = min(pair.hardware.number for pair in group)
        rows.append(ComparedRow(program, kernel, number, len(group), *sides))
    return rows


def _may_matter(row: ComparedRow, metric: str) -> bool:
    if is_rate(metric) or metric not in row.hardware or metric not in row.ours:
        return False
    return not is_sum(metric) or abs(row.ours[metric] - row.hardware[metric]) >= HANDFUL


def _key(launch: Launch, group_by: Grouping) -> tuple:
    if group_by == "program":
        return launch.program, ""
    kernel = full_name(launch.kernel)
    if group_by == "kernel":
        return launch.program, kernel
    return launch.program, kernel, launch.number
