"""The state of a launch that is checked, beside that of every launch."""

import functools

import numpy as np

from lockstep._jit import Context, as_records
from lockstep.execution.checks.record import FINDING

PLANES = 3  # of records of accesses: the last write, the last read, that of another warp before
MEETINGS = 64  # barrier objects by their addresses; what shares a row is ordered, too
FENCES = MEETINGS  # the row of what fences passed on


class Checked(Context):
    """Without elements where nothing is checked."""

    findings: np.ndarray  # record.FINDING
    found: np.ndarray  # int64 [2]: how many there are, and for how many there was no room
    written: np.ndarray  # uint8 [places * stride of shared memory]: state.WRITTEN, or 0
    races: np.ndarray  # int64 [PLANES, granules of shared memory]: see races.py
    clocks: np.ndarray  # int64 [rows, warps of a cluster]: see clocks.py
    arrivals: np.ndarray  # int64 [places, barriers, warps of a cluster]
    meetings: np.ndarray  # int64 [places, MEETINGS + 1, warps of a cluster]


@functools.cache
def unchecked() -> Checked:
    """The state of launches that are not checked."""
    return Checked(
        findings=as_records(np.zeros(0, FINDING)),
        found=np.zeros(2, np.int64),
        written=np.zeros(0, np.uint8),
        races=np.zeros((PLANES, 0), np.int64),
        clocks=np.zeros((0, 0), np.int64),
        arrivals=np.zeros((0, 0, 0), np.int64),
        meetings=np.zeros((0, 0, 0), np.int64),
    )
