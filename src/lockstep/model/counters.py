"""Every event the model counts, named once; the metrics registry gives units and formulas.

One record an SM, one a memory partition and one a module. Counters only ever grow during a kernel.
"""

from enum import IntEnum

import numpy as np

from lockstep.gpus.modules import MOST_LINKS
from lockstep.isa.instruction import OpClass


class Stall(IntEnum):
    """What a warp scheduler did in a cycle: it issued, or the main reason why it did not.

    Exactly one is counted for each scheduler and cycle while the SM has a resident CTA.
    """

    ISSUED = 0
    NO_WARP = 1  # no warp of this sub-core is resident and unfinished
    FETCH = 2  # instruction cache miss, or refill after a branch
    SCOREBOARD = 3  # a source or destination waits for a fixed-latency result
    LONG_SCOREBOARD = 4  # ... for a global, local or texture access
    SHORT_SCOREBOARD = 5  # ... for shared memory, constant load, special function or shuffle
    WAIT = 6  # the compiler's stall count, or its wait mask on a fixed-latency barrier
    UNIT_BUSY = 7  # the execution unit still starts the instruction before
    OPERANDS = 8  # register read ports or collectors are taken
    MEMORY_QUEUE = 9  # the memory pipeline takes no more instructions
    BARRIER = 10
    FENCE = 11  # a fence, or an exit, waits for outstanding memory operations
    GROUP = 12  # waits for a group of asynchronous copies
    SLEEP = 13
    IMC_MISS = 14  # "immediate constant cache miss": a constant operand is not in the sub-core


N_OPS = len(OpClass)
N_STALLS = len(Stall)

_L1 = (
    # L1 sectors by space and direction; accesses = hits + pending + misses
    "l1_global_read_sectors",
    "l1_global_read_hits",
    "l1_global_read_pending",  # merged with a miss in flight
    "l1_global_write_sectors",
    "l1_global_write_hits",
    "l1_local_read_sectors",
    "l1_local_read_hits",
    "l1_local_read_pending",
    "l1_local_write_sectors",
    "l1_local_write_hits",
    "l1_bypass_sectors",  # reads that the L1 was told not to cache (also counted above)
    "l1_atomic_sectors",  # sectors of atomics and reductions sent to the L2
    "l1_fail_line",  # refusals because every way of the set waits for a fill
    "l1_fail_mshr",  # ... because no MSHR entry was free
    "l1_waited",  # reads that waited for an MSHR entry while others went on
    "l1_fail_merge",  # ... because the entry has no room for another request
    "l1_fail_queue",  # ... because the miss queue is full
    "l1_evictions",
    # with a coherence protocol
    "l1_writebacks",  # dirty lines sent to the L2: evicted, or asked for
    "l1_invalidations",  # lines that the L2 took away
    # lines that a prefetcher asked for: issued = useful + late + useless + what is still unused
    "l1_prefetches",  # asked of the L2
    "l1_prefetch_useful",  # ... that a load found here
    "l1_prefetch_late",  # ... that a load found on their way
    "l1_prefetch_useless",  # ... that left before any load came
    "l1_prefetch_redundant",  # not asked for: here, or on their way
    "l1_prefetch_dropped",  # not asked for: no room in the queue, no MSHR entry, no way
)

_SM_SCALARS = (
    "active_cycles",  # cycles with a resident CTA
    "warp_cycles",  # resident, unfinished warps summed over cycles
    "warp_instructions",
    "thread_instructions",
    "ctas",  # CTAs that finished
    "l0i_accesses",  # instruction cache lines looked up
    "l0i_misses",  # ... in neither the L0 nor its stream buffer
    "l1i_misses",  # in the L1 cache of instructions and constants
    "operand_conflicts",  # cycles that register read ports delayed an instruction
    "write_conflicts",  # cycles that results of variable latency waited for a bank's write port
    "memory_instructions",  # that access memory with at least one active lane
    "shared_accesses",  # shared-memory instructions
    "shared_wavefronts",  # passes over the banks that they took
    "constant_accesses",
    "constant_misses",
    "operand_constants",  # constant operands that issue looked up
    "operand_constant_misses",  # ... of lines that nobody had asked for
    "texture_requests",
    "operations",  # of compute units: active lanes of vector instructions, one of each other
    # ... lanes' requests to lines, by what became of them where ``vmu.ports`` says that there is a
    # queue: accesses of their own; joined to one; of these, to one that another instruction began
    "vmu_load_requests",
    "vmu_load_accesses",
    "vmu_load_merged",
    "vmu_store_requests",  # stores and atomics
    "vmu_store_accesses",
    "vmu_store_merged",
    "buffered_cycles",  # ... entries of the vector memory buffer summed over cycles
    "requests_global",  # L1 requests: instructions that reach the L1, by space
    "requests_local",
    "transactions",  # lines that the coalescer made of them
    *_L1,
    "bulk_read_sectors",  # that bulk copies asked the L2 for
    "bulk_write_sectors",  # ... and sent there
    "l1_reservation_fails",  # cycles in which a transaction waited for a line or an MSHR entry
    "l1_line_stalls",  # of these, cycles in which it waited for a line
    "l1_queue_stalls",  # cycles in which it waited for room in the miss queue
    "noc_requests",  # messages sent to the L2
    "noc_request_flits",
    # of these messages, those to the memory of other GPUs, and what they ask for or bring
    "peer_requests",
    "peer_read_sectors",
    "peer_write_sectors",
    "peer_atomic_sectors",
    "noc_request_stalls",  # cycles in which a request waited for a credit, or for its page
    "noc_replies",
    "noc_reply_flits",
    "miss_latency",  # cycles from request to reply, summed over reads
    "nacks",
)

