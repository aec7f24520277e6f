"""The memory instructions of a chunk: how each is predicted, and where its residuals lie."""

from enum import IntEnum

import numpy as np

from lockstep._jit import jit
from lockstep.frontend.tracefile.columns import bounded, records_for_jit

LANES = 64  # bits of a mask
NONE = -1


class AddressKind(IntEnum):
    """How the addresses of one memory instruction are predicted."""

    GRID = 0  # from the executions before; within a list from the lane before
    ORIGIN = 1  # from one constant
    REFERENCE = 2  # lane by lane from another instruction of the warp; else as GRID


# For jitted code, where a member would be compiled as its type and not as its number.
ORIGIN, REFERENCE = int(AddressKind.ORIGIN), int(AddressKind.REFERENCE)


STORED = (
    "instruction",  # which memory instruction of the code, in code order; ascending
    "records",  # address records of it in this chunk
    "lists",  # how many of them are lists
    "lanes",  # addresses in those lists, without each first one
    "kind",
    "origin",  # the first prediction; with ORIGIN every one
    "gap",  # expected distance of neighbouring lanes in a list
    "reference",  # row of the instruction referred to
    "scale",  # its address is shifted left by this, or right if negative
)
"""The columns of the row table in a chunk."""

CURSORS = ("at_list", "at_stride", "at_first", "at_lane")
"""Where the next residual of each stream lies; in the order of the streams."""

ROW = np.dtype(
    [(name, "i8") for name in STORED + CURSORS]
    + [
        ("referred", "i8"),  # 1 = another row refers to this one
        # The grid predictor; record indices, NONE where there is none.
        ("warp", "i8"),  # warp and CTA of the last record
        ("cta", "i8"),
        ("start", "i8"),  # first record in that warp
        ("start_twin", "i8"),  # its twin: the same slot of an earlier CTA
        ("above", "i8"),  # first record in the last warp of this CTA, and its twin
        ("above_twin", "i8"),
        ("previous", "i8"),  # last record in that warp
        ("twin", "i8"),  # twin of the current record, and of the one before
        ("previous_twin", "i8"),
        ("distance", "i8"),  # from the twin's CTA to the current one, in linear index
        ("last", "i8"),  # last address, and the differences last seen
        ("step", "i8"),
        ("warp_step", "i8"),
        ("cta_slope", "i8"),
        ("stride", "i8"),
        ("offset", "i8"),  # address minus scaled reference, and whether one was seen
        ("offset_known", "i8"),
        ("lane_warp", "i8"),  # warp that the lanes below belong to
        ("lane_mask", "i8"),
        ("lane", "i8", (LANES,)),  # last address of each lane
        ("slot_start", "i8", (LANES,)),  # first record of the last CTA in each warp slot
        ("slot_index", "i8", (LANES,)),  # that CTA's linear index
    ]
)
"""One memory instruction of a chunk: its parameters, then the state of the walk."""


def blank_rows(table: np.ndarray) -> np.ndarray:
    """Rows ready for a walk; ``table`` holds one line for each name of :data:`STORED`."""
    words = np.zeros(bounded(table.shape[1], ROW) * ROW.itemsize // 8, np.int64)
    rows = records_for_jit(words.view(ROW))  # zeros of such records would take NumPy thrice as long
    _fill(rows, table)
    return rows


@jit
def _fill(rows, table):
    for r in range(len(rows)):
        row = rows[r]
        row.instruction, row.records, row.lists = table[0, r], table[1, r], table[2, r]
        row.lanes, row.kind, row.origin = table[3, r], table[4, r], table[5, r]
        row.gap, row.reference, row.scale = table[6, r], table[7, r], table[8, r]
        row.last = row.origin
        row.warp = row.cta = row.lane_warp = NONE
        row.slot_start[:] = NONE
        if row.kind == REFERENCE:
            rows[row.reference].referred = 1


def place_streams(rows: np.ndarray) -> np.ndarray:
    """Set the cursors of ``rows``; returns the lengths of the streams in the order they lie in.

    First which records are lists, for all rows; then strides; first addresses; lanes.
    """
    lengths = np.empty(len(CURSORS) * len(rows), np.int64)
    _place(rows, lengths)
    return lengths


@jit
def _place(rows, lengths):
    n, at = len(rows), np.int64(0)
    for r in range(n):
        row = rows[r]
        lengths[r] = lengths[2 * n + r] = row.records
        lengths[n + r], lengths[3 * n + r] = row.records - row.lists, row.lanes
    for i in range(len(lengths)):
        row = rows[i % n]
        stream = i // n
        if stream == 0:
            row.at_list = at
        elif stream == 1:
            row.at_stride = at
        elif stream == 2:
            row.at_first = at
        else:
            row.at_lane = at
        at += lengths[i]


@jit
def finished(rows, lengths) -> bool:
    """Whether a walk used every residual of every stream."""
    n, at = len(rows), np.int64(0)
    for i in range(len(lengths)):
        at += lengths[i]
        row = rows[i % n]
        cursors = (row.at_list, row.at_stride, row.at_first, row.at_lane)
        if cursors[i // n] != at:
            return False
    return True
