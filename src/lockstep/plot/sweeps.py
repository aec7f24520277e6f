"""One parameter against one metric, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockstep.campaigns.runner import DIGEST, ERROR
from lockstep.errors import LockstepError, unknown
from lockstep.gpus import fields
from lockstep.metrics.result import Result
from lockstep.report.pictures import new_figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas
    from matplotlib.figure import Figure

_LOGARITHMIC = 8  # times from the least to the greatest value of an axis that is drawn so
_NAMED = 12  # lines of one picture that have a name
_SEED = "seed"


def facts_of(table: "pandas.DataFrame") -> list[str]:
    """The columns of a campaign's table that say what a point is."""
    names = list(map(str, table.columns))
    return names[: names.index(DIGEST)] if DIGEST in names else names


def sweep(
    source: "pandas.DataFrame | Sequence[Result]", parameter: str, metric: str = "cycles"
) -> "Figure":
    """A metric over a parameter: a line for each combination of the others.

    ``source``: the table of a campaign, or results of the same program on GPUs that differ, whose
    parameters are their dotted names, such as ``sm.count``. Of seeds the mean is drawn, with a bar
    from the least to the greatest value. Rows without the metric, such as failed ones, are left
    out. Raises :class:`LockstepError` if there is nothing to draw.
    """
    table = _table(source, parameter)
    facts = facts_of(table)
    if parameter not in facts:
        raise LockstepError(unknown("parameter of these points", parameter, facts))
    metrics = [str(name) for name in table.columns if name not in (*facts, DIGEST, ERROR)]
    if metric not in metrics:
        raise LockstepError(unknown("metric of these points", metric, metrics))
    rows = table[table[metric].notna() & table[parameter].notna()]
    if rows.empty:
        raise LockstepError(f"no point has {parameter} and {metric}")
    figure, axes = new_figure(6.5, 4)
    keys = _keys(rows, facts, parameter)
    groups = list(rows.groupby(keys, dropna=False, sort=False)) if keys else [((), rows)]
    for n, (values, group) in enumerate(groups):
        label = ", ".join(_shown(k, v) for k, v in zip(keys, values))
        numbers = group.groupby(parameter)[metric].agg(["mean", "min", "max"])
        places = _places(rows, parameter, numbers.index)
        bars = [numbers["mean"] - numbers["min"], numbers["max"] - numbers["mean"]]
        axes.errorbar(places, numbers["mean"], bars, marker="o", ms=4, lw=1.2, capsize=3,
                      label=label if n < _NAMED else "_")  # fmt: skip
    ticks = sorted(rows[parameter].unique())
    if _is_wide(ticks):
        axes.set_xscale("log", base=2)
    axes.set_xticks(_places(rows, parameter, ticks), [str(tick) for tick in ticks], fontsize=8)
    axes.minorticks_off()
    axes.set_ylim(bottom=0 if rows[metric].min() >= 0 else None)
    axes.set(xlabel=parameter, ylabel=metric)
    if keys:
        axes.legend(fontsize=7)
    return figure


def _table(source: "pandas.DataFrame | Sequence[Result]", parameter: str) -> "pandas.DataFrame":
    """The table of a campaign, or what it would have been for these results."""
    import pandas

    if isinstance(source, pandas.DataFrame):
        return source
    results = list(source) if isinstance(source, Sequence) else [source]
    if not results or not all(isinstance(result, Result) for result in results):
        raise LockstepError(
            "nothing to draw a sweep of: expected the table of a campaign, or a list of results"
        )
    return pandas.DataFrame([_row(result, parameter) for result in results])


def _row(result: Result, parameter: str) -> dict[str, object]:
    facts: dict[str, object] = {"workload": result.workload.name, "seed": result.seed}
    if parameter not in facts:
        described = fields.flatten(result.gpu)
        if parameter not in described:
            raise LockstepError(unknown("parameter", parameter, described))
        facts[parameter] = described[parameter]
    return facts | {DIGEST: result.hash, ERROR: ""} | result.total


def _keys(rows: "pandas.DataFrame", facts: list[str], parameter: str) -> list[str]:
    """What lines differ by: not what is the same for all, nor what goes with the parameter."""
    others = [name for name in facts if name not in (parameter, _SEED)]
    follows = rows.groupby(parameter)[others].nunique(dropna=False).max() <= 1
    return [name for name in others if not follows[name]]


def _places(rows: "pandas.DataFrame", parameter: str, values: "Iterable") -> list:
    """Where values are on the axis: texts stand side by side."""
    if rows[parameter].dtype.kind in "if":
        return list(values)
    names = sorted(rows[parameter].unique())
    return [names.index(value) for value in values]


def _is_wide(values: list) -> bool:
    numbers = all(not isinstance(v, (str, bool)) and v > 0 for v in values)
    return numbers and max(values) >= _LOGARITHMIC * min(values)


def _shown(name: str, value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return (text if name in ("workload", "gpu") else f"{name} {text}").replace("$", r"\$")
