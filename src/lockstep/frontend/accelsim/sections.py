"""The sections of a trace: thread blocks, warps and their instruction lines.

``#BEGIN_TB``, ``thread block = x,y,z`` (with the cluster's coordinates from version 6 on), then
for each warp ``warp = w``, ``insts = n`` and n instruction lines, then ``#END_TB``. Blank lines
may stand anywhere.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.frontend.accelsim.line import instruction, starts_instruction
from lockstep.frontend.accelsim.parser import (
    BAD_BLOCK,
    BAD_CLUSTER,
    BAD_COUNT,
    BAD_WARP,
    BEGUN,
    BLOCK_DONE,
    BLOCK_RANGE,
    BODY,
    DONE_LINE,
    EXTRA_LINE,
    FEW_LINES,
    LINES,
    MORE,
    NAMED,
    OUTSIDE,
    STRAY_LINE,
    WARP_RANGE,
    WARP_TWICE,
    WARPED,
    WARPS_MISSING,
)
from lockstep.frontend.accelsim.scan import NEWLINE, decimal, line_end, matches, skip
from lockstep.isa.instruction import WARP_SIZE


def _word(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


FULL_MASK = (1 << WARP_SIZE) - 1
BEGIN, END = _word("#BEGIN_TB"), _word("#END_TB")
BLOCK, WARP, COUNT = _word("thread block = "), _word("warp = "), _word("insts = ")
CLUSTER_ID, CLUSTER_CTA = _word("cluster id = "), _word("cluster cta = ")
CLUSTER_RANK = _word("cluster rank = ")


@jit
def advance(buffer, c):
    """Parse lines until a block ends, the text does, or the caller must help; an outcome."""
    s = c.state[0]
    while s.position < s.end:
        p = skip(buffer, s.position)
        if buffer[p] == NEWLINE:
            s.position = p
            outcome = DONE_LINE
        elif s.phase >= BODY and starts_instruction(buffer, p):
            if s.phase == BODY and s.instructions == s.declared:
                s.fault = p
                return EXTRA_LINE
            outcome = instruction(buffer, c, s, p)
        else:
            outcome = _structure(buffer, c, s, p)
        if outcome != DONE_LINE and outcome != BLOCK_DONE:
            return outcome
        s.position += 1
        s.line += 1
        if outcome == BLOCK_DONE:
            return outcome
    return MORE


@inline
def _structure(buffer, c, s, p):
    """A line that is no instruction; on success ``s.position`` is its newline."""
    s.fault = p
    first = buffer[p]
    if first == 35:  # '#'
        outcome = _bracket(buffer, c, s, p)
    elif first == 116:  # 't'
        outcome = _block(buffer, s, p)
    elif first == 99:  # 'c'
        outcome = _cluster(buffer, s, p)
    elif first == 119:  # 'w'
        outcome = _warp(buffer, c, s, p)
    elif first == 105:  # 'i'
        outcome = _count(buffer, s, p)
    else:
        outcome = STRAY_LINE
    s.position = line_end(buffer, p)
    return outcome


@inline
def _ends(buffer, p):
    """Whether only blanks follow ``p`` on its line."""
    return buffer[skip(buffer, p)] == NEWLINE


@inline
def _bracket(buffer, c, s, p):
    """``#BEGIN_TB`` or ``#END_TB``."""
    stop = matches(buffer, p, BEGIN)
    if stop >= 0 and _ends(buffer, stop) and s.phase == OUTSIDE:
        s.phase = BEGUN
        return DONE_LINE
    stop = matches(buffer, p, END)
    if stop < 0 or not _ends(buffer, stop) or (s.phase != BODY and s.phase != NAMED):
        return STRAY_LINE
    if s.phase == BODY and not _close_warp(c, s):
        return FEW_LINES
    if s.warps_seen != s.warps:
        return WARPS_MISSING
    s.phase = OUTSIDE
    return BLOCK_DONE


