"""Metrics of what the SMs share: crossbar, L2, DRAM."""

from lockstep.metrics.facts import Facts, dram_peak, percent, ratio, utilization
from lockstep.metrics.metric import Metric

SECTOR = 32  # bytes that Nsight Compute calls a DRAM sector

CROSSBAR = (
    Metric(
        "sim__noc_requests.sum",
        "messages",
        "Messages from SMs to the L2.",
        lambda k: k.sm.noc_requests,
    ),
    Metric(
        "sim__noc_request_flits.sum",
        "flits",
        "Port cycles that they took.",
        lambda k: k.sm.noc_request_flits,
    ),
    Metric(
        "sim__noc_request_stalls.sum",
        "cycles",
        "SM-cycles in which a request waited for room at its destination.",
        lambda k: k.sm.noc_request_stalls,
    ),
    Metric(
        "sim__noc_replies.sum",
        "messages",
        "Messages from the L2 to SMs.",
        lambda k: k.sm.noc_replies,
    ),
    Metric(
        "sim__noc_reply_flits.sum",
        "flits",
        "Port cycles that they took.",
        lambda k: k.sm.noc_reply_flits,
    ),
    Metric(
        "sim__noc_nacks.sum",
        "messages",
        "Requests that the L2 refused and the SM repeated.",
        lambda k: k.sm.nacks,
    ),
)

PEERS = (
    Metric(
        "sim__peer_requests.sum",
        "messages",
        "Of the messages from SMs, those to the memory of other GPUs.",
        lambda k: k.sm.peer_requests,
        core="sm",
    ),
    Metric(
        "sim__peer_load_bytes.sum",
        "bytes",
        "What they load from there, in whole sectors.",
        lambda k: k.sm.peer_read_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
    Metric(
        "sim__peer_store_bytes.sum",
        "bytes",
        "What they store there, in whole sectors.",
        lambda k: k.sm.peer_write_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
    Metric(
        "sim__peer_atomic_bytes.sum",
        "bytes",
        "Sectors in which atomics and reductions update words there.",
        lambda k: k.sm.peer_atomic_sectors * k.gpu.l2.sector_bytes,
        core="sm",
    ),
)

L2 = (
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

DRAM = (
    Metric(
        "dram__bytes_read.sum",
        "bytes",
        "Bytes read from DRAM.",
        lambda k: k.memory.dram_read_bytes,
    ),
    Metric(
        "dram__bytes_write.sum",
        "bytes",
        "Bytes written to DRAM.",
        lambda k: k.memory.dram_write_bytes,
    ),
    Metric(
        "dram__sectors_read.sum",
        "sectors",
        "The bytes read, in sectors of 32 bytes.",
        lambda k: k.memory.dram_read_bytes // SECTOR,
    ),
    Metric(
        "dram__sectors_write.sum",
        "sectors",
        "The bytes written, in sectors of 32 bytes.",
        lambda k: k.memory.dram_write_bytes // SECTOR,
    ),
    Metric(
        "dram__bytes.sum.per_second",
        "bytes/s",
        "Bandwidth used, reads and writes, over all cycles.",
        lambda k: ratio(k.dram_bytes, k.seconds),
    ),
    Metric(
        "dram__bytes.sum.pct_of_peak_sustained_elapsed",
        "%",
        "The same, in percent of what the data buses could move.",
        lambda k: utilization(k.dram_bytes, dram_peak(k.gpu) * k.seconds),
    ),
    Metric(
        "sim__dram_bus_busy.pct",
        "%",
        "Command clocks in which a data bus moved something.",
        lambda k: utilization(k.memory.dram_bus_busy, k.memory.dram_clocks),
    ),
    Metric(
        "sim__dram_read_bursts.sum",
        "bursts",
        "Read commands.",
        lambda k: k.memory.dram_reads,
    ),
    Metric(
        "sim__dram_write_bursts.sum",
        "bursts",
        "Write commands.",
        lambda k: k.memory.dram_writes,
    ),
    Metric(
        "sim__dram_row_hits.sum",
        "bursts",
        "Column commands that found their row open.",
        lambda k: k.memory.dram_row_hits,
    ),
    Metric(
        "sim__dram_row_misses.sum",
        "bursts",
        "Column commands that needed an activate of a closed bank.",
        lambda k: k.memory.dram_row_misses,
    ),
    Metric(
        "sim__dram_row_conflicts.sum",
        "bursts",
        "Column commands that needed a precharge of another row first.",
        lambda k: k.memory.dram_row_conflicts,
    ),
    Metric(
        "sim__dram_row_hit_rate.pct",
        "%",
        "Row hits of all column commands.",
        lambda k: percent(
            k.memory.dram_row_hits,
            k.memory.dram_row_hits + k.memory.dram_row_misses + k.memory.dram_row_conflicts,
        ),
    ),
    Metric(
        "sim__dram_activates.sum",
        "commands",
        "Activate commands.",
        lambda k: k.memory.dram_activates,
    ),
    Metric(
        "sim__dram_precharges.sum",
        "commands",
        "Precharge commands.",
        lambda k: k.memory.dram_precharges,
    ),
    Metric(
        "sim__dram_refreshes.sum",
        "commands",
        "Refresh commands.",
        lambda k: k.memory.dram_refreshes,
    ),
    Metric(
        "sim__dram_turnarounds.sum",
        "turnarounds",
        "Switches of a data bus between reads and writes.",
        lambda k: k.memory.dram_turnarounds,
    ),
    Metric(
        "sim__dram_read_queue.avg",
        "requests",
        "Reads waiting at a channel, on average over time.",
        lambda k: ratio(k.memory.dram_read_queue, k.memory.dram_clocks),
    ),
    Metric(
        "sim__dram_write_queue.avg",
        "requests",
        "Writes waiting at a channel, on average over time.",
        lambda k: ratio(k.memory.dram_write_queue, k.memory.dram_clocks),
    ),
)


def l2_sectors(k: Facts) -> int:
    """Sectors of reads, writes and atomics."""
    return k.memory.l2_read_sectors + k.memory.l2_write_sectors + k.memory.l2_atomic_sectors


def l2_hits(k: Facts) -> int:
    """Of these, found in the L2."""
    return k.memory.l2_read_hits + k.memory.l2_write_hits + k.memory.l2_atomic_hits
