"""Pictures of what was explored, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lockstep.report.pictures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_size_and_ways(table: pd.DataFrame, level: str) -> dict[int, pd.DataFrame]:
    """Miss rates of a level, ``l1`` or ``l2``: for each line size sizes down and ways across.

    Sizes and ways that were not looked at together are NaN; of several rows of one cache the first
    counts.
    """
    names = [f"{level}_{key}" for key in ("line", "bytes", "ways", "miss_rate")]
    rows = table[names].drop_duplicates(names[:3])
    return {
        line: rows[rows[names[0]] == line].pivot(index=names[1], columns=names[2], values=names[3])
        for line in sorted(rows[names[0]].unique().tolist())
    }


def heat_map(table: pd.DataFrame, level: str) -> "Figure":
    """Miss rates by size and ways, a picture for each line size."""
    parts = by_size_and_ways(table, level)
    figure, first = new_figure()
    first.remove()
    for k, (line, rates) in enumerate(parts.items()):
        axes = figure.add_subplot(1, len(parts), k + 1)
        values = rates.to_numpy(np.float64)
        axes.imshow(values, cmap="viridis_r", vmin=0, vmax=1, aspect="auto", origin="lower")
        axes.set_xticks(range(len(rates.columns)), [str(n) for n in rates.columns], fontsize=6)
        axes.set_yticks(range(len(rates.index)), [short(n) for n in rates.index], fontsize=6)
        axes.set_title(f"lines of {line} B", fontsize=7)
        axes.set_xlabel("ways", fontsize=7)
        for (y, x), value in np.ndenumerate(values):
            if np.isfinite(value):
                colour = "white" if value > 0.6 else "black"
                axes.text(x, y, f"{100 * value:.0f}", ha="center", va="center", fontsize=5,
                          color=colour)  # fmt: skip
    return figure


def short(size: int) -> str:
    """Bytes as they are given on the command line: 16K, 1M, 1000."""
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)
