"""The features of launches that samplers compare."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lockstep.sampling.table import LaunchTable

INSTRUCTIONS = "smsp__inst_executed.sum"

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
    "smsp__thread_inst_executed_per_inst_executed.ratio",
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
