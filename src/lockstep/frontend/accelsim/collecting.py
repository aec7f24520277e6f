"""Blocks of a text that end one after the other: found by one call, and copied together.

A block of a few instructions is parsed in microseconds, which a call for each would take once more.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, jit
from lockstep.frontend.accelsim.parser import BLOCK_DONE, records
from lockstep.frontend.accelsim.sections import advance
from lockstep.workload import ADDRESS, RUN, WARP

BLOCKS = 256  # that are collected at most
RECORDS = 1 << 14  # ... of each kind; a block with more is copied alone

USED = np.dtype([("blocks", "i8"), ("runs", "i8"), ("addresses", "i8"), ("pool", "i8")])
COLLECTED = np.dtype(
    [
        ("x", "i8"),
        ("y", "i8"),
        ("z", "i8"),
        ("line", "i8"),  # its last one
        ("runs", "i8"),  # where its part of each array ends
        ("addresses", "i8"),
        ("pool", "i8"),
    ]
)
"""A block that is complete."""


class Collection(Context):
    """Blocks one after the other."""

    used: Records  # USED, one
    blocks: Records  # COLLECTED
    warps: Records  # WARP, blocks x warps
    runs: Records  # RUN
    addresses: Records  # ADDRESS
    pool: np.ndarray  # int64


def build(warps: int) -> Collection:
    """A collection without blocks, of so many warps each."""
    return Collection(
        records(1, USED),
        records(BLOCKS, COLLECTED),
        records(BLOCKS * warps, WARP).reshape(BLOCKS, warps),
        records(RECORDS, RUN),
        records(RECORDS, ADDRESS),
        np.zeros(RECORDS, np.int64),
    )


@jit
def collect(buffer, c, to):
    """Parse as ``advance``, and put blocks into a collection while they have room.

    BLOCK_DONE: the block that has just ended has none.
    """
    s = c.state[0]
    outcome = advance(buffer, c)
    while outcome == BLOCK_DONE and _has_room(s, to):
        _put(c, s, to)
        outcome = advance(buffer, c)
    return outcome


@inline
def _has_room(s, to):
    used = to.used[0]
    return (
        used.blocks < to.blocks.shape[0]
        and used.runs + s.runs <= to.runs.shape[0]
        and used.addresses + s.addresses <= to.addresses.shape[0]
        and used.pool + s.pool <= to.pool.shape[0]
    )


@inline
def _put(c, s, to):
    """Copy the block that has just ended; the parser is ready for the next."""
    used = to.used[0]
    for k in range(s.warps):
        to.warps[used.blocks, k] = c.warps[k]
        c.warps[k].runs = -1
    for k in range(s.runs):
        to.runs[used.runs + k] = c.runs[k]
    for k in range(s.addresses):
        to.addresses[used.addresses + k] = c.addresses[k]
    for k in range(s.pool):
        to.pool[used.pool + k] = c.pool[k]
    used.runs += s.runs
    used.addresses += s.addresses
    used.pool += s.pool
    block = to.blocks[used.blocks]
    block.x, block.y, block.z, block.line = s.place[0], s.place[1], s.place[2], s.line - 1
    block.runs, block.addresses, block.pool = used.runs, used.addresses, used.pool
    used.blocks += 1
    s.runs = 0
    s.addresses = 0
    s.pool = 0
    s.first_run = 0
