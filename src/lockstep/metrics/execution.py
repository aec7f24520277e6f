"""Metrics of time, instructions, occupancy and issue."""

from math import nan

from lockstep.metrics.facts import Facts, percent, ratio
from lockstep.metrics.metric import Metric, operation_classes, stall_reasons, warp_states
from lockstep.model.counters import Stall

TIME = (
    Metric(
        "gpc__cycles_elapsed.max",
        "cycles",
        "Core cycles from launch to the end of the last CTA, launch overhead included.",
        lambda k: k.cycles,
    ),
    Metric(
        "gpu__time_duration.sum",
        "ns",
        "The same as time.",
        lambda k: k.seconds * 1e9,
    ),
    Metric(
        "sim__cycles_running",
        "cycles",
        "Core cycles with a CTA, of whichever kernel, from launch to the end of the last CTA.",
        lambda k: k.running,
    ),
    Metric(
        "sim__cycles_launch",
        "cycles",
        "Core cycles before the first CTA's dispatch; of the run, those without any CTA.",
        lambda k: k.launching,
    ),
    Metric(
        "sm__cycles_active.sum",
        "cycles",
        "Cycles with a resident CTA, summed over SMs.",
        lambda k: k.sm.active_cycles,
    ),
    Metric(
        "sm__cycles_active.avg",
        "cycles",
        "The same, average of the SMs.",
        lambda k: ratio(k.sm.active_cycles, k.gpu.sm.count),
    ),
)

INSTRUCTIONS = (
    Metric(
        "sm__inst_executed.sum",
        "instructions",
        "Warp instructions.",
        lambda k: k.sm.warp_instructions,
    ),
    Metric(
        "smsp__thread_inst_executed_pred_on.sum",
        "instructions",
        "Thread instructions: lanes that are active and not predicated off, summed.",
        lambda k: k.sm.thread_instructions,
    ),
    Metric(
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
        "threads",
        "Lanes that a warp instruction uses, on average.",
        lambda k: ratio(k.sm.thread_instructions, k.sm.warp_instructions),
    ),
    Metric(
        "sim__lanes_used.pct",
        "%",
        "The same, in percent of a warp.",
        lambda k: percent(k.sm.thread_instructions, k.gpu.sm.warp_size * k.sm.warp_instructions),
    ),
    Metric(
        "sim__inst_issued_{}.sum",
        "instructions",
        "Warp instructions of class {}.",
        lambda k, op: k.sm.issued[op],
        each=operation_classes,
    ),
    Metric(
        "sim__inst_memory.sum",
        "instructions",
        "Warp instructions that access memory with at least one lane.",
        lambda k: k.sm.memory_instructions,
    ),
    Metric(
        "sm__inst_executed.avg.per_cycle_active",
        "instructions/cycle",
        "IPC of an SM while it has a CTA.",
        lambda k: ratio(k.sm.warp_instructions, k.sm.active_cycles),
    ),
    Metric(
        "sm__inst_executed.avg.per_cycle_elapsed",
        "instructions/cycle",
        "IPC of an SM over all cycles, launch overhead included.",
        lambda k: ratio(k.sm.warp_instructions, k.gpu.sm.count * k.cycles),
    ),
    Metric(
        "sm__inst_executed.sum.per_cycle_elapsed",
        "instructions/cycle",
        "IPC of the GPU over all cycles, launch overhead included.",
        lambda k: ratio(k.sm.warp_instructions, k.cycles),
    ),
    Metric(
        "sim__ipc",
        "instructions/cycle",
        "IPC of the GPU while CTAs ran.",
        lambda k: ratio(k.sm.warp_instructions, k.running),
    ),
    Metric(
        "sim__unknown_inst.sum",
        "instructions",
        "Warp instructions whose opcode is in no table; they were classed by their family.",
        lambda k: sum(k.kernel.unknown.values()),
        kernel=True,
    ),
    Metric(
        "sim__forced_convergence.sum",
        "times",
        "Times that lanes went on without others that they waited for, which could not come.",
        lambda k: k.kernel.forced,
        kernel=True,
    ),
)

