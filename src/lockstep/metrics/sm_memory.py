"""Metrics of an SM's memories: coalescing, L1, shared memory, constant cache."""

from lockstep.metrics.facts import Facts, percent, ratio
from lockstep.metrics.metric import Metric

COALESCING = (
    Metric(
        "sim__l1_requests_global.sum",
        "requests",
        "Global-memory warp instructions that reach the L1.",
        lambda k: k.sm.requests_global,
    ),
    Metric(
        "sim__l1_requests_local.sum",
        "requests",
        "Local-memory warp instructions that reach the L1.",
        lambda k: k.sm.requests_local,
    ),
    Metric(
        "sim__texture_requests.sum",
        "requests",
        "Texture and surface warp instructions.",
        lambda k: k.sm.texture_requests,
    ),
    Metric(
        "sim__coalesced_transactions.sum",
        "lines",
        "Lines that the coalescer made of the requests.",
        lambda k: k.sm.transactions,
    ),
    Metric(
        "sim__transactions_per_request.ratio",
        "lines",
        "Lines of a request, on average: 1 is fully coalesced for accesses of 4 bytes.",
        lambda k: ratio(k.sm.transactions, k.sm.requests_global + k.sm.requests_local),
    ),
    Metric(
        "sim__sectors_per_request.ratio",
        "sectors",
        "Sectors of a request, on average; atomics included.",
        lambda k: ratio(
            l1_sectors(k) + k.sm.l1_atomic_sectors, k.sm.requests_global + k.sm.requests_local
        ),
    ),
)

L1 = (
    Metric(
        "sim__l1_sectors.sum",
        "sectors",
        "Sectors that loads and stores access in the L1, global and local, without atomics.",
        lambda k: l1_sectors(k),
    ),
    Metric(
        "sim__l1_hit_rate.pct",
        "%",
        "Sectors found in the L1, loads and stores, global and local.",
        lambda k: percent(l1_hits(k), l1_sectors(k)),
    ),
    Metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "sectors",
        "Sectors of global loads.",
        lambda k: k.sm.l1_global_read_sectors,
    ),
    Metric(
        "sim__l1_global_load_hits.sum",
        "sectors",
        "Of these, found in the L1.",
        lambda k: k.sm.l1_global_read_hits,
    ),
    Metric(
        "sim__l1_global_load_merged.sum",
        "sectors",
        "Of these, merged with a miss in flight.",
        lambda k: k.sm.l1_global_read_pending,
    ),
    Metric(
        "sim__l1_global_load_hit_rate.pct",
        "%",
        "Sectors of global loads found in the L1; merged ones are no hits.",
        lambda k: percent(k.sm.l1_global_read_hits, k.sm.l1_global_read_sectors),
    ),
    Metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "sectors",
        "Sectors of global stores.",
        lambda k: k.sm.l1_global_write_sectors,
    ),
    Metric(
        "sim__l1_global_store_hit_rate.pct",
        "%",
        "Sectors of global stores whose line is in the L1.",
        lambda k: percent(k.sm.l1_global_write_hits, k.sm.l1_global_write_sectors),
    ),
    Metric(
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        "sectors",
        "Sectors of local loads.",
        lambda k: k.sm.l1_local_read_sectors,
    ),
    Metric(
        "sim__l1_local_load_hit_rate.pct",
        "%",
        "Sectors of local loads found in the L1; merged ones are no hits.",
        lambda k: percent(k.sm.l1_local_read_hits, k.sm.l1_local_read_sectors),
    ),
    Metric(
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        "sectors",
        "Sectors of local stores.",
        lambda k: k.sm.l1_local_write_sectors,
    ),
    Metric(
        "sim__l1_local_store_hit_rate.pct",
        "%",
        "Sectors of local stores found in the L1.",
        lambda k: percent(k.sm.l1_local_write_hits, k.sm.l1_local_write_sectors),
    ),
    Metric(
        "sim__l1_bypass_sectors.sum",
        "sectors",
        "Load sectors that the L1 was told not to cache.",
        lambda k: k.sm.l1_bypass_sectors,
    ),
    Metric(
        "sim__bulk_load_sectors.sum",
        "sectors",
        "Sectors that bulk copies read, past the L1.",
        lambda k: k.sm.bulk_read_sectors,
    ),
    Metric(
        "sim__bulk_store_sectors.sum",
        "sectors",
        "Sectors that bulk copies and reductions wrote, past the L1.",
        lambda k: k.sm.bulk_write_sectors,
    ),
    Metric(
        "sim__l1_atomic_sectors.sum",
        "sectors",
        "Sectors of atomics and reductions sent to the L2.",
        lambda k: k.sm.l1_atomic_sectors,
    ),
    Metric(
        "sim__l1_evictions.sum",
        "lines",
        "Lines evicted from the L1.",
        lambda k: k.sm.l1_evictions,
    ),
    Metric(
        "sim__l1_writebacks.sum",
        "lines",
        "Dirty lines that L1s sent to the L2, under a coherence protocol.",
        lambda k: k.sm.l1_writebacks,
    ),
    Metric(
        "sim__l1_invalidations.sum",
        "lines",
        "Lines that the L2 took from L1s, under a coherence protocol.",
        lambda k: k.sm.l1_invalidations,
    ),
    Metric(
        "sim__l1_reservation_fails.sum",
        "cycles",
        "Cycles in which a transaction waited for a line or an MSHR entry of the L1.",
        lambda k: k.sm.l1_reservation_fails,
    ),
    Metric(
        "sim__l1_line_stalls.sum",
        "cycles",
        "Of these, cycles in which it waited for a line: every way of the set waited for a fill.",
        lambda k: k.sm.l1_line_stalls,
    ),
    Metric(
        "sim__l1_queue_stalls.sum",
        "cycles",
        "Cycles in which a transaction waited for room in the miss queue of the L1.",
        lambda k: k.sm.l1_queue_stalls,
    ),
    Metric(
        "sim__l1_fail_line.sum",
        "refusals",
        "Refusals of the L1 because every way of the set waited for a fill.",
        lambda k: k.sm.l1_fail_line,
    ),
    Metric(
        "sim__l1_fail_mshr.sum",
        "refusals",
        "Refusals of the L1 because no MSHR entry was free.",
        lambda k: k.sm.l1_fail_mshr,
    ),
    Metric(
        "sim__l1_waited.sum",
        "requests",
        "Reads that waited for an MSHR entry of the L1 while others went on.",
        lambda k: k.sm.l1_waited,
    ),
    Metric(
        "sim__l1_fail_merge.sum",
        "refusals",
        "Refusals of the L1 because an MSHR entry could hold no more requests.",
        lambda k: k.sm.l1_fail_merge,
    ),
    Metric(
        "sim__l1_fail_queue.sum",
        "refusals",
        "Refusals of the L1 because the miss queue was full.",
        lambda k: k.sm.l1_fail_queue,
    ),
    Metric(
        "sim__l1_miss_latency.sum",
        "cycles",
        "Core cycles from a request for data to its reply, summed; not of prefetches.",
        lambda k: k.sm.miss_latency,
    ),
    Metric(
        "sim__l1_prefetches.sum",
        "lines",
        "Lines that a prefetcher asked the L2 for.",
        lambda k: k.sm.l1_prefetches,
    ),
    Metric(
        "sim__l1_prefetch_useful.sum",
        "lines",
        "Of these, here when the first load came.",
        lambda k: k.sm.l1_prefetch_useful,
    ),
    Metric(
        "sim__l1_prefetch_late.sum",
        "lines",
        "Of these, on their way when the first load came.",
        lambda k: k.sm.l1_prefetch_late,
    ),
    Metric(
        "sim__l1_prefetch_useless.sum",
        "lines",
        "Of these, gone before any load came.",
        lambda k: k.sm.l1_prefetch_useless,
    ),
    Metric(
        "sim__l1_prefetch_redundant.sum",
        "lines",
        "Lines that it wanted and that were here or on their way.",
        lambda k: k.sm.l1_prefetch_redundant,
    ),
    Metric(
        "sim__l1_prefetch_dropped.sum",
        "lines",
        "Lines that it wanted and that found no room: queue, MSHRs, or a way.",
        lambda k: k.sm.l1_prefetch_dropped,
    ),
    Metric(
        "sim__l1_prefetch_accuracy.pct",
        "%",
        "Useful and late ones of all lines that a prefetcher asked the L2 for.",
        lambda k: percent(k.sm.l1_prefetch_useful + k.sm.l1_prefetch_late, k.sm.l1_prefetches),
    ),
)

