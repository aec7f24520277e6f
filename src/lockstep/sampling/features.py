"""The features of launches that samplers compare."""

from typing import TYPE_CHECKING

import numpy as np

from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.sampling.table import LaunchTable

INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"

PKA = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "sim__inst_global_atomic.sum",
    INSTRUCTIONS,
    LANES,
    "launch__grid_size",
)
"""The 12 of Principal Kernel Analysis, Table 2, under the names that they have here.

Its "coalesced" accesses are sectors, its "thread" accesses warp instructions. Atomics are counted
with reductions.
"""

PROFILE = tuple(name for name in PKA if name != "launch__grid_size")
"""What a table of level 1 has of each launch; the grid is known of every launch."""


def pka_features(table: "LaunchTable") -> np.ndarray:
    """The 12 features of each launch, float64 [launches, 12]; undefined ratios are 0."""
    columns = [table.ctas() if name == "launch__grid_size" else table.column(name) for name in PKA]
    return np.nan_to_num(np.stack(columns, axis=1))


def profiled(table: "LaunchTable") -> int:
    """How many launches, from the first on, have the counters of a profile."""
    missing = np.isnan(table.column(INSTRUCTIONS))
    return int(missing.argmax()) if missing.any() else len(table)


def check_profiled(table: "LaunchTable", sampler: str) -> None:
    """Raise :class:`LockstepError` if a launch has no profile; rows of a light one have NaN."""
    if (launches := profiled(table)) < len(table):
        raise LockstepError(
            f"{sampler} reads the profile of every launch, and launch {launches} has none: "
            "profile all, or use two-level"
        )


def thread_instructions(table: "LaunchTable") -> np.ndarray:
    """Instructions of each launch, counted once for every thread that executes them; float64."""
    return table.column(INSTRUCTIONS) * np.nan_to_num(table.column(LANES))


def work(table: "LaunchTable") -> np.ndarray:
    """What predicts times of launches where none is known, in cycles of one SM; float64.

    The longer one of issuing the instructions, four a cycle, and of moving the sectors, two a
    cycle, as SMs since Volta do at best; nothing but their ratios means anything.
    """
    sectors = np.sum([table.column(name) for name in PKA[:3]], axis=0)
    return np.fmax(1.0, np.fmax(table.column(INSTRUCTIONS) / 4, sectors / 2))
