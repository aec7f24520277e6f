"""The state of a launch that is being executed, shared by the scheduler and the runtime."""

from enum import IntEnum

import numpy as np

from lockstep._jit import Context
from lockstep.execution.checks.state import Checked
from lockstep.isa.instruction import MOST_THREADS, WARP_SIZE

BARRIERS = 16  # numbered barriers of a CTA
CLUSTER = BARRIERS  # number of the barrier of a cluster
WARPGROUP = CLUSTER + 1  # that of a CTA's first four warps; the next four have the next number
WARPGROUP_WARPS = 4
ALL_BARRIERS = WARPGROUP + MOST_THREADS // WARP_SIZE // WARPGROUP_WARPS

COURTESIES = 8  # times between two barriers that a warp gives way before it overtakes others
PATIENT = 1 << 6  # times that lanes which spin are believed to get somewhere
MOST_LEFT = 16  # notes of a warp about lanes that left a region


class Stop(IntEnum):
    """Why a run stopped."""

    DONE = 0  # nothing left to run
    TIME = 1  # the budget is used up
    SPACE = 2  # a stream buffer is full
    ENDED = 3  # streams are recorded, and those of several CTAs are complete
    HOST = 4  # a warp wants a service of Python
    FAULT = 5
    DEADLOCK = 6
    # The others never leave the scheduler.
    POLLING = 7  # all that is left waits for what others write
    CLUSTER = 8  # ... or for the other CTAs of the cluster
    COURTESY = 9  # a warp lets others read what it will write
    SLEEP = 10  # a warp sleeps


BARRIER_STATE = np.dtype(
    [
        ("arrived", "i8"),  # threads that arrived without waiting
        ("expected", "i8"),  # threads; 0 = all of the CTA
        ("reduces", "i8"),
        ("count", "i8"),  # threads whose predicate holds
        ("all", "i8"),
    ]
)

RUNNING = np.dtype(
    [
        ("place", "i8"),  # CTA place that runs now
        ("warp", "i8"),  # row of the warp that stopped
        ("places", "i8"),  # CTA places in use
        ("most_places", "i8"),
        ("next_cta", "i8"),  # in the order of clusters, and of ranks in each
        ("ctas", "i8"),
        ("recording", "i8"),
        ("register_bytes", "i8"),  # of one warp
        ("cleared_bytes", "i8"),
        ("entry", "i8"),
        ("threads", "i8"),  # in a CTA
        ("executed", "i8"),  # warp instructions of the whole launch
        ("forced", "i8"),  # times that lanes went on without those whom they waited for
        ("forced_at", "i8"),  # static index of where they first did
        ("ended", "i8"),  # CTAs whose streams are complete and not yet taken
        # Addresses of row 0, or place 0, of what the records of warps and CTAs point to.
        ("launch_address", "i8"),
        ("ctas_address", "i8"),
        ("warps_address", "i8"),
        ("registers_address", "i8"),
        ("scratch_address", "i8"),
        ("threads_address", "i8"),
        ("local_address", "i8"),
        ("shared_address", "i8"),
        ("shared_stride", "i8"),
        ("reserved_first", "i8"),  # bytes of a CTA's shared memory that are the system's
        ("reserved_behind", "i8"),
        ("granule", "i8"),  # log2 of the bytes of shared memory that have records of their own
    ]
)
"""Where the scheduler is."""


ENDED = np.dtype(
    [
        ("place", "i8"),
        ("linear", "i8"),
        ("ctaid_x", "i8"),
        ("ctaid_y", "i8"),
        ("ctaid_z", "i8"),
        ("stream", "i8"),  # address at which its stream ends
    ]
)
"""A CTA that has ended while streams are recorded."""

MOST_ENDED = 64  # CTAs whose streams Python takes at once: a call for each took as long as they


class Machine(Context):
    """Everything the scheduler works on; rows of warps are place * warps + index."""

    launch: np.ndarray  # LAUNCH [1]
    running: np.ndarray  # RUNNING [1]
    ctas: np.ndarray  # CTA [places]
    ended: np.ndarray  # ENDED [MOST_ENDED]
    warps: np.ndarray  # WARP [places * warps]
    group_block: np.ndarray  # int64 [places * warps, lanes], ascending
    group_lanes: np.ndarray  # int64, mask of each group
    group_state: np.ndarray  # int64: see groups.py
    left_of: np.ndarray  # int64 [places * warps, MOST_LEFT]: a region, as the mask of its lanes
    left_by: np.ndarray  # those of them that have left it
    barriers: np.ndarray  # BARRIER_STATE [places, ALL_BARRIERS]
    blocks: np.ndarray  # BLOCK
    functions: np.ndarray  # int64 address of each block's machine code; 0 = there is none yet
    times: np.ndarray  # int64, executions of each block
    lanes: np.ndarray  # int64, active lanes summed over them
    registers: np.ndarray  # int64 words of all register slots
    scratch: np.ndarray  # int64 [places * warps, scratch_words(lanes)]
    fault: np.ndarray  # FAULT [1]
    sites: np.ndarray  # SITE
    allocations: np.ndarray  # ALLOCATION, ascending by address, then unused ones
    known: np.ndarray  # int64 [1]: how many of them are used
    checked: Checked
