"""Plots of sampling, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lockstep.correlation.plots import new_figure
from lockstep.sampling.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOOR = 1e-5  # of errors, on a logarithmic axis


def error_over_speedup(compared: pd.DataFrame) -> "Figure":
    """The result of a comparison: the mean error over the speed-up in cycles, a line a sampler.

    Bars reach to the worst seed. Besides each sampler as it is, there is a point for each share of
    time at which it was looked at.
    """
    figure, axes = new_figure()
    rows = compared[compared["error"].notna()].sort_values("s_cycles")
    for name, mine in rows.groupby("sampler", sort=False):
        x = mine["s_cycles"].to_numpy(np.float64)
        mean = np.maximum(mine["error"].to_numpy(np.float64), FLOOR)
        worst = np.maximum(mine["worst"].to_numpy(np.float64), mean)
        bars = [np.zeros(len(x)), worst - mean]
        axes.errorbar(x, mean, yerr=bars, fmt="o-", ms=3.5, lw=0.9, capsize=1.5, label=str(name))
    axes.set(xscale="log", yscale="log", xlabel="speed-up in cycles")
    axes.set_ylabel("error of the total: mean, and worst seed")
    axes.legend(fontsize=6, ncols=2)
    return figure


def cumulated(plan: Plan, times: np.ndarray, unit: str) -> "Figure":
    """Times of all launches (float64), summed over launches, and those that a plan stands for."""
    figure, axes = new_figure()
    place = np.arange(len(plan))
    axes.plot(place, np.cumsum(times), lw=1.6, color="#777777", label="all launches")
    stands = np.zeros(len(plan))
    stands[plan.chosen] = plan.weights() * times[plan.chosen]
    axes.step(place, np.cumsum(stands), where="post", lw=0.9, color="#1f5fa8", label="plan")
    axes.set(xlabel="launch", ylabel=unit)
    axes.legend(fontsize=7)
    return figure
