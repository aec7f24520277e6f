"""Masks of lanes: 64-bit words, of which lane 63 is the sign.

What shifts a one by a lane's number says so here: plain Python would go beyond 64 bits.
"""

import numpy as np

from lockstep._jit import inline

ONE, EVERYONE = np.int64(1), np.int64(-1)


@inline
def only(lane):
    """The mask of one lane."""
    return ONE << lane


@inline
def first_lanes(count):
    """The mask of the first lanes, one at least and 64 at most."""
    return EVERYONE ^ (EVERYONE << (count - 1) << 1)
