"""Samplers side by side: how wrong they are, how well they know it, and how much they save."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE, estimate
from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import SAMPLERS, Effort, Sampler, check, draw, sampler
from lockstep.sampling.strata import members
from lockstep.sampling.table import LaunchTable

SEEDS = 100
SHARES = (0.01, 0.003, 0.001)  # of all time, at which samplers are compared
LOOKED_AT = 3  # seeds whose mean share a parameter is set by
NEAR = 1.02  # shares that differ by less are the same
TOLD = 1.1  # ... and by more are told
HALVINGS = 24  # of the range of a parameter, on a logarithmic scale
ROUNDING = 1e-9  # an interval of no width, where all is simulated, holds the truth

COLUMNS = (
    "sampler", "at", "parameters", "launches", "strata", "chosen", "simulated", "s_cycles",
    "error", "worst", "bounded", "coverage", "half_width", "seeds", "notes",
)  # fmt: skip


class Trial(NamedTuple):
    """What one seed of a sampler gives."""

    strata: int
    chosen: int
    notes: tuple[str, ...]
    simulated: float  # share of all time
    error: float  # relative, with its sign
    bounded: bool
    held: bool  # the interval holds the truth
    half_width: float


def compare(
    table: LaunchTable,
    samplers: Mapping[str, Sampler] | None = None,
    seeds: int = SEEDS,
    shares: Sequence[float] = SHARES,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    """Each sampler as it is, and where it has an ``effort``, at equal shares of simulated time.

    ``table``: with times, which are the truth; a sampler that does not need them does not get them.
    ``samplers``: by the name that the result has for them; all, if there are none. ``seeds``: 0, 1,
    ... so many, of each. A row a sampler and share, with ``COLUMNS``: ``at`` is the share that was
    asked for (NaN: as it is), ``simulated`` the one that it came to; ``s_cycles`` all time by
    simulated time, the harmonic mean over seeds; ``error`` the mean of the absolute relative error
    of the total and ``worst`` its largest; ``bounded`` the share of seeds with an interval,
    ``coverage`` that of them whose interval holds the truth and ``half_width`` the mean of its
    half, relative. A sampler that cannot sample the table has a row that says why in ``notes``.
    Raises :class:`LockstepError` without times.
    """
    if not table.has_times:
        raise LockstepError("a comparison needs the time of every launch, and the table has none")
    if seeds < 1:
        raise LockstepError(f"a comparison needs at least one seed, not {seeds}")
    compared = {name: sampler(name) for name in SAMPLERS} if samplers is None else samplers
    light = table.without_times()
    rows = []
    for name, method in compared.items():
        known = table if method.times else light
        try:
            found = trials(method, known, table.times, seeds, confidence)
            rows.append(_row(name, np.nan, method, found))
            for share in shares if _effort(method) else ():
                varied = at_share(method, known, table.times, share)
                found = trials(varied, known, table.times, seeds, confidence)
                rows.append(_row(name, share, varied, found))
        except LockstepError as error:
            rows.append({"sampler": name, "notes": str(error)})
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.assign(launches=len(table), seeds=seeds)


def trials(
    method: Sampler, table: LaunchTable, truth: np.ndarray, seeds: int, confidence: float
) -> list[Trial]:
    """What a sampler does with each seed; one trial if it does the same with all.

    ``table``: what the sampler knows; ``truth``: times of all launches, float64.
    """
    if not getattr(method, "same_strata", False):
        plans = (draw(method, table, seed, lambda rows: truth[rows])[0] for seed in range(seeds))
        return [_trial(plan, truth, confidence) for plan in plans]
    check(method, table)
    plan = method.plan(table, np.random.default_rng(0))
    if not plan.drawn:
        return [_trial(plan, truth, confidence)]
    strata, n = members(plan.stratum), np.bincount(plan.stratum[plan.chosen])
    found = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        drawn = [random.choice(rows, k, replace=False) for rows, k in zip(strata, n, strict=True)]
        again = replace(plan, chosen=np.sort(np.concatenate(drawn)))
        found.append(_trial(again, truth, confidence))
    return found


def at_share(method: Sampler, table: LaunchTable, truth: np.ndarray, share: float) -> Sampler:
    """The same sampler with the effort at which it simulates about this share of all time.

    Not all shares can be had: the nearest is taken.
    """
    effort = _effort(method)
    assert effort is not None
    most, least = np.log(effort.most), np.log(effort.least)
    best, nearest = method, np.inf
    at = least
    for _ in range(HALVINGS):
        varied = with_effort(method, float(np.exp(at)))
        found = _share(varied, table, truth)
        if abs(np.log(found / share)) < nearest:
            best, nearest = varied, abs(np.log(found / share))
        at_the_end = at == least and found > share
        if at_the_end or nearest < np.log(NEAR):
            break
        most, least = (at, least) if found > share else (most, at)
        at = (most + least) / 2
    return best


def with_effort(method: Sampler, value: float) -> Sampler:
    """The same sampler with another value of the parameter of its effort."""
    effort = _effort(method)
    assert effort is not None
    varied = copy.copy(method)
    setattr(varied, effort.parameter, round(value) if effort.whole else value)
    return varied


def _effort(method: Sampler) -> Effort | None:
    return getattr(method, "effort", None)


def _share(method: Sampler, table: LaunchTable, truth: np.ndarray) -> float:
    """The simulated share of time, as expected: exactly, or the mean of a few seeds."""
    if not getattr(method, "same_strata", False):
        seeds = range(LOOKED_AT)
        seen = [draw(method, table, seed, lambda rows: truth[rows])[1].sum() for seed in seeds]
        return float(np.mean(seen) / truth.sum())
    check(method, table)
    plan = method.plan(table, np.random.default_rng(0))
    if not plan.drawn:
        return float(truth[plan.chosen].sum() / truth.sum())
    share = np.bincount(plan.stratum[plan.chosen]) / plan.sizes
    return float(share @ np.bincount(plan.stratum, truth) / truth.sum())


def _trial(plan: Plan, truth: np.ndarray, confidence: float) -> Trial:
    total, found = truth.sum(), estimate(plan, truth[plan.chosen], confidence)
    return Trial(
        len(plan.sizes),
        len(plan.chosen),
        plan.notes,
        float(truth[plan.chosen].sum() / total),
        float(found.total / total - 1),
        found.bounded,
        found.low <= total * (1 + ROUNDING) and total * (1 - ROUNDING) <= found.high,
        found.half_width,
    )


def _row(name: str, share: float, method: Sampler, found: list[Trial]) -> dict[str, Any]:
    """A row of a comparison."""
    simulated = np.array([trial.simulated for trial in found])
    errors = np.abs([trial.error for trial in found])
    bounded = [trial for trial in found if trial.bounded]
    notes = list(found[0].notes)
    came_to = simulated.mean()
    if abs(np.log(came_to / share)) > np.log(TOLD):  # not of NaN
        notes.append(f"simulates {came_to:.3%}, the nearest to {share:.3%} that it can")
    effort = _effort(method)
    return {
        "sampler": name,
        "at": share,
        "parameters": f"{effort.parameter} = {getattr(method, effort.parameter):g}"
        if effort
        else "",
        "strata": np.mean([trial.strata for trial in found]),
        "chosen": np.mean([trial.chosen for trial in found]),
        "simulated": came_to,
        "s_cycles": 1 / came_to,
        "error": errors.mean(),
        "worst": errors.max(),
        "bounded": len(bounded) / len(found),
        "coverage": np.mean([trial.held for trial in bounded]) if bounded else np.nan,
        "half_width": np.mean([trial.half_width for trial in bounded]) if bounded else np.nan,
        "notes": "; ".join(notes),
    }
