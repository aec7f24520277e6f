"""Metrics of the L2, over all slices; its clocks are the L2's own."""

from lockstep.metrics.facts import Facts, percent
from lockstep.metrics.metric import Metric


def l2_sectors(k: Facts) -> int:
    """Sectors of reads, writes and atomics."""
    return k.memory.l2_read_sectors + k.memory.l2_write_sectors + k.memory.l2_atomic_sectors


def l2_hits(k: Facts) -> int:
    """Of these, found in the L2."""
    return k.memory.l2_read_hits + k.memory.l2_write_hits + k.memory.l2_atomic_hits


METRICS = (
    Metric(
        "sim__l2_requests.sum",
        "requests",
        "Requests of SMs.",
        lambda k: k.memory.l2_requests,
    ),
    Metric(
        "lts__t_sectors_srcunit_tex.sum",
        "sectors",
        "Sectors of requests of SMs: reads, writes and atomics.",
        lambda k: l2_sectors(k),
    ),
    Metric(
        "sim__l2_hit_rate.pct",
        "%",
        "Sectors found in the L2; merged ones are no hits.",
        lambda k: percent(l2_hits(k), l2_sectors(k)),
    ),
    Metric(
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "sectors",
        "Sectors that SMs read.",
        lambda k: k.memory.l2_read_sectors,
    ),
    Metric(
        "sim__l2_read_hits.sum",
        "sectors",
        "Of these, found in the L2.",
        lambda k: k.memory.l2_read_hits,
    ),
    Metric(
        "sim__l2_read_merged.sum",
        "sectors",
        "Of these, merged with a miss in flight.",
        lambda k: k.memory.l2_read_pending,
    ),
    Metric(
        "sim__l2_read_hit_rate.pct",
        "%",
        "Sectors that SMs read and the L2 has; merged ones are no hits.",
        lambda k: percent(k.memory.l2_read_hits, k.memory.l2_read_sectors),
    ),
    Metric(
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "sectors",
        "Sectors that SMs write.",
        lambda k: k.memory.l2_write_sectors,
    ),
    Metric(
        "sim__l2_write_hit_rate.pct",
        "%",
        "Sectors that SMs write and the L2 has.",
        lambda k: percent(k.memory.l2_write_hits, k.memory.l2_write_sectors),
    ),
    Metric(
        "sim__l2_atomic_sectors.sum",
        "sectors",
        "Sectors of atomics and reductions.",
        lambda k: k.memory.l2_atomic_sectors,
    ),
    Metric(
        "sim__l2_atomic_hit_rate.pct",
        "%",
        "Sectors of atomics and reductions that the L2 has.",
        lambda k: percent(k.memory.l2_atomic_hits, k.memory.l2_atomic_sectors),
    ),
    Metric(
        "sim__l2_atomic_busy.sum",
        "cycles",
        "Slice-cycles (L2 clock) in which data ports update words for atomic operations.",
        lambda k: k.memory.l2_atomic_busy,
    ),
    Metric(
        "sim__l2_fills.sum",
        "sectors",
        "Sectors read from DRAM.",
        lambda k: k.memory.l2_fills,
    ),
    Metric(
        "sim__l2_joined.sum",
        "requests",
        "Reads that joined the one of a neighbouring SM on its way, and asked nothing of the L2.",
        lambda k: k.memory.l2_joined,
    ),
    Metric(
        "sim__l2_crossings.sum",
        "sectors",
        "Sectors that reads brought to a slice from another side of the chip.",
        lambda k: k.memory.l2_crossings,
    ),
    Metric(
        "sim__l2_partial_fills.sum",
        "sectors",
        "Of these, into sectors that were written in part before.",
        lambda k: k.memory.l2_partial_fills,
    ),
    Metric(
        "sim__l2_writebacks.sum",
        "sectors",
        "Dirty sectors written to DRAM.",
        lambda k: k.memory.l2_writebacks,
    ),
    Metric(
        "sim__l2_evictions.sum",
        "lines",
        "Lines evicted from the L2.",
        lambda k: k.memory.l2_evictions,
    ),
    Metric(
        "sim__l2_copy_sectors.sum",
        "sectors",
        "Sectors that host copies left in the L2.",
        lambda k: k.memory.copy_sectors,
    ),
    Metric(
        "sim__l2_stalls.sum",
        "cycles",
        "Slice-cycles in which a request could not proceed.",
        lambda k: k.memory.l2_stalls,
    ),
    Metric(
        "sim__l2_stall_mshr.sum",
        "cycles",
        "Of these, because no MSHR entry was free.",
        lambda k: k.memory.l2_stall_mshr,
    ),
    Metric(
        "sim__l2_stall_line.sum",
        "cycles",
        "Of these, because every way of the set waited for a fill.",
        lambda k: k.memory.l2_stall_line,
    ),
    Metric(
        "sim__l2_stall_dram_queue.sum",
        "cycles",
        "Of these, because the DRAM queue was full.",
        lambda k: k.memory.l2_stall_dram_queue,
    ),
    Metric(
        "sim__l2_stall_reply.sum",
        "cycles",
        "Of these, because the reply network had no room.",
        lambda k: k.memory.l2_stall_reply,
    ),
    Metric(
        "sim__l2_nacks.sum",
        "requests",
        "Requests refused because the MSHR file was full, or the line's directory entry locked.",
        lambda k: k.memory.l2_nacks,
    ),
    Metric(
        "sim__l2_lock_nacks.sum",
        "requests",
        "Of these, because the directory entry was locked.",
        lambda k: k.memory.l2_lock_nacks,
    ),
    Metric(
        "sim__l2_forwards.sum",
        "messages",
        "Messages of the directory to L1s that have a line: invalidations, and reads for others.",
        lambda k: k.memory.l2_forwards,
    ),
    Metric(
        "sim__l2_prefetches.sum",
        "lines",
        "Lines that a prefetcher asked the DRAM for.",
        lambda k: k.memory.l2_prefetches,
    ),
    Metric(
        "sim__l2_prefetch_useful.sum",
        "lines",
        "Of these, here when the first read or atomic came.",
        lambda k: k.memory.l2_prefetch_useful,
    ),
    Metric(
        "sim__l2_prefetch_late.sum",
        "lines",
        "Of these, on their way when the first read or atomic came.",
        lambda k: k.memory.l2_prefetch_late,
    ),
    Metric(
        "sim__l2_prefetch_useless.sum",
        "lines",
        "Of these, gone before any read or atomic came.",
        lambda k: k.memory.l2_prefetch_useless,
    ),
    Metric(
        "sim__l2_prefetch_redundant.sum",
        "lines",
        "Lines that it wanted and that were here or on their way.",
        lambda k: k.memory.l2_prefetch_redundant,
    ),
    Metric(
        "sim__l2_prefetch_dropped.sum",
        "lines",
        "Lines that it wanted and that found no room: queue, MSHRs, or a way.",
        lambda k: k.memory.l2_prefetch_dropped,
    ),
    Metric(
        "sim__l2_prefetch_accuracy.pct",
        "%",
        "Useful and late ones of all lines that a prefetcher asked the DRAM for.",
        lambda k: percent(
            k.memory.l2_prefetch_useful + k.memory.l2_prefetch_late, k.memory.l2_prefetches
        ),
    ),
)
