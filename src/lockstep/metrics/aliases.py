"""Other names of metrics: those of Nsight Compute and of GPGPU-Sim, and how far they mean the same.

What has the same definition is renamed when measurements are read; what is only near is told, and
never compared by itself.
"""

from typing import NamedTuple

from lockstep.model.counters import Stall

CYCLES, DURATION = "gpc__cycles_elapsed.max", "gpu__time_duration.sum"


class Alias(NamedTuple):
    """A name that somebody else has for a metric.

    ``differs``: what is counted otherwise there; "" = the definitions are the same. ``{}`` in a
    metric's name is as in the registry.
    """

    name: str
    metric: str
    differs: str = ""


NSIGHT = (
    Alias("sm__cycles_elapsed.max", CYCLES),
    Alias("smsp__cycles_elapsed.max", CYCLES),
    Alias("gpu__time_duration.max", DURATION),
    Alias("smsp__inst_executed.sum", "sm__inst_executed.sum"),
    Alias("sm__inst_issued.sum", "sm__inst_executed.sum"),
    Alias("smsp__inst_issued.sum", "sm__inst_executed.sum"),
    Alias("smsp__cycles_active.avg", "sm__cycles_active.avg", "of a sub-core, not of an SM"),
    Alias("smsp__issue_active.avg.pct_of_peak_sustained_active", "sim__scheduler_{}.pct",
          "of the state `issued`; theirs counts cycles of each sub-core"),
    Alias("sm__throughput.avg.pct_of_peak_sustained_elapsed", "sim__compute_throughput.pct",
          "the largest of other parts, over all cycles"),
    Alias("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
          "sim__memory_throughput.pct", "the largest of other parts, over all cycles"),
    Alias("dram__throughput.avg.pct_of_peak_sustained_elapsed",
          "dram__bytes.sum.pct_of_peak_sustained_elapsed", "the largest of several parts"),
    Alias("l1tex__t_sector_hit_rate.pct", "sim__l1_hit_rate.pct",
          "atomics and textures are among its sectors; ours has no merged ones"),
    Alias("lts__t_sector_hit_rate.pct", "sim__l2_hit_rate.pct",
          "has sectors of all units; ours has no merged ones"),
    Alias("lts__t_sectors_op_read.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
          "has reads of all units"),
    Alias("lts__t_sectors_op_write.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
          "has writes of all units"),
    Alias("lts__t_sectors_op_atom.sum", "sim__l2_atomic_sectors.sum", "without reductions"),
    Alias("l1tex__average_t_sectors_per_request.ratio", "sim__sectors_per_request.ratio",
          "has all kinds of requests"),
    Alias("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "sim__shared_wavefronts_extra.sum",
          "without the further passes of wide accesses"),
    Alias("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio",
          "sim__warp_cycles_{}_per_inst.ratio", "see the states of warps below"),
    # What the pages of sections call them.
    Alias("Elapsed Cycles", CYCLES),
    Alias("Duration", DURATION),
    Alias("SM Active Cycles", "sm__cycles_active.avg"),
    Alias("Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"),
    Alias("Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"),
    Alias("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    Alias("Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"),
    Alias("Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"),
    Alias("Registers Per Thread", "launch__registers_per_thread"),
    Alias("Block Limit Registers", "launch__occupancy_limit_registers"),
    Alias("Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"),
    Alias("Block Limit Warps", "launch__occupancy_limit_warps"),
    Alias("Block Limit SM", "launch__occupancy_limit_blocks"),
    Alias("Issued Warp", "sim__scheduler_{}.pct", "of the state `issued`, as a share of 1"),
    Alias("No Eligible", "sim__issue_slots_idle.pct"),
)  # fmt: skip
"""Of Nsight Compute, apart from the metrics that have its names here."""

GPGPUSIM = (
    Alias("gpu_sim_cycle", CYCLES, "of a kernel, without what a launch takes"),
    Alias("gpu_tot_sim_cycle", CYCLES, "of all kernels so far"),
    Alias("gpu_sim_insn", "smsp__thread_inst_executed_pred_on.sum",
          "active lanes of what has completed"),
    Alias("gpu_ipc", "sm__inst_executed.sum.per_cycle_elapsed", "of thread instructions"),
    Alias("gpgpu_n_tot_w_icount", "sm__inst_executed.sum"),
    Alias("gpgpu_n_tot_thrd_icount", "smsp__thread_inst_executed_pred_on.sum",
          "lanes of all warps, those switched off too"),
    Alias("gpu_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active",
          "of the cores that hold warps"),
    Alias("gpgpu_n_shmem_bkconflict", "sim__shared_wavefronts_extra.sum",
          "cycles in which a conflict held the pipeline"),
    Alias("gpgpu_n_mem_read_global", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "requests to the L2, not sectors of the L1"),
    Alias("gpgpu_n_mem_write_global", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          "requests to the L2, not sectors of the L1"),
    Alias("L1D_total_cache_accesses", "sim__l1_sectors.sum", "has atomics, too"),
    Alias("L1D_total_cache_miss_rate", "sim__l1_hit_rate.pct",
          "misses as a share of 1; merged ones are no misses"),
    Alias("L1D_total_cache_pending_hits", "sim__l1_global_load_merged.sum", "of all accesses"),
    Alias("L1D_total_cache_reservation_fails", "sim__l1_reservation_fails.sum",
          "has those of a full miss queue, too"),
    Alias("L2_total_cache_accesses", "lts__t_sectors_srcunit_tex.sum",
          "has reads of instructions and constants, too"),
    Alias("L2_total_cache_miss_rate", "sim__l2_hit_rate.pct",
          "misses as a share of 1; merged ones are no misses"),
    Alias("L2_total_cache_pending_hits", "sim__l2_read_merged.sum", "of all accesses"),
    Alias("L2_total_cache_reservation_fails", "sim__l2_stalls.sum",
          "refusals of accesses, not cycles of slices"),
    Alias("icnt_total_pkts_simt_to_mem", "sim__noc_request_flits.sum"),
    Alias("icnt_total_pkts_mem_to_simt", "sim__noc_reply_flits.sum"),
    Alias("averagemflatency", "sim__l1_miss_latency.sum", "an average, in cycles of its own"),
    Alias("n_act", "sim__dram_activates.sum", "of one channel"),
    Alias("n_pre", "sim__dram_precharges.sum", "of one channel"),
    Alias("n_rd", "sim__dram_read_bursts.sum", "of one channel"),
    Alias("n_write", "sim__dram_write_bursts.sum", "of one channel"),
    Alias("bw_util", "sim__dram_bus_busy.pct", "of one channel, as a share of 1"),
)  # fmt: skip
"""Statistics that GPGPU-Sim 4 and Accel-Sim print, as their sources and manual name them."""


class StateMeaning(NamedTuple):
    """What a reason of :class:`~lockstep.model.counters.Stall` means, and the nearest of Nsight."""

    meaning: str
    nsight: str  # of smsp__average_warps_issue_stalled_..., "" = it has none


STATES = {
    Stall.ISSUED: StateMeaning(
        "it issued",
        "selected",
    ),
    Stall.NO_WARP: StateMeaning(
        "no warp of the sub-core is resident and unfinished; of a warp: it has yet to start",
        "",
    ),
    Stall.FETCH: StateMeaning(
        "an instruction cache miss, or the buffer fills again behind a branch",
        "no_instruction, branch_resolving",
    ),
    Stall.SCOREBOARD: StateMeaning(
        "a register waits for a result of fixed latency, where control bits are unknown",
        "wait",
    ),
    Stall.LONG_SCOREBOARD: StateMeaning(
        "a register waits for global, local or texture memory",
        "long_scoreboard",
    ),
    Stall.SHORT_SCOREBOARD: StateMeaning(
        "a register waits for shared memory, a constant load, a special function or a shuffle",
        "short_scoreboard",
    ),
    Stall.WAIT: StateMeaning(
        "the stall count of the compiler",
        "wait",
    ),
    Stall.UNIT_BUSY: StateMeaning(
        "the execution unit still starts the instruction before",
        "math_pipe_throttle",
    ),
    Stall.OPERANDS: StateMeaning(
        "register read ports or collectors are taken",
        "dispatch_stall",
    ),
    Stall.MEMORY_QUEUE: StateMeaning(
        "the memory pipeline takes no more instructions",
        "lg_throttle, mio_throttle, tex_throttle",
    ),
    Stall.BARRIER: StateMeaning(
        "other warps have yet to come to a barrier",
        "barrier",
    ),
    Stall.FENCE: StateMeaning(
        "a fence, or an exit, waits for memory operations",
        "membar, drain",
    ),
    Stall.GROUP: StateMeaning(
        "a group of asynchronous copies or products is under way",
        "long_scoreboard, gmma",
    ),
    Stall.SLEEP: StateMeaning(
        "the warp sleeps",
        "sleeping",
    ),
    Stall.IMC_MISS: StateMeaning(
        "a constant operand is not in the sub-core",
        "imc_miss",
    ),
}


def same(aliases: tuple[Alias, ...]) -> dict[str, str]:
    """The names whose definition is the same, and ours."""
    return {alias.name: alias.metric for alias in aliases if not alias.differs}


def of(metric: str) -> list[Alias]:
    """All other names of a metric."""
    return [alias for alias in (*NSIGHT, *GPGPUSIM) if alias.metric == metric]
