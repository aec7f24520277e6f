"""Records that generated code, the scheduler and the launcher share, field by field.

Generated code reads them at the offsets of these types, so their layout is written once, here.
All addresses are host addresses unless a field says otherwise.
"""

from enum import IntEnum

import numpy as np

MOST_LANES = 64  # of a warp: masks are 64-bit words
WAITED = 1 << 62  # in the stream: the phase of the barrier object at this address was over
ARGUMENTS = 10  # lane vectors of words that a host call may pass

LAUNCH = np.dtype(
    [
        ("parameters", "i8"),  # address of the kernel's parameter block
        ("parameter_bytes", "i8"),
        ("memory", "i8"),  # first address of device memory
        ("memory_bytes", "i8"),  # its capacity
        ("symbols", "i8"),  # address of the table of symbol addresses, i64 each
        ("sites", "i8"),  # address of the SITE table
        ("targets", "i8"),  # address of the table of blocks by instruction, i64 each
        ("target_count", "i8"),
        ("context", "i8"),  # what the runtime functions take as first argument
        ("check", "i8"),  # runtime: looks closely at an access outside the site's range
        ("fetch", "i8"),  # what makes the machine code of a block that has none yet
        ("counters", "i8"),  # address of the COUNTER table
        ("touched", "i8"),  # address of the TOUCHED records of device memory, ...
        ("touch_now", "i8"),  # ... the largest number of an access so far, ...
        ("touch_gone", "i8"),  # ... up to which what was touched is there no longer, ...
        ("touch_epoch", "i8"),  # ... the number from which on lines are counted, ...
        ("touch_count", "i8"),  # ... how many were touched since, ...
        ("touch_first", "i8"),  # ... the number before those of the launch, ...
        ("touch_base", "i8"),  # ... that before those of the warps of the CTA that began last, ...
        ("touch_wave", "i8"),  # ... how many CTAs begin together; 0 = nothing is noted, ...
        ("touch_length", "i8"),  # ... and how many numbers the accesses of these took
        ("ntid_x", "i8"),
        ("ntid_y", "i8"),
        ("ntid_z", "i8"),
        ("nctaid_x", "i8"),
        ("nctaid_y", "i8"),
        ("nctaid_z", "i8"),
        ("cluster_x", "i8"),  # CTAs in a cluster
        ("cluster_y", "i8"),
        ("cluster_z", "i8"),
        ("nclusterid_x", "i8"),  # clusters in the grid
        ("nclusterid_y", "i8"),
        ("nclusterid_z", "i8"),
        ("cluster_ctas", "i8"),  # CTAs in a cluster
        ("explicit_cluster", "i8"),  # 1 = the launch, or the kernel, asks for clusters
        ("tag", "i8"),  # what lies between the shared addresses of CTAs of neighbouring ranks
        ("grid_id", "i8"),
        ("shared_bytes", "i8"),  # of one CTA
        ("shared_limit", "i8"),  # ... that accesses may reach
        ("dynamic_shared_bytes", "i8"),
        ("local_bytes", "i8"),  # of one thread
        ("warps", "i8"),  # in a CTA
        ("sms", "i8"),
        ("clock", "i8"),  # instructions, and sleep of all; the model's cycle in at-issue mode
        ("nanoseconds", "i8"),  # global timer
        ("workspace", "i8"),  # of a cooperative launch: see Geometry
        # Of launches that are checked, else 0: see checks.
        ("sink", "i8"),  # address of SINK_BYTES for each lane, where wrong accesses go
        ("unwritten", "i8"),  # runtime: finds out which bytes nobody wrote
        ("watch", "i8"),  # runtime: compares accesses to shared memory with those before
        ("collide", "i8"),  # runtime: finds out who wrote what lanes have lost
        ("order", "i8"),  # runtime: what a warp passes on to others, or takes over
        ("fenced", "i8"),  # 1 = somebody has executed a fence
        ("races", "i8"),  # where the records of an access to the host's address 0 would be
        ("race_plane", "i8"),  # bytes from one plane of records to the next
        ("lanes", "i8"),  # of a warp
    ]
)
"""What all CTAs of a launch share."""

