"""Charts of a study, drawn as those of correlations are: matplotlib is an extra."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.report.pictures import new_figure, write_figure
from lockstep.studies.description import Chart, OutcomeView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT = 4.0  # inches
_LEAST_WIDTH, _PROGRAM_WIDTH = 5.0, 0.75
_SPAN = 0.8  # of the room of a program that its bars take
_INKS = ("#9db8d6", "#1f5fa8", "#e3b27a", "#b8600b", "#9a9a9a", "#444444")
_HATCHES = ("", "///", "...", "xxx")
_MEAN = "mean"


def draw(outcome: OutcomeView, chart: Chart) -> "Figure":
    """One chart: a group of bars for each program, and the means behind them."""
    groups = {name: outcome.figures[name] for name in outcome.figures}
    if any(not math.isnan(outcome.means.get(f, math.nan)) for b in chart.bars for f in b.figures):
        groups = groups | {_MEAN: outcome.means}
    width = max(_LEAST_WIDTH, 1.5 + _PROGRAM_WIDTH * len(groups))
    figure, axes = new_figure(width, _HEIGHT)
    step = _SPAN / len(chart.bars)
    for n, bar in enumerate(chart.bars):
        places = [k + (n + 0.5) * step - _SPAN / 2 for k in range(len(groups))]
        below = [0.0] * len(groups)
        for part, name in enumerate(bar.figures):
            heights = [_height(numbers.get(name, math.nan)) for numbers in groups.values()]
            label = "" if part else bar.label  # what the parts are, the title says
            axes.bar(places, heights, step, below, label=label, color=_INKS[n % len(_INKS)],
                     hatch=_HATCHES[part % len(_HATCHES)], edgecolor="white",
                     linewidth=0.5)  # fmt: skip
            below = [a + b for a, b in zip(below, heights)]
    if chart.line is not None:
        axes.axhline(chart.line, color="#777777", linewidth=0.8)
    axes.use_sticky_edges = False  # else a part without height at the top is where the axis ends
    if chart.logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xticks(range(len(groups)), list(groups), rotation=40, ha="right", fontsize=8)
    axes.set_ylabel(chart.axis)
    axes.set_title(f"{chart.title}\n{outcome.gpu}, size {outcome.size}", fontsize=9)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def write_charts(outcome: OutcomeView, folder: Path) -> list[Path]:
    """Write each chart as ``STUDY-CHART.png`` and ``.svg``; the files."""
    return [
        path
        for chart in outcome.study.charts
        for path in write_figure(draw(outcome, chart), folder, f"{outcome.study.name}-{chart.name}")
    ]


def _height(value: float) -> float:
    return 0.0 if math.isnan(value) else value
