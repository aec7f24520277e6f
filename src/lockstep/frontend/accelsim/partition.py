"""Sorting the lines of a raw trace: jitted passes that split, index and gather them.

A spilled line is the original one behind its line number, so that errors can name it.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Records, inline, jit
from lockstep.frontend.accelsim.scan import BLANK, decimal, line_end, skip

SPILLED, FULL, BAD_PLACE, BLOCK_OUTSIDE, WARP_OUTSIDE, TOO_LONG = range(6)
NUMBER_BYTES = 21  # a line number of 64 bits and a blank
WARPS = 32  # in a block, at most

SPLIT = np.dtype(
    [
        ("position", "i8"),
        ("end", "i8"),
        ("line", "i8"),
        ("numbered", "i8"),  # 1: every line starts with its number
        ("fault", "i8"),  # position of what is wrong
        ("group", "i8"),  # that is full
        ("first", "i8"),  # linear number of the first block of group 0
        ("span", "i8"),  # blocks of a group
        ("grid", "i8", (3,)),
        ("warps", "i8"),
        ("block", "i8"),  # of the current line: linear number
        ("warp", "i8"),
    ]
)
LINE = np.dtype([("key", "i8"), ("number", "i8"), ("start", "i8"), ("stop", "i8")])
"""A spilled line: block (from the group's first) times WARPS plus warp; where its text is."""


class Splitter(NamedTuple):
    """State of one split: a window of collected lines for each group."""

    state: Records  # SPLIT, one
    windows: np.ndarray  # uint8, groups x bytes
    filled: np.ndarray  # int64, groups


@jit
def partition(buffer, c):
    """Copy each line to the window of its group, until one is FULL or the text is SPILLED."""
    s = c.state[0]
    while s.position < s.end:
        p = skip(buffer, s.position)
        stop = line_end(buffer, p)
        if p != stop:
            number, p = _number(buffer, s, p)
            outcome = _place(buffer, s, p)
            if outcome != SPILLED:
                return outcome
            s.group = (s.block - s.first) // s.span
            if stop - p + NUMBER_BYTES >= c.windows.shape[1]:
                return TOO_LONG
            if c.filled[s.group] + stop - p + NUMBER_BYTES >= c.windows.shape[1]:
                return FULL
            _append(buffer, c, s.group, number, p, stop)
        s.position = stop + 1
        s.line += 1
    return SPILLED


@inline
def _number(buffer, s, p):
    """Number of the line at ``p`` and where its own text starts."""
    if s.numbered == 0:
        return s.line, p
    number, stop = decimal(buffer, p)
    return number, skip(buffer, stop)


@inline
def _place(buffer, s, p):
    """Read block and warp at ``p`` into the state."""
    block, scale = np.int64(0), np.int64(1)
    s.fault = p
    for k in range(4):
        value, stop = decimal(buffer, p)
        if stop < 0 or not BLANK[buffer[stop]]:
            return BAD_PLACE
        if k == 3:
            s.warp = value
            break
        if not 0 <= value < s.grid[k]:
            return BLOCK_OUTSIDE
        block += value * scale
        scale *= s.grid[k]
        p = skip(buffer, stop)
    s.block = block
    return SPILLED if 0 <= s.warp < s.warps else WARP_OUTSIDE


@inline
def _append(buffer, c, group, number, p, stop):
    """Write a line and its number behind what the group's window has."""
    window = c.windows[group]
    at = c.filled[group]
    digits = 1
    rest = number
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        window[at + k] = 48 + number % 10
        number //= 10
    at += digits
    window[at] = 32
    at += 1
    for k in range(p, stop + 1):
        window[at] = buffer[k]
        at += 1
    c.filled[group] = at


@jit
def index(buffer, c, lines):
    """Fill ``lines`` from a group's spilled text."""
    s = c.state[0]
    p = 0
    for k in range(len(lines)):
        line = lines[k]
        number, start = _number(buffer, s, p)
        _place(buffer, s, start)
        line.key = (s.block - s.first) * WARPS + s.warp
        line.number, line.start = number, start
        p = line_end(buffer, start) + 1
        line.stop = p


@jit
def gather(buffer, lines, target):
    """Copy the lines' texts to ``target``, one behind the other; returns the bytes."""
    at = 0
    for k in range(len(lines)):
        line = lines[k]
        for p in range(line.start, line.stop):
            target[at] = buffer[p]
            at += 1
    return at