CTA = np.dtype(
    [
        ("ctaid_x", "i8"),
        ("ctaid_y", "i8"),
        ("ctaid_z", "i8"),
        ("linear", "i8"),  # index in the grid, x fastest; -1 = it has ended, or never began
        ("clusterid_x", "i8"),
        ("clusterid_y", "i8"),
        ("clusterid_z", "i8"),
        ("cluster_ctaid_x", "i8"),
        ("cluster_ctaid_y", "i8"),
        ("cluster_ctaid_z", "i8"),
        ("rank", "i8"),  # in its cluster; CTAs of a cluster are in successive places
        ("tag", "i8"),  # address of its shared memory in the shared window of its cluster
        ("window", "i8"),  # generic address of its shared memory
        ("shared", "i8"),  # address of its shared memory
        ("stream", "i8"),  # where the next stream entry goes
        ("stream_end", "i8"),
        ("alive", "i8"),  # warps that have not ended
        ("barriers", "i8"),  # bit mask of the barriers that somebody has arrived at
        ("sm", "i8"),
    ]
)
"""One CTA that is being executed."""

WARP = np.dtype(
    [
        ("registers", "i8"),  # address of the register slots
        ("launch", "i8"),  # address of its LAUNCH record
        ("cta", "i8"),  # address of its CTA record
        ("threads", "i8"),  # address of its tid.x, tid.y, tid.z vectors (i32)
        ("local", "i8"),  # address of lane 0's local memory
        ("index", "i8"),  # warp number in the CTA
        ("number", "i8"),  # row of the warp in the state arrays
        ("alive", "i8"),  # lanes that have not exited
        ("scratch", "i8"),  # address of its scratch words, for per-lane arguments and results
        ("barrier_lanes", "i8"),  # the predicate of barrier.red
        ("clustered", "i8"),  # lanes that have arrived at the cluster's barrier
        ("host_call", "i8"),  # which service a host-call block asks for, ...
        ("host_lanes", "i8"),  # ... for which lanes, ...
        ("host_instruction", "i8"),  # ... and the static index of the call
        ("sleep", "i8"),  # nanoseconds that it is to sleep
        ("wakes", "i8"),  # clock until which it sleeps
        ("spins", "i8"),  # turns of any loop since the last one that gave way
        ("polls", "i8"),  # those of loops that may wait for others
        ("state", "i8"),  # hash of its registers when its lanes looped in vain, ...
        ("patience", "i8"),  # ... and how often they may do so yet
        # The loop in which it looked last whether it may go on: its first and last block, lanes,
        # the hash of its registers when a turn began, and how many turns changed nothing.
        ("look_at", "i8"),
        ("look_to", "i8"),
        ("look_lanes", "i8"),
        ("look_state", "i8"),
        ("looks", "i8"),
        ("hopes", "i8"),  # turns for which they were believed to wait for other warps
        ("turn", "i8"),  # block from which the next group is chosen, while others get a turn
        ("turns_left", "i8"),
        ("groups", "i8"),  # how many groups of lanes wait at different blocks
        ("courtesies", "i8"),  # times until the next barrier that it lets others read first
        ("left", "i8"),  # notes about lanes that left a region where paths join
        ("waiting", "i8"),  # 1 = all its groups are parked at barriers
        ("in_vain", "i8"),  # groups that gave way one after the other
        ("touches", "i8"),  # its accesses that were noted: see memory.touched
        # Where races are looked for: see checks/clocks.py.
        ("stamp", "i8"),  # its clock and number, as records of accesses have them
        ("settled", "i8"),  # smaller records of its CTA are ordered before what it does now
        ("mask", "i8"),  # lanes that executed the last block
    ]
)
"""One warp that is being executed."""