@inline
def _coordinates(buffer, s, p):
    """Read ``x,y,z`` into ``s.place``: the whole rest of the line, and within the grid."""
    inside = True
    for k in range(3):
        value, stop = decimal(buffer, p)
        if stop < 0 or (k < 2 and buffer[stop] != 44):  # ','
            return BAD_BLOCK
        inside = inside and 0 <= value < s.grid[k]
        s.place[k] = value
        p = stop + 1
    if not _ends(buffer, p - 1):
        return BAD_BLOCK
    return DONE_LINE if inside else BLOCK_RANGE


@inline
def _block(buffer, s, p):
    """``thread block = x,y,z``."""
    stop = matches(buffer, p, BLOCK)
    if stop < 0 or s.phase != BEGUN:
        return STRAY_LINE
    s.fault = stop
    s.phase = NAMED
    s.warps_seen = 0
    return _coordinates(buffer, s, stop)


@inline
def _cluster(buffer, s, p):
    """The block's place in its cluster: checked for form only."""
    if s.phase != NAMED:
        return STRAY_LINE
    numbers = 3
    stop = matches(buffer, p, CLUSTER_ID)
    if stop < 0:
        stop = matches(buffer, p, CLUSTER_CTA)
    if stop < 0:
        stop = matches(buffer, p, CLUSTER_RANK)
        numbers = 1
    if stop < 0:
        return STRAY_LINE
    p = stop
    for k in range(numbers):
        value, stop = decimal(buffer, p)
        if stop < 0 or value < 0 or (k + 1 < numbers and buffer[stop] != 44):
            return BAD_CLUSTER
        p = stop + 1
    return DONE_LINE if _ends(buffer, p - 1) else BAD_CLUSTER


@inline
def _warp(buffer, c, s, p):
    """``warp = w``: the warp before it is complete."""
    stop = matches(buffer, p, WARP)
    if stop < 0 or (s.phase != NAMED and s.phase != BODY):
        return STRAY_LINE
    if s.phase == BODY and not _close_warp(c, s):
        return FEW_LINES
    warp, q = decimal(buffer, stop)
    s.fault = stop
    if q < 0 or not _ends(buffer, q):
        return BAD_WARP
    s.found = warp
    if not 0 <= warp < s.warps:
        return WARP_RANGE
    if c.warps[warp].runs >= 0:
        return WARP_TWICE
    s.place[3] = warp
    s.phase = WARPED
    return DONE_LINE


@inline
def _count(buffer, s, p):
    """``insts = n``: that many lines follow. The number sizes nothing, so it may be any."""
    stop = matches(buffer, p, COUNT)
    if stop < 0 or s.phase != WARPED:
        return STRAY_LINE
    count, q = decimal(buffer, stop)
    s.fault = stop
    if q < 0 or count < 0 or not _ends(buffer, q):
        return BAD_COUNT
    open_warp(s)
    s.declared = count
    s.phase = BODY
    return DONE_LINE


@inline
def open_warp(s):
    """Begin the stream of warp ``s.place[3]`` behind what the block has so far."""
    s.instructions = 0
    s.threads = 0
    s.first_run = s.runs
    s.first_address = s.addresses
    s.lanes = s.last_lanes if s.place[3] == s.warps - 1 else FULL_MASK
    s.pair = 0


@inline
def _close_warp(c, s):
    """Record where the warp's stream lies, if it has as many instructions as declared."""
    if s.instructions != s.declared:
        return False
    close_warp(c, s)
    return True


@inline
def close_warp(c, s):
    """Record where the stream of warp ``s.place[3]`` lies."""
    w = c.warps[s.place[3]]
    w.first_run, w.runs = s.first_run, s.runs - s.first_run
    w.first_address, w.addresses = s.first_address, s.addresses - s.first_address
    w.warp_instructions, w.thread_instructions = s.instructions, s.threads
    s.warps_seen += 1


@jit
def begin_lines(c, warp):
    """Announce that the lines of ``warp``, and nothing else, follow."""
    s = c.state[0]
    s.place[3] = warp
    s.phase = LINES
    open_warp(s)


@jit
def end_lines(c):
    """The lines of the warp are complete."""
    close_warp(c, c.state[0])
