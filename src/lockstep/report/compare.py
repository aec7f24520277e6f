"""Two or more runs beside each other: what changed, by kernel and by metric.

Runs are results, or the documents that ``--json`` wrote. Kernels are matched by name, and the n-th
launch of a name in one run with the n-th in the other. The simulator is deterministic: a single
launch that changed has changed. Whether a change holds for all launches of a kernel is what
``significant`` says, by a test that flips the signs of the differences.
"""

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lockstep.errors import InputError, LockstepError, suggestion
from lockstep.metrics.result import Result

if TYPE_CHECKING:
    import pandas

CYCLES = "cycles"
DEFAULT = (
    CYCLES,
    "sim__ipc",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sim__sol_dram.pct",
    "sim__l1_hit_rate.pct",
    "sim__l2_hit_rate.pct",
)
LEVEL = 0.05  # of significance
EXACT = 12  # differences of which all signs are tried
DRAWS = 4096  # of signs, where there are more differences
ALL = "all kernels"


class RunTable(NamedTuple):
    """The launches of one run, by kernel: each the metrics of a launch, cycles among them."""

    label: str
    kernels: dict[str, list[dict[str, float]]]
    in_part: int = 0  # launches that did not run whole


class ChangedMetric(NamedTuple):
    """A metric of a kernel: a value a run, NaN without one, and changes against the first, %."""

    kernel: str
    metric: str
    values: list[float]
    changes: list[float]
    significant: list[bool | None]  # None: too few launches to say


