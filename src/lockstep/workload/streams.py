"""Streams: what each warp of a CTA executes, and what it accesses.

A warp's dynamic stream is a list of *runs*: ``count`` consecutive static instructions, from index
``static`` on, under one active mask. Each memory instruction of a run whose mask is not empty and
that has addresses (``width > 0``) takes the next address record of the warp. A basic block that a
functional front end executes is one run; a trace reader joins lines into runs.
"""

import msgspec
import numpy as np

RUN = np.dtype([("static", "i4"), ("count", "i4"), ("mask", "i8")])
"""``count`` instructions from static index ``static``, all with active-and-predicate ``mask``.

Bit k of a mask stands for lane k: of a warp of 64 threads the last lane is the sign.
"""

ADDRESS = np.dtype([("first", "i8"), ("stride", "i4"), ("pool", "i4")])
"""Addresses of one memory instruction, one for each active lane, in lane order.

``pool < 0``: active lane k (k-th set bit of the mask) accesses ``first + k * stride``.
Otherwise its address is ``cta.pool[pool + k]`` and ``first`` equals the first one. An address of
NOWHERE is that of an active lane that accesses nothing: a copy of no bytes.
"""
NOWHERE = -1

WARP = np.dtype(
    [
        ("first_run", "i8"),
        ("runs", "i8"),
        ("first_address", "i8"),
        ("addresses", "i8"),
        ("warp_instructions", "i8"),  # sum of the runs' counts
        ("thread_instructions", "i8"),  # the same, times active lanes
    ]
)
"""Where one warp's stream lies in its CTA's arrays."""


class Cta(msgspec.Struct):
    """The streams of one thread block (cooperative thread array), complete and immutable."""

    index: tuple[int, int, int]  # block index x, y, z
    warps: np.ndarray  # WARP, one for each warp of the block, in warp order
    runs: np.ndarray  # RUN
    addresses: np.ndarray  # ADDRESS
    pool: np.ndarray  # int64