_PARTITION_SCALARS = (
    # L2 sectors; accesses = hits + pending + misses
    "l2_read_sectors",
    "l2_read_hits",
    "l2_read_pending",
    "l2_write_sectors",
    "l2_write_hits",
    "l2_write_pending",
    "l2_atomic_sectors",
    "l2_atomic_hits",
    "l2_atomic_pending",
    "l2_requests",
    "l2_joined",  # reads that joined the one of a neighbour, and are no requests
    "l2_fills",  # sectors read from DRAM into the L2
    "l2_crossings",  # sectors that came to a slice from another side
    "l2_partial_fills",  # of these, for sectors that were written in part before
    "l2_writebacks",  # dirty sectors evicted
    "l2_evictions",  # lines evicted
    # lines that a prefetcher asked for, as of the L1
    "l2_prefetches",  # asked of the DRAM
    "l2_prefetch_useful",
    "l2_prefetch_late",
    "l2_prefetch_useless",
    "l2_prefetch_redundant",
    "l2_prefetch_dropped",
    "l2_stalls",  # slice-cycles with a request that could not proceed
    "l2_stall_mshr",
    "l2_stall_line",
    "l2_stall_dram_queue",
    "l2_stall_reply",  # no credit on the reply link
    "l2_nacks",
    "l2_lock_nacks",  # ... because the line's directory entry was locked
    "l2_forwards",  # messages of the directory to L1s that have a line
    "l2_busy",  # slice-cycles (L2 clock) in which the data port moved something
    "l2_atomic_busy",  # ... in which it updated words for atomic operations
    "copy_sectors",  # sectors that host copies left in the L2
    "dram_reads",  # bursts
    "dram_writes",
    "dram_read_bytes",
    "dram_write_bytes",
    "dram_row_hits",  # column commands that found their row open
    "dram_row_misses",  # ... that needed an activate of a closed bank
    "dram_row_conflicts",  # ... that needed a precharge first
    "dram_activates",
    "dram_precharges",
    "dram_refreshes",
    "dram_bus_busy",  # command clocks in which the data bus moved something
    "dram_clocks",  # command clocks elapsed
    "dram_read_queue",  # entries summed over command clocks with anything queued
    "dram_write_queue",
    "dram_turnarounds",  # switches of the data bus between reads and writes
)

SM_COUNTERS = np.dtype(
    [(name, "i8") for name in _SM_SCALARS]
    + [("issued", "i8", (N_OPS,)), ("stalls", "i8", (N_STALLS,))]
)
"""One SM. ``issued[OpClass]`` counts warp instructions, ``stalls[Stall]`` scheduler-cycles."""

L1_COUNTERS = np.dtype([(name, "i8") for name in _L1])
"""What an L1 counts by itself, for an owner that has no other record with these fields."""

PARTITION_COUNTERS = np.dtype([(name, "i8") for name in _PARTITION_SCALARS])
"""One memory partition: its L2 slices and its DRAM channel."""

MODULE_COUNTERS = np.dtype(
    [
        ("requests", "i8"),  # of its SMs to partitions of other modules
        ("replies", "i8"),  # of its partitions to SMs of other modules
        ("bytes", "i8", (MOST_LINKS,)),  # by link, headers included
        ("messages", "i8", (MOST_LINKS,)),
        ("waited", "i8", (MOST_LINKS,)),  # cycles that messages waited for a link
    ]
)
"""A module of a GPU that has several: its links to others."""