SHARED = (
    Metric(
        "sim__shared_inst.sum",
        "instructions",
        "Shared-memory warp instructions.",
        lambda k: k.sm.shared_accesses,
    ),
    Metric(
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "wavefronts",
        "Passes over the banks of shared memory.",
        lambda k: k.sm.shared_wavefronts,
    ),
    Metric(
        "sim__shared_wavefronts_extra.sum",
        "wavefronts",
        "Passes beyond one an instruction: bank conflicts, and accesses wider than 4 bytes.",
        lambda k: k.sm.shared_wavefronts - k.sm.shared_accesses,
    ),
    Metric(
        "sim__shared_wavefronts_per_inst.ratio",
        "wavefronts",
        "Passes of a shared-memory instruction: as many as lanes where all meet in one bank.",
        lambda k: ratio(k.sm.shared_wavefronts, k.sm.shared_accesses),
    ),
    Metric(
        "sim__constant_accesses.sum",
        "accesses",
        "Constant loads that the constant cache looked up.",
        lambda k: k.sm.constant_accesses,
    ),
    Metric(
        "sim__constant_hit_rate.pct",
        "%",
        "Constant-cache hits.",
        lambda k: percent(k.sm.constant_accesses - k.sm.constant_misses, k.sm.constant_accesses),
    ),
    Metric(
        "sim__constant_operands.sum",
        "accesses",
        "Constant operands of arithmetic that the sub-cores' caches looked up.",
        lambda k: k.sm.operand_constants,
    ),
    Metric(
        "sim__constant_operand_misses.sum",
        "lines",
        "Lines that they lacked.",
        lambda k: k.sm.operand_constant_misses,
    ),
    Metric(
        "sim__constant_operand_hit_rate.pct",
        "%",
        "Constant operands whose line was there, or on its way.",
        lambda k: percent(
            k.sm.operand_constants - k.sm.operand_constant_misses, k.sm.operand_constants
        ),
    ),
)


def l1_sectors(k: Facts) -> int:
    """Sectors of loads and stores, global and local."""
    reads = k.sm.l1_global_read_sectors + k.sm.l1_local_read_sectors
    return reads + k.sm.l1_global_write_sectors + k.sm.l1_local_write_sectors


def l1_hits(k: Facts) -> int:
    """Of these, found in the L1."""
    reads = k.sm.l1_global_read_hits + k.sm.l1_local_read_hits
    return reads + k.sm.l1_global_write_hits + k.sm.l1_local_write_hits
