"""What the studies after Arunkumar et al., "MCM-GPU", ISCA 2017, share: GPU, programs, counters.

What of the paper is in its abstract says so; its other numbers were written down from memory of it.
"""

from lockstep.studies.description import Program, Runs, value

GPU = "MCM_256"
COLD = "launch.l2=flush"
"""Pages have homes when kernels touch them, so no copy of the host may leave lines in the L2."""

ONE_CHIP = (COLD, "modules.count=1")
MONOLITHIC = "monolithic"  # the name of that variant

REMOTE, LINK = "sim__module_remote.pct", "sim__sol_module_link.pct"
CARRIED, WAIT = "sim__module_link_bytes.sum", "sim__module_link_wait.avg"
BUSY = "sim__sol_dram.pct"
INTENSIVE = 50  # percent of the DRAM's bandwidth that a program uses on one chip

PROGRAMS = (
    Program("vecadd", 2_000_000, 16_000_000),
    Program("saxpy", 2_000_000, 16_000_000),
    Program("reduce_shared", 8_000_000, 16_000_000),
    Program("stencil2d", 1_024, 4_096),
    Program("transpose_coalesced", 2_048, 4_096),
    Program("blackscholes", 1_000_000, 4_000_000),
    Program("spmv", 60_000, 200_000),
    Program("gemm_tiled", 256, 1_024),
    Program("nbody", 4_096, 16_384),
)


def is_intensive(runs: Runs) -> bool:
    """Whether a program needs much bandwidth of the DRAM on one chip."""
    return value(runs, MONOLITHIC, BUSY) > INTENSIVE
