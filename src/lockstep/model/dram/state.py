"""State of the DRAM channels: a few arrays of records.

Everything counts in command clocks ("ticks"). ``controller.build`` fills it; the other files of
this folder work on it: ``timing`` (which command may come when), ``queue`` (who waits),
``scheduler`` (who is next), ``refresh`` and ``controller`` (what happens in a tick).
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.choices import DramScheduler, numbered
from lockstep.model.clock import CLOCK
from lockstep.model.dram.address_map import MAP

FRFCFS = 0
FCFS = 1
USER = 2
BANK_ROUND_ROBIN = 3
FIXED = 4
SCHEDULERS = numbered(DramScheduler, globals()) | {"user": USER}

# Constants that functions are called with are of NumPy's type: Numba compiles a function once for
# each constant of Python's type.
READ = np.int64(0)
WRITE = np.int64(1)
CLOSED = np.int64(-1 << 62)  # row of a bank without an open row; no address is in it
NONE = np.int64(-1)  # index of no slot

HIT = 0  # what a request found: its row open, its bank closed, another row open
MISS = 1
CONFLICT = 2

SCOPES = 3
COMMANDS = 6
WIDTH = 8  # commands, rounded up so that LLVM uses whole vectors

SPEC = np.dtype(
    [
        ("clock", CLOCK),  # the command clock
        ("banks", "i8"),
        ("units", "i8"),  # a channel: banks + bank groups + 1
        ("capacity", "i8", (2,)),  # entries of the read and the write queue
        ("high", "i8"),  # writes at which they take over
        ("low", "i8"),  # writes at which reads resume
        ("idle_writes", "i8"),  # 1: writes also go when no read waits
        ("bursts", "i8"),  # column commands a request takes
        ("burst_clocks", "i8"),  # nBL
        ("burst_bytes", "i8"),
        ("data_clocks", "i8"),  # nCL + nBL: read command to the last of its data; FIXED: all of it
        ("row_accesses", "i8"),  # columns of an open row before older requests; 0 = any number
        ("return_cycles", "i8"),  # core cycles from there to the L2
        ("far_cycles", "i8"),  # ... and on to a slice on another side
        ("scheduler", "i8"),
        ("closed_page", "i8"),
        ("dual_bus", "i8"),
        ("activate_window", "i8"),  # nFAW, 0 = none
        ("refresh_interval", "i8"),  # between two refresh commands, 0 = none
        ("refresh_banks", "i8"),  # commands until all banks are refreshed: 1, or all banks
        ("refresh_gap", "i8"),  # at least this long from a refresh until the next is due
        ("refresh_clocks", "i8"),  # an upper bound of what one refresh takes
        ("shown", "i8"),  # requests a channel shows to a user's scheduler
        ("log", "i8"),  # commands that the log of a channel holds, 0 = none is kept
        ("map", MAP),
        ("delays", "i8", (SCOPES, COMMANDS, WIDTH)),  # scope, earlier and later command
    ]
)

CHANNEL = np.dtype(
    [
        ("next", "i8"),  # tick of the next thing to do
        ("waiting", "i8", (2,)),  # entries in the read and the write queue
        ("oldest", "i8", (2,)),  # slots, by age, of either queue
        ("newest", "i8", (2,)),
        ("freed", "i8", (2,)),  # 1 after an entry of either queue became free
        ("draining", "i8"),  # 1 while writes go
        ("free", "i8"),  # first free slot
        ("age", "i8"),  # requests so far
        ("clock", "i8"),  # tick up to which dram_clocks is counted
        ("counted", "i8"),  # tick up to which queue lengths are counted
        ("direction", "i8"),  # of the last column command, or -1
        ("turn", "i8"),  # bank that is first when banks take turns
        ("refresh_due", "i8"),
        ("refresh_bank", "i8"),  # the next to be refreshed
        ("refreshing", "i8"),  # 1 from due to the command
        ("activates", "i8", (4,)),  # ticks of the last four
        ("activated", "i8"),  # activates so far
        ("logged", "i8"),  # commands in the log
    ]
)

UNIT = np.dtype(
    [
        ("ready", "i8", (WIDTH,)),  # earliest tick of each command, by this unit's constraints
        # the rest: banks only
        ("group", "i4"),  # the unit of its bank group
        ("columns", "i4"),  # column commands to the open row
        ("row", "i8"),  # open row, or CLOSED
        ("blocked", "i4"),  # 1 while a refresh of it is due
        ("spent", "i4"),  # 1: the row had as many columns as it may before older requests
        ("mark", "i8"),  # tick at which FCFS last gave it to a request
        # its lanes: the requests for it of either direction, by age
        ("count", "i8", (2,)),
        ("head", "i8", (2,)),  # oldest slot
        ("tail", "i8", (2,)),
        ("hit", "i8", (2,)),  # oldest slot for the open row, or NONE
        ("head_age", "i8", (2,)),
        ("hit_age", "i8", (2,)),
    ]
)
"""A bank, a bank group or a channel; those of a channel follow each other in this order."""

SLOT = np.dtype(
    [
        ("age", "i8"),  # number of the request in its channel
        ("row", "i8"),
        ("ready", "i8"),  # core cycle at which its data is at the slice
        ("next", "i4"),  # in the lane, the list of free slots, or of data for a slice
        ("previous", "i4"),
        ("newer", "i4"),  # in the queue of its direction
        ("older", "i4"),
        ("slice", "i4"),
        ("tag_row", "i4"),  # where its data goes
        ("way", "i4"),
        ("bank", "i4"),
        ("bursts", "i2"),  # column commands to go
        ("ahead", "i2"),  # 1: it is a prefetch's
        ("write", "u1"),
        ("found", "u1"),  # HIT, MISS or CONFLICT
        ("sectors", "u1"),
        ("far", "u1"),  # 1: the slice is on another side; with it a cache line of the host
    ]
)
"""One request, from the queue until its data is taken."""

REQUEST = np.dtype(
    [
        ("bank", "i8"),
        ("row", "i8"),
        ("open_row", "i8"),  # of its bank, or -1
        ("ready", "i8"),  # tick from which its next command may come
        ("age", "i8"),
        ("write", "i8"),
        ("slot", "i8"),  # not for policies
    ]
)
"""What a user's scheduler sees of a waiting request."""

COMMAND = np.dtype([("tick", "i8"), ("command", "i8"), ("bank", "i8"), ("row", "i8")])
"""One entry of the command log; bank -1 for a refresh of all banks."""


class Channels(Context):
    """State of all DRAM channels."""

    spec: Records  # SPEC, one
    channels: Records  # CHANNEL
    units: Records  # UNIT, channels x units
    at: np.ndarray  # int64, (channels x 2) x banks: when lanes may go on, as far as banks know
    slots: Records  # SLOT, a block a channel
    slices: Records  # the L2's SLICE records: where data goes
    shown: Records  # REQUEST, channels x shown: for a user's scheduler
    log: Records  # COMMAND, channels x log length
    counters: Records  # PARTITION_COUNTERS, one a channel
