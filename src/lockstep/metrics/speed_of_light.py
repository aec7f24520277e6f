"""Speed of light: how near each unit came to the most it could do while CTAs ran."""

from lockstep.metrics.facts import Facts, dram_peak, percent, utilization
from lockstep.metrics.metric import Metric, execution_units
from lockstep.metrics.modules import BUSIEST
from lockstep.metrics.sm_memory import l1_sectors

METRICS = (
    Metric(
        "sim__sol_issue.pct",
        "%",
        "Warp instructions issued, of what all schedulers could issue.",
        lambda k: percent(k.sm.warp_instructions, k.issue_slots),
    ),
    Metric(
        "sim__sol_unit_{}.pct",
        "%",
        "Cycles in which execution units of kind {} start an instruction.",
        lambda k, unit: utilization(
            sum(k.sm.issued[op] * interval for op, interval in unit.intervals),
            unit.instances * k.sm_cycles,
        ),
        each=execution_units,
    ),
    Metric(
        "sim__sol_lsu.pct",
        "%",
        "Load/store unit: address generation or the SM's arbiter, whichever is nearer its limit.",
        lambda k: utilization(_lsu_cycles(k), k.sm_cycles),
    ),
    Metric(
        "sim__sol_l1.pct",
        "%",
        "Sectors that loads and stores access, of what the L1s' data ports move.",
        lambda k: utilization(l1_sectors(k), k.sm_cycles * k.gpu.l1.cycle_sectors),
    ),
    Metric(
        "sim__sol_shared.pct",
        "%",
        "Cycles in which the banks of shared memory serve a pass.",
        lambda k: utilization(k.sm.shared_wavefronts, k.sm_cycles),
    ),
    Metric(
        "sim__sol_crossbar.pct",
        "%",
        "Port cycles with a flit, requests or replies, whichever are more; at the narrower side.",
        lambda k: utilization(
            max(k.sm.noc_request_flits, k.sm.noc_reply_flits),
            min(k.gpu.sm.count, k.slices) * k.clocks(k.gpu.interconnect.clock_mhz),
        ),
    ),
    Metric(
        "sim__sol_l2.pct",
        "%",
        "Slice-cycles in which the data port moves something.",
        lambda k: utilization(k.memory.l2_busy, k.slices * k.clocks(k.gpu.l2.clock_mhz)),
    ),
    Metric(
        "sim__sol_dram.pct",
        "%",
        "Bytes moved, of what the data buses could move while CTAs ran.",
        lambda k: utilization(k.dram_bytes, dram_peak(k.gpu) * k.running / (k.gpu.clock_mhz * 1e6)),
    ),
    BUSIEST,
)


COMPUTE = METRICS[:2]
MEMORY = METRICS[2:]

THROUGHPUT = (
    Metric(
        "sim__compute_throughput.pct",
        "%",
        "The largest of the speeds of light of issue and of execution units.",
        lambda k: largest(k, COMPUTE),
    ),
    Metric(
        "sim__memory_throughput.pct",
        "%",
        "The largest of the speeds of light of load/store unit, L1, shared memory, crossbar, L2 "
        "and DRAM.",
        lambda k: largest(k, MEMORY),
    ),
)


def largest(k: Facts, metrics: tuple[Metric, ...]) -> float:
    """The largest of some metrics; NaN if they have no value."""
    return max(metric.formula(k, *key) for metric in metrics for _, key in metric.expand(k.gpu))


def _lsu_cycles(k: Facts) -> float:
    """Cycles of an SM that its memory instructions take at the tighter of the two limits."""
    pipeline, instructions = k.gpu.sm.memory, k.sm.memory_instructions
    longer = pipeline.wide_address_interval - pipeline.address_interval
    addresses = instructions * pipeline.address_interval + k.sm.requests_global * longer
    return max(addresses / k.gpu.sm.subcores, instructions * pipeline.accept_interval)
