"""Plots of a correlation, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lockstep.correlation.comparison import Correlation
from lockstep.correlation.report import percent
from lockstep.correlation.statistics import Statistics
from lockstep.errors import LockstepError, unknown
from lockstep.report.figures import clean
from lockstep.report.pictures import check_matplotlib, new_figure, write_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 3  # points that have their name beside them: the worst ones
COLUMNS = ("program", "kernel", "metric", "hardware", "lockstep", "error")
_INK, _LINE, _SHADE = "#1f5fa8", "#777777", "#dddddd"
_BAND = 0.1  # of error, shaded
_BESIDE = (4, 3)  # points from a mark to its name


class _Mark(NamedTuple):
    """A row of a correlation that has the counter on both sides."""

    name: str
    hardware: float
    ours: float
    error: float


def scatter(source: "Correlation | pandas.DataFrame", metric: str = "") -> "Figure":
    """What was simulated over what was measured, both logarithmic, with the line of no error.

    ``source``: a correlation, or its table; ``metric``: by default the first one. A band of 10 %
    is shaded, the worst rows have their names. Raises :class:`LockstepError` for a counter that
    there is not.
    """
    metric, marks = _marks(source, metric)
    figure, axes = new_figure()
    points = [(mark.hardware, mark.ours) for mark in marks]
    shown = [p for p in points if min(p) > 0]
    low, high = min(map(min, shown), default=1), max(map(max, shown), default=10)
    line = [low * 0.8, high * 1.25]
    axes.fill_between(line, [x * (1 - _BAND) for x in line], [x * (1 + _BAND) for x in line],
                      color=_SHADE, linewidth=0)  # fmt: skip
    axes.plot(line, line, color=_LINE, linewidth=0.8)
    axes.plot([p[0] for p in points], [p[1] for p in points], "o", color=_INK, ms=4, alpha=0.6)
    axes.set(xscale="log", yscale="log", xlabel="hardware", ylabel="lockstep")
    axes.set_title(_title(metric, marks), fontsize=9)
    for mark in _worst(marks):
        _name(axes, mark, mark.ours)
    return figure


def residuals(source: "Correlation | pandas.DataFrame", metric: str = "") -> "Figure":
    """The relative error of each row, in percent, over what was measured; see :func:`scatter`."""
    metric, marks = _marks(source, metric)
    figure, axes = new_figure()
    axes.axhspan(-100 * _BAND, 100 * _BAND, color=_SHADE, linewidth=0)
    axes.axhline(0, color=_LINE, linewidth=0.8)
    places = [mark.hardware for mark in marks]
    axes.plot(places, [100 * mark.error for mark in marks], "o", color=_INK, ms=4, alpha=0.6)
    axes.set(xscale="log", xlabel="hardware", ylabel="error, %")
    axes.set_title(_title(metric, marks), fontsize=9)
    for mark in _worst(marks):
        _name(axes, mark, 100 * mark.error)
    return figure


PLOTS = {"scatter": scatter, "residuals": residuals}


def write_plots(correlation: Correlation, folder: str | Path) -> list[Path]:
    """Write each plot of each counter that is not 0 everywhere, as PNG and SVG; the files.

    They are called ``COUNTER-scatter.png`` and the like. Raises :class:`LockstepError` without
    matplotlib.
    """
    check_matplotlib()
    written = []
    for metric in drawable(correlation):
        for kind, draw in PLOTS.items():
            stem = re.sub(r"[^\w.-]", "_", metric)
            written += write_figure(draw(correlation, metric), folder, f"{stem}-{kind}")
    return written


def drawable(correlation: Correlation) -> list[str]:
    """The counters that have a point on logarithmic axes."""
    return [
        metric
        for metric in correlation.metrics
        if any(min(mark.hardware, mark.ours) > 0 for mark in _of_correlation(correlation, metric))
    ]


def _marks(source: "Correlation | pandas.DataFrame", metric: str) -> tuple[str, list[_Mark]]:
    """The counter, the first one if none is named, and its rows."""
    known = source.metrics if isinstance(source, Correlation) else _metrics(source)
    metric = metric or known[0]
    if metric not in known:
        raise LockstepError(unknown("counter of this correlation", metric, known))
    if isinstance(source, Correlation):
        return metric, _of_correlation(source, metric)
    rows: list[dict[Hashable, Any]] = source[source["metric"] == metric].to_dict("records")
    return metric, [
        _Mark(str(r["kernel"] or r["program"]), r["hardware"], r["lockstep"], r["error"])
        for r in rows
    ]


def _metrics(table: "pandas.DataFrame") -> list[str]:
    """The counters of a table; raises :class:`LockstepError` if it is of no correlation."""
    missing = [name for name in COLUMNS if name not in getattr(table, "columns", ())]
    if missing or not len(table):
        lack = f"it has no column {missing[0]}" if missing else "it has no rows"
        raise LockstepError(
            f"neither a correlation nor its table: {lack}; pass what "
            "lockstep.correlation.correlate returns, or its attribute table"
        )
    return list(dict.fromkeys(table["metric"]))


def _of_correlation(correlation: Correlation, metric: str) -> list[_Mark]:
    return [
        _Mark(r.kernel or r.program, r.hardware[metric], r.ours[metric], r.error(metric))
        for r in correlation.rows
        if metric in r.hardware and metric in r.ours
    ]


def _worst(marks: list[_Mark]) -> list[_Mark]:
    """The worst rows that can be seen."""
    known = [mark for mark in marks if not math.isnan(mark.error)]
    worst = sorted(known, key=lambda mark: -abs(mark.error))
    return [mark for mark in worst if min(mark.hardware, mark.ours) > 0][:NAMED]


def _name(axes: "Axes", mark: _Mark, y: float) -> None:
    """Write a row's name beside its mark; a dollar would begin a formula."""
    label = clean(mark.name)[:30].replace("$", r"\$")
    place = (mark.hardware, y)
    axes.annotate(label, place, fontsize=7, xytext=_BESIDE, textcoords="offset points")


def _title(metric: str, marks: list[_Mark]) -> str:
    s = Statistics.of([mark.ours for mark in marks], [mark.hardware for mark in marks])
    name = clean(metric).replace("$", r"\$")
    r = "" if math.isnan(s.pearson) else f", r {s.pearson:.3f}"
    return f"{name}\nMAPE {percent(s.mape)}, median {percent(s.median)}{r}"
