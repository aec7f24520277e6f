"""Plots of a correlation, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

import importlib.util
import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.correlation.comparison import ComparedRow, Correlation
from lockstep.correlation.report import percent
from lockstep.errors import LockstepError
from lockstep.files import replacing
from lockstep.report.figures import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_MATPLOTLIB = "plots need matplotlib: pip install 'lockstep-gpu[plots]'"
FORMATS = ("png", "svg")
NAMED = 3  # points that have their name beside them: the worst ones
_INK, _LINE, _SHADE = "#1f5fa8", "#777777", "#dddddd"
_BAND = 0.1  # of error, shaded
_BESIDE = (4, 3)  # points from a mark to its name


def check_matplotlib() -> None:
    """Raise :class:`LockstepError` where plots cannot be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise LockstepError(NO_MATPLOTLIB)


def scatter(correlation: Correlation, metric: str) -> "Figure":
    """What was simulated over what was measured, both logarithmic, with the line of no error."""
    figure, axes = new_figure()
    rows = _rows(correlation, metric)
    points = [(row.hardware[metric], row.ours[metric]) for row in rows]
    shown = [p for p in points if min(p) > 0]
    low, high = min(map(min, shown), default=1), max(map(max, shown), default=10)
    line = [low * 0.8, high * 1.25]
    axes.fill_between(line, [x * (1 - _BAND) for x in line], [x * (1 + _BAND) for x in line],
                      color=_SHADE, linewidth=0)  # fmt: skip
    axes.plot(line, line, color=_LINE, linewidth=0.8)
    axes.plot([p[0] for p in points], [p[1] for p in points], "o", color=_INK, ms=4, alpha=0.6)
    axes.set(xscale="log", yscale="log", xlabel="hardware", ylabel="lockstep")
    axes.set_title(_title(correlation, metric), fontsize=9)
    for row in _named(correlation, metric):
        _name(axes, row, row.hardware[metric], row.ours[metric])
    return figure


def residuals(correlation: Correlation, metric: str) -> "Figure":
    """The relative error of each row over what was measured."""
    figure, axes = new_figure()
    rows = _rows(correlation, metric)
    axes.axhspan(-100 * _BAND, 100 * _BAND, color=_SHADE, linewidth=0)
    axes.axhline(0, color=_LINE, linewidth=0.8)
    places = [row.hardware[metric] for row in rows]
    axes.plot(places, [100 * row.error(metric) for row in rows], "o", color=_INK, ms=4, alpha=0.6)
    axes.set(xscale="log", xlabel="hardware", ylabel="error, %")
    axes.set_title(_title(correlation, metric), fontsize=9)
    for row in _named(correlation, metric):
        _name(axes, row, row.hardware[metric], 100 * row.error(metric))
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
        if any(min(r.hardware[metric], r.ours[metric]) > 0 for r in _rows(correlation, metric))
    ]


def write_figure(figure: "Figure", folder: str | Path, stem: str) -> list[Path]:
    """Write a picture in each of ``FORMATS``; the files."""
    written = []
    for suffix in FORMATS:
        path = Path(folder) / f"{stem}.{suffix}"
        with replacing(path) as temporary:
            temporary.write_bytes(drawn(figure, suffix))
        written.append(path)
    return written


def write_plot(figure: "Figure", path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the suffix; raises :class:`LockstepError` of any other."""
    suffix = check_plot(path)
    with replacing(path) as temporary:
        temporary.write_bytes(drawn(figure, suffix))


def check_plot(path: str | Path) -> str:
    """The format of a file that a plot shall be in; raises :class:`LockstepError` if it has none.

    And where no plot can be drawn.
    """
    check_matplotlib()
    suffix = Path(path).suffix.removeprefix(".")
    if suffix not in FORMATS:
        known = " or ".join(f".{name}" for name in FORMATS)
        raise LockstepError(f"{path}: a picture's name ends in {known}")
    return suffix


def drawn(figure: "Figure", suffix: str) -> bytes:
    """The bytes of a picture: the same ones for the same rows."""
    import matplotlib

    target = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lockstep"}):
        metadata = {"Date": None} if suffix == "svg" else {"Software": None}
        figure.savefig(target, format=suffix, dpi=120, metadata=metadata)
    return target.getvalue()


def new_figure(width: float = 5, height: float = 4) -> "tuple[Figure, Axes]":
    """A figure of its own, in inches: pyplot would keep all of them, and ask for a screen."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _rows(correlation: Correlation, metric: str) -> list[ComparedRow]:
    return [r for r in correlation.rows if metric in r.hardware and metric in r.ours]


def _named(correlation: Correlation, metric: str) -> list[ComparedRow]:
    """The worst rows that can be seen."""
    worst = correlation.worst(None, metric)
    return [r for r in worst if min(r.hardware[metric], r.ours[metric]) > 0][:NAMED]


def _name(axes: "Axes", row: ComparedRow, x: float, y: float) -> None:
    """Write a row's name beside its mark."""
    axes.annotate(_label(row), (x, y), fontsize=7, xytext=_BESIDE, textcoords="offset points")


def _label(row: ComparedRow) -> str:
    """A short name; a dollar would begin a formula."""
    return clean(row.kernel or row.program)[:30].replace("$", r"\$")


def _title(correlation: Correlation, metric: str) -> str:
    s = correlation.statistics[metric]
    name = clean(metric).replace("$", r"\$")
    r = "" if math.isnan(s.pearson) else f", r {s.pearson:.3f}"
    return f"{name}\nMAPE {percent(s.mape)}, median {percent(s.median)}{r}"
