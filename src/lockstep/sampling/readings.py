"""What samplers read of the profile of launches."""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.features import INSTRUCTIONS, LANES, PKA
from lockstep.sampling.table import LaunchTable


def pka_features(table: LaunchTable) -> np.ndarray:
    """The 12 features of each launch, float64 [launches, 12]; undefined ratios are 0."""
    columns = [table.ctas() if name == "launch__grid_size" else table.column(name) for name in PKA]
    return np.nan_to_num(np.stack(columns, axis=1))


def profiled(table: LaunchTable) -> int:
    """How many launches, from the first on, have the counters of a profile."""
    missing = np.isnan(table.column(INSTRUCTIONS))
    return int(missing.argmax()) if missing.any() else len(table)


def check_profiled(table: LaunchTable, sampler: str) -> None:
    """Raise :class:`LockstepError` if a launch has no profile; rows of a light one have NaN."""
    if (launches := profiled(table)) < len(table):
        raise LockstepError(
            f"{sampler} reads the profile of every launch, and launch {launches} has none: "
            "profile all, or use two-level"
        )


def thread_instructions(table: LaunchTable) -> np.ndarray:
    """Instructions of each launch, counted once for every thread that executes them; float64."""
    return table.column(INSTRUCTIONS) * np.nan_to_num(table.column(LANES))


def work(table: LaunchTable) -> np.ndarray:
    """What predicts times of launches where none is known, in cycles of one SM; float64.

    The longer one of issuing the instructions, four a cycle, and of moving the sectors, two a
    cycle, as SMs since Volta do at best; nothing but their ratios means anything.
    """
    sectors = np.sum([table.column(name) for name in PKA[:3]], axis=0)
    return np.fmax(1.0, np.fmax(table.column(INSTRUCTIONS) / 4, sectors / 2))
