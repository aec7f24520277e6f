"""What the jitted readers share: the state of a parse, its output arrays, and its outcomes."""

import numpy as np

from lockstep._jit import Context, Records, as_records
from lockstep.workload import ADDRESS, RUN, WARP

STATE = np.dtype(
    [
        ("position", "i8"),  # of the line to parse next
        ("end", "i8"),  # of the text in the buffer; the byte before it is a newline
        ("line", "i8"),  # number of that line
        ("fault", "i8"),  # position of the word that is wrong
        ("found", "i8"),  # a number for the message
        ("phase", "i8"),  # OUTSIDE to LINES
        # The layout of an instruction line.
        ("version", "i8"),  # of the tracer
        ("lineinfo", "i8"),  # 1: source line numbers are in the text
        ("prefix", "i8"),  # numbers before them: 0, 4 (x y z warp) or 11 (and the cluster's)
        ("raw", "i8"),  # 1: an LDGSTS is two lines
        # The block being read.
        ("grid", "i8", (3,)),
        ("place", "i8", (4,)),  # block x, y, z and warp
        ("warps", "i8"),  # in a block
        ("last_lanes", "i8"),  # lanes of its last warp, as a mask
        ("lanes", "i8"),  # of this warp
        ("warps_seen", "i8"),
        ("declared", "i8"),  # instructions of the warp, as its header says
        ("instructions", "i8"),  # of the warp, so far
        ("threads", "i8"),  # the same, times active lanes
        ("first_run", "i8"),  # of the warp
        ("first_address", "i8"),
        ("runs", "i8"),  # of the block, so far
        ("addresses", "i8"),
        ("pool", "i8"),
        # Static instructions.
        ("last", "i8"),  # variant of the line before
        ("pc", "i8"),
        ("head", "i8"),
        ("head_start", "i8"),  # where the line's unknown head lies in the buffer
        ("head_end", "i8"),
        ("immediate", "i8"),
        ("pair", "i8"),  # 1 between the two lines of an LDGSTS
        ("pair_pc", "i8"),
    ]
)

HEAD = np.dtype(
    [
        ("pc", "i8"),
        ("start", "i8"),  # of its text in Parser.text
        ("length", "i8"),
        ("kind", "i8"),  # PLAIN, ADDRESSED or BULK
        ("ldgsts", "i8"),
        ("first", "i8"),  # its first variant, or 0
    ]
)
"""The part of a line that is the same every time the instruction at ``pc`` executes."""

VARIANT = np.dtype(
    [
        ("head", "i8"),
        ("immediate", "i8"),
        ("static", "i8"),  # index in Code
        ("addressed", "i8"),  # 1: takes an address record
        ("next", "i8"),  # another variant of the same head, or 0
        ("successor", "i8"),  # the variant that followed last time: the guess for the next line
    ]
)
"""A head with one value of the immediate: a static instruction. Number 0 is none."""

PLAIN, ADDRESSED, BULK = 0, 1, 2

# Phases. In LINES there are instruction lines only: block and warp are known.
OUTSIDE, BEGUN, NAMED, WARPED, BODY, LINES = range(6)

# Outcomes of a call; from FIRST_PROBLEM on, the text is wrong (problems.py says how).
MORE, DONE_LINE, BLOCK_DONE, GROW, NEW_HEAD, NEW_VARIANT = range(6)
FIRST_PROBLEM = 16
(
    BAD_PREFIX,
    WRONG_PLACE,
    BAD_LINEINFO,
    BAD_PC,
    BAD_MASK,
    MASK_OUTSIDE,
    BAD_HEAD,
    BAD_MODE,
    BAD_ADDRESS,
    BAD_STRIDE,
    SPLIT_STRIDE,
    BAD_DELTA,
    BAD_BULK,
    BAD_IMMEDIATE,
    BAD_VALUES,
    EXTRA_WORD,
    LONE_PAIR,
    STRAY_LINE,
    BAD_BLOCK,
    BLOCK_RANGE,
    BAD_CLUSTER,
    BAD_WARP,
    WARP_RANGE,
    WARP_TWICE,
    WARPS_MISSING,
    BAD_COUNT,
    FEW_LINES,
    EXTRA_LINE,
) = range(FIRST_PROBLEM, FIRST_PROBLEM + 28)


class Parser(Context):
    """State, static instructions and output of one pass over a kernel's text."""

    state: Records  # STATE, one
    heads: Records  # HEAD
    variants: Records  # VARIANT
    text: np.ndarray  # uint8, of all heads
    slots: np.ndarray  # int64, hash table: number of a head, or 0; its length is a power of two
    runs: Records  # RUN
    addresses: Records  # ADDRESS
    pool: np.ndarray  # int64
    warps: Records  # WARP, one for each warp of a block


def records(count: int, dtype: np.dtype) -> Records:
    """``count`` zeroed records."""
    return as_records(np.zeros(count, dtype))


def output(warps: int) -> dict[str, np.ndarray]:
    """Output arrays of a parser, small; they grow when a block needs more."""
    return {
        "runs": records(1024, RUN),
        "addresses": records(1024, ADDRESS),
        "pool": np.zeros(4096, np.int64),
        "warps": records(warps, WARP),
    }
