"""The memory instructions of a chunk: how each is predicted, and where its residuals lie."""

from enum import IntEnum

import numpy as np

LANES = 64
NONE = -1


class Kind(IntEnum):
    """How the addresses of one memory instruction are predicted."""

    GRID = 0  # from the executions before; within a list from the lane before
    ORIGIN = 1  # from one constant
    REFERENCE = 2  # lane by lane from another instruction of the warp; else as GRID


STORED = (
    "instruction",  # which memory instruction of the code, in code order
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


def blank_rows(table) -> np.ndarray:
    """Rows ready for a walk; ``table`` holds one sequence for each name of :data:`STORED`."""
    rows = np.zeros(len(table[0]), ROW).view(np.recarray)
    for name, column in zip(STORED, table):
        rows[name] = column
    rows["last"] = rows["origin"]
    for name in ("warp", "cta", "lane_warp", "slot_start"):
        rows[name] = NONE
    rows["referred"][rows["reference"][rows["kind"] == Kind.REFERENCE]] = 1
    return rows


def place_streams(rows: np.ndarray) -> np.ndarray:
    """Set the cursors of ``rows``; returns the lengths of the streams in the order they lie in.

    First which records are lists, for all rows; then strides; first addresses; lanes.
    """
    records, lists = rows["records"], rows["lists"]
    lengths = np.concatenate([records, records - lists, records, rows["lanes"]])
    begins = np.cumsum(lengths) - lengths
    for name, begin in zip(CURSORS, begins.reshape(len(CURSORS), -1)):
        rows[name] = begin
    return lengths


def finished(rows: np.ndarray, lengths: np.ndarray) -> bool:
    """Whether a walk used every residual of every stream."""
    return np.array_equal(np.concatenate([rows[n] for n in CURSORS]), np.cumsum(lengths))
