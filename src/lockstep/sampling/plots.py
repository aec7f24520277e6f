"""Plots of sampling, by matplotlib, which is an extra: ``lockstep-gpu[plots]``."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lockstep.report.pictures import new_figure
from lockstep.sampling.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lockstep.sampling.inside import Trajectory

COLOURS = 10  # of matplotlib's cycle
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


def strata(plan: Plan, values: np.ndarray, times: np.ndarray, names: tuple[str, str]) -> "Figure":
    """Times of all launches over a value of each, float64, in the colour of their stratum.

    What the plan chooses has a ring. ``names``: of the value, and the unit of the times. Colours
    come round again after ``COLOURS`` strata.
    """
    figure, axes = new_figure()
    colours = [f"C{number}" for number in plan.stratum % COLOURS]
    axes.scatter(values, times, s=9, c=colours, linewidths=0, alpha=0.6)
    chosen = plan.chosen
    axes.scatter(values[chosen], times[chosen], s=26, c="none", edgecolors="black", linewidths=0.6)
    axes.set(xlabel=names[0], ylabel=names[1], yscale="log")
    if (values > 0).all():
        axes.set_xscale("log")
    return figure


def ipc_over_time(trajectory: "Trajectory", kernel: int) -> "Figure":
    """IPC over the time of one launch, by its id; where PKP would end it, and what it goes by."""
    figure, axes = new_figure()
    cycles, ipc = trajectory.ipc(kernel)
    axes.stairs(ipc, [0, *cycles], lw=0.9, color="#1f5fa8", label="IPC")
    stable = trajectory.stable.get(kernel)
    if stable is not None:
        begin, end = (mark.cycle - mark.counters.launched for mark in (stable.begin, stable.end))
        axes.axvspan(begin, end, color="#dddddd", linewidth=0, label="steady")
        axes.axvline(end, color="#b03030", lw=0.9, label="PKP's end")
        axes.hlines(stable.ipc, end, cycles[-1], colors="#b03030", lw=0.9, linestyles="dashed")
    axes.set(xlabel="cycles since the launch", ylabel="warp instructions a cycle", ylim=(0, None))
    axes.legend(fontsize=7)
    return figure