SITE = np.dtype([("low", "i8"), ("span", "i8"), ("space", "i8"), ("last", "i8")])
"""The range of the allocation that an instruction accessed last, and its first lane's address.

``space`` is a Window.
"""

ALLOCATION = np.dtype([("address", "i8"), ("bytes", "i8")])
"""A piece of device memory that the program may access."""


class Memory(IntEnum):
    """The memories whose accesses are counted."""

    GLOBAL = 0
    SHARED = 1
    LOCAL = 2


COUNTER = np.dtype(
    [
        # With a guard: executions with lanes for which it held, and those lanes.
        ("times", "i8"),
        ("lanes", "i8"),
        # With generic addresses: executions and lanes, by memory.
        ("requests", "i8", (len(Memory),)),
        ("threads", "i8", (len(Memory),)),
        ("sectors", "i8", (len(Memory),)),
    ]
)
"""What one static instruction counts for a profile; the rest follows from its block."""


class Window(IntEnum):
    """What an instruction's addresses are relative to."""

    GLOBAL = 0  # 64-bit addresses; those of the windows below are translated
    SHARED = 1
    LOCAL = 2
    PARAMETER = 3
    CLUSTER = 4  # shared memory of any CTA of the cluster
    TEXTURE = 5  # no accesses: those that come to the runtime have no texture at their address
    SURFACE = 6  # likewise: lanes outside a surface
    TENSOR_MAP = 7  # likewise: no tensor map for the instruction
    BUFFER = 8  # likewise: lanes outside a buffer, at offsets in it; they do not end the launch


FAULT = np.dtype(
    [
        ("kind", "i8"),
        ("warp", "i8"),
        ("lane", "i8"),
        ("site", "i8"),  # memory site, if the fault is an access
        ("instruction", "i8"),  # static index, if it is not
        ("address", "i8"),
        ("bytes", "i8"),
        ("cta", "i8"),
        ("raised", "i8"),  # 1 = a block has returned FAULTED
    ]
)
"""Why a launch ended; kinds are in ``faults.Fault``."""

# Generic addresses of shared memory, local memory and kernel parameters; no mapping of the process
# lies there.
SHARED_WINDOW = 1 << 40
LOCAL_WINDOW = 2 << 40
PARAMETER_WINDOW = 3 << 40
WINDOW_BYTES = 1 << 32
# Shared addresses of programs that know clusters: a CTA's rank from bit 24 on, then the offset, as
# in the machine code of sm_90. Accesses take them relative to their own CTA's.
TAG_SHIFT = 24
RANK_MASK = 0xFF
CODE_WINDOW = 4 << 40  # addresses of functions
FUNCTION_STEP = 16  # between them
SINK_BYTES = 128  # as many as one lane accesses at most
WORD_BYTES = 4  # the least that memory swaps
SHADOW = -(1 << 44)  # from a byte in device memory or a CTA's to what tells whether it was written
WRITTEN = 0xFF  # the byte there, else 0
SPANS = 1 << 32  # in the size of a check: more is accessed than the bytes that are looked at
ALIGNMENT_SHIFT = 33  # ... and from this bit on the alignment that is asked for; 0 = the size
FAULTED = -1  # what a block returns after FAULT was filled; or all lanes of a warp of MOST_LANES


def function_at(names, address):
    """The name with the address among those that functions of a list have, or ""."""
    place, rest = divmod(address - CODE_WINDOW, FUNCTION_STEP)
    return names[place - 1] if rest == 0 and 1 <= place <= len(names) else ""


def address_of(names, name):
    """The address of a function, by its place in a list of names: never null."""
    return CODE_WINDOW + FUNCTION_STEP * (names.index(name) + 1)


def result_word(lanes):
    """Of the scratch words of a warp of so many lanes: where results of waiting are."""
    return ARGUMENTS * lanes


def return_word(lanes):
    """The last argument's, of machine code: the pc to return to."""
    return (ARGUMENTS - 1) * lanes


def scratch_words(lanes):
    """How many scratch words a warp of so many lanes has."""
    return (ARGUMENTS + 1) * lanes