@dataclass(frozen=True)
class RunComparison:
    """What :func:`compare` found: for each kernel and metric a row; cycles are sums of launches."""

    runs: list[str]
    rows: list[ChangedMetric]
    remarks: tuple[str, ...] = ()  # what runs do not have in common, a line each

    @property
    def frame(self) -> "pandas.DataFrame":
        """One row a kernel and metric: a column a run, and its change in percent."""
        import pandas

        rows = []
        for row in self.rows:
            cells: dict[str, Any] = {"kernel": row.kernel, "metric": row.metric}
            cells |= dict(zip(self.runs, row.values))
            for label, change, sure in zip(self.runs[1:], row.changes, row.significant):
                cells |= {f"{label}, change in %": change, f"{label}, significant": sure}
            rows.append(cells)
        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        """The table, all of it, in plain text."""
        return self.frame.to_string(index=False, float_format="{:,.4g}".format, na_rep="–")

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self.frame.to_html(index=False, escape=True, float_format="{:,.4g}".format)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the page has them."""
        words = {True: "yes", False: "no", None: "–"}
        rows = [
            row._asdict() | {"significant": ", ".join(words[s] for s in row.significant)}
            for row in self.rows
        ]
        return {
            "runs": self.runs,
            "rows": rows,
            "note": " ".join([NOTE, *(f"{each}." for each in self.remarks)]),
        }


NOTE = (
    "Changes are against the first run. Cycles are sums, other metrics means over the "
    "launches of a kernel. "
    "Significant: the change holds over the launches (signs of paired differences, 5 %); – where "
    "there are too few."
)


def compare(
    *runs: "Result | dict[str, Any] | str | Path",
    labels: Sequence[str] | None = None,
    metrics: Sequence[str] = DEFAULT,
) -> RunComparison:
    """What changed from the first run to each other one.

    A run is a result, a document of ``--json``, or the file of one. ``labels`` name the runs;
    without, they are the files' names, or workload and GPU. Raises :class:`LockstepError` for
    fewer than two runs, for files that are none, and for a metric that no run has.
    """
    if len(runs) < 2:
        raise LockstepError("a comparison needs at least two runs")
    if labels is not None and len(labels) != len(runs):
        raise LockstepError(f"{len(labels)} labels for {len(runs)} runs: one a run is needed")
    tables = [_table(run) for run in runs]
    names = _distinct(labels or [table.label for table in tables])
    _check(metrics, tables)
    kernels = dict.fromkeys(name for table in tables for name in table.kernels)
    rows = [_total(tables)] if len(kernels) > 1 else []
    rows += [_row(kernel, metric, tables) for kernel in kernels for metric in metrics]
    rows = [row for row in rows if any(x == x for x in row.values)]
    return RunComparison(names, rows, _remarks(names, tables))


def is_significant(differences: Sequence[float]) -> bool | None:
    """Whether differences lean to one side more than chance makes them; None if too few to say."""
    values = np.asarray(differences, float)
    if 2 ** (1 - len(values)) > LEVEL:  # of n signs, two choices in 2**n are as extreme as any
        return None
    if len(values) <= EXACT:
        signs = np.array(list(itertools.product((-1, 1), repeat=len(values))))
        extra = 0
    else:
        signs = np.random.default_rng(0).choice((-1, 1), (DRAWS, len(values)))
        extra = 1  # the differences as they are count as a draw
    found = abs(values.sum()) * (1 - 1e-12)
    if not found:
        return False
    as_far = int((abs(signs @ values) >= found).sum())
    return (as_far + extra) / (len(signs) + extra) <= LEVEL


def _table(run: "Result | dict[str, Any] | str | Path") -> RunTable:
    if isinstance(run, Result):
        label = f"{run.workload.name} on {run.gpu.name}"
        entries: Iterable = zip(run.run.kernels, run.metrics)
        table = _by_kernel(label, ((k.title, m | {CYCLES: k.cycles}) for k, m in entries))
        return table._replace(in_part=sum(not k.complete for k in run.run.kernels))
    if isinstance(run, dict):
        return _of_document(run, str(run.get("gpu", "run")), Path("document"))
    path = Path(run)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror}") from None
    except (ValueError, RecursionError):  # it may be nested more deeply than Python reads
        raise InputError(path, "", "is no JSON: give files that --json wrote") from None
    return _of_document(document, path.stem, path)


def _of_document(document: Any, label: str, path: Path) -> RunTable:
    try:
        entries = [
            (str(k["title"]), _numbers(k["metrics"]) | {CYCLES: float(k["cycles"])})
            for k in document["kernels"]
        ]
        in_part = sum(not k.get("complete", True) for k in document["kernels"])
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        problem = "has no timed kernels: give files that --json wrote"
        if isinstance(document, dict) and "gpus" in document:
            problem = "is of a system of GPUs: runs of one GPU are compared"
        raise InputError(path, "", problem) from None
    return _by_kernel(label, entries)._replace(in_part=in_part)


def _numbers(metrics: dict[str, float | None]) -> dict[str, float]:
    return {name: math.nan if x is None else float(x) for name, x in metrics.items()}


def _by_kernel(label: str, entries: Iterable[tuple[str, dict[str, float]]]) -> RunTable:
    kernels: dict[str, list[dict[str, float]]] = {}
    for name, metrics in entries:
        kernels.setdefault(name, []).append(metrics)
    return RunTable(label, kernels)


def _remarks(names: list[str], tables: list[RunTable]) -> tuple[str, ...]:
    """Why sums of cycles are not of the same work: launches in part, or of another number."""
    found = [
        f"{name}: {table.in_part:,} launches ran in part, and have the cycles of that part"
        for name, table in zip(names, tables)
        if table.in_part
    ]
    counts = [sum(map(len, table.kernels.values())) for table in tables]
    if len(set(counts)) > 1:
        said = ", ".join(f"{count:,} in {name}" for name, count in zip(names, counts))
        found.append(f"sums are of different numbers of launches: {said}")
    return tuple(found)


def _distinct(labels: Sequence[str]) -> list[str]:
    """The same labels, with numbers behind those that occur again."""
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        names.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return names


def _check(metrics: Sequence[str], tables: list[RunTable]) -> None:
    known = {name for t in tables for runs in t.kernels.values() for m in runs for name in m}
    for metric in metrics:
        if known and metric not in known and metric not in DEFAULT:
            near = suggestion(metric, sorted(known)) or ": docs/metrics.md lists them"
            raise LockstepError(f"no run has the metric {metric}{near}")


def _total(tables: list[RunTable]) -> ChangedMetric:
    sums = [float(sum(m[CYCLES] for runs in t.kernels.values() for m in runs)) for t in tables]
    return ChangedMetric(ALL, CYCLES, sums, _changes(sums), [None] * (len(sums) - 1))


def _row(kernel: str, metric: str, tables: list[RunTable]) -> ChangedMetric:
    columns = [[m.get(metric, math.nan) for m in t.kernels.get(kernel, ())] for t in tables]
    values = [_value(metric, column) for column in columns]
    sure = [_holds(columns[0], column) for column in columns[1:]]
    return ChangedMetric(kernel, metric, values, _changes(values), sure)


def _value(metric: str, column: list[float]) -> float:
    known = [x for x in column if x == x]
    if not known:
        return math.nan
    return float(sum(known)) if metric == CYCLES else float(np.mean(known))


def _holds(first: list[float], other: list[float]) -> bool | None:
    if len(first) != len(other):
        return None
    return is_significant([b - a for a, b in zip(first, other) if a == a and b == b])


def _changes(values: list[float]) -> list[float]:
    """Percent against the first one; NaN where that is 0 or there is none."""
    base = values[0]
    return [100 * (x - base) / abs(base) if base else math.nan for x in values[1:]]
