"""The names of what samplers compare of launches."""

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