OCCUPANCY = (
    Metric(
        "sm__maximum_warps_per_active_cycle_pct",
        "%",
        "Theoretical occupancy: warps of the CTAs that fit an SM, in percent of its warps.",
        lambda k: percent(k.kernel.ctas_per_sm * _warps_per_cta(k), k.gpu.sm.warps),
        kernel=True,
    ),
    Metric(
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "%",
        "Achieved occupancy: resident, unfinished warps while an SM has a CTA.",
        lambda k: percent(k.sm.warp_cycles, k.gpu.sm.warps * k.sm.active_cycles),
    ),
    Metric(
        "sm__warps_active.avg.per_cycle_active",
        "warps",
        "The same, as a number of warps.",
        lambda k: ratio(k.sm.warp_cycles, k.sm.active_cycles),
    ),
    Metric(
        "sim__sm_active.pct",
        "%",
        "SM-cycles with a resident CTA, while CTAs ran: low where CTAs are few or unequal.",
        lambda k: percent(k.sm.active_cycles, k.sm_cycles),
    ),
    Metric(
        "sim__ctas_finished.sum",
        "CTAs",
        "CTAs that finished.",
        lambda k: k.sm.ctas,
    ),
    Metric(
        "sim__occupancy_limit_ctas",
        "CTAs",
        "CTAs that fit an SM.",
        lambda k: k.kernel.ctas_per_sm,
        kernel=True,
    ),
    Metric(
        "launch__occupancy_limit_registers",
        "CTAs",
        "CTAs for which an SM has registers; undefined where they need none.",
        lambda k: k.kernel.limits.get("registers", nan),
        kernel=True,
    ),
    Metric(
        "launch__occupancy_limit_shared_mem",
        "CTAs",
        "CTAs for which an SM has shared memory; undefined where they need none.",
        lambda k: k.kernel.limits.get("shared memory", nan),
        kernel=True,
    ),
    Metric(
        "launch__occupancy_limit_warps",
        "CTAs",
        "CTAs for which an SM has warps.",
        lambda k: k.kernel.limits.get("warps", nan),
        kernel=True,
    ),
    Metric(
        "launch__occupancy_limit_blocks",
        "CTAs",
        "CTAs that an SM holds at most, whatever they need.",
        lambda k: k.kernel.limits.get("CTAs", nan),
        kernel=True,
    ),
    Metric(
        "launch__grid_size",
        "CTAs",
        "CTAs of the grid.",
        lambda k: _product(k.kernel.grid),
        kernel=True,
    ),
    Metric(
        "launch__block_size",
        "threads",
        "Threads of a CTA.",
        lambda k: _product(k.kernel.block),
        kernel=True,
    ),
    Metric(
        "launch__waves_per_multiprocessor",
        "waves",
        "How often the grid fills the GPU.",
        lambda k: ratio(_product(k.kernel.grid), k.gpu.sm.count * k.kernel.ctas_per_sm),
        kernel=True,
    ),
    Metric(
        "launch__registers_per_thread",
        "registers",
        "Registers of a thread.",
        lambda k: k.kernel.registers,
        kernel=True,
    ),
    Metric(
        "sim__shared_mem_per_cta",
        "bytes",
        "Shared memory that a CTA asks for, static and dynamic.",
        lambda k: k.kernel.shared_bytes,
        kernel=True,
    ),
)

ISSUE = (
    Metric(
        "sim__scheduler_{}.pct",
        "%",
        "Scheduler-cycles spent in {}, of those in which the SM had a CTA; all sum to 100 %.",
        lambda k, stall: percent(k.sm.stalls[stall], sum(k.sm.stalls)),
        each=stall_reasons,
    ),
    Metric(
        "sim__warp_cycles_{}_per_inst.ratio",
        "cycles",
        "Cycles that a warp spends in {} for each instruction that it issues; all sum to the "
        "cycles between two issues of a warp. Undefined unless instructions were counted.",
        lambda k, state: ratio(_in_state(k, state), k.kernel.warp_instructions),
        each=warp_states,
        kernel=True,
        counted=True,
    ),
    Metric(
        "sim__issue_slots_idle.pct",
        "%",
        "Scheduler-cycles in which nothing issued, whatever the reason.",
        lambda k: percent(sum(k.sm.stalls) - k.sm.stalls[Stall.ISSUED], sum(k.sm.stalls)),
    ),
    Metric(
        "sim__operand_conflict_cycles.sum",
        "cycles",
        "Cycles that register read ports delayed an instruction.",
        lambda k: k.sm.operand_conflicts,
    ),
    Metric(
        "sim__write_conflict_cycles.sum",
        "cycles",
        "Cycles that results of loads and of units of variable latency waited for a write port of "
        "a register bank.",
        lambda k: k.sm.write_conflicts,
    ),
    Metric(
        "sim__l0i_lookups.sum",
        "lines",
        "Instruction-cache lines looked up by fetch.",
        lambda k: k.sm.l0i_accesses,
    ),
    Metric(
        "sim__l0i_misses.sum",
        "lines",
        "Of these, in neither the L0 instruction cache nor its stream buffer.",
        lambda k: k.sm.l0i_misses,
    ),
    Metric(
        "sim__l0i_hit_rate.pct",
        "%",
        "Hit rate of the L0 instruction caches and their stream buffers.",
        lambda k: percent(k.sm.l0i_accesses - k.sm.l0i_misses, k.sm.l0i_accesses),
    ),
    Metric(
        "sim__l1i_misses.sum",
        "lines",
        "Misses of the L1 caches that instructions and constants share.",
        lambda k: k.sm.l1i_misses,
    ),
)


def _in_state(k: Facts, state: int) -> float:
    """Warp-cycles of a kernel in a state."""
    assert k.kernel is not None and k.kernel.source is not None, "its instructions were counted"
    return int(k.kernel.source.counts["states"][:, state].sum())


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]


def _warps_per_cta(k: Facts) -> int:
    assert k.kernel is not None, "it is a metric of kernels"
    return -(-_product(k.kernel.block) // k.gpu.sm.warp_size)
