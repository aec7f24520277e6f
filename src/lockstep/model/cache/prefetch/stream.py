"""Stream prefetcher of an L2 slice: runs of neighbouring lines, upwards or downwards.

A miss within a window of lines around the last one of a stream belongs to it; any other one begins
a stream in the place of the one that was not used for longest. After two steps in one direction a
stream asks for lines in front of it: for each miss, and for each first use of what it has brought,
so many as its degree says, until it is a window ahead.
"""

from lockstep._jit import inline
from lockstep.model.cache.prefetch.table import HIT

FIRST, STREAMS = 1, 32  # rows
STEPS = 2  # in one direction, before anything is asked for


@inline
def nearest(state, line):
    """The stream that a line belongs to, or -1."""
    window = state[0].window
    found = -1
    best = window + 1
    for row in range(FIRST, FIRST + STREAMS):
        distance = abs(line - state[row].last)
        if state[row].used > 0 and distance < best:
            found, best = row, distance
    return found


@inline
def begin(state, line, now):
    """A stream begins, in the place of the one that was not used for longest."""
    best = FIRST
    for row in range(FIRST + 1, FIRST + STREAMS):
        if state[row].used < state[best].used:
            best = row
    entry = state[best]
    entry.last, entry.used = line, now
    entry.stride, entry.count, entry.mark = 0, 0, line


@inline
def advance(entry, line):
    """A stream comes to a line; whether it goes on in its direction, after enough steps.

    A stream that has a direction stays where it is if a line behind it comes late.
    """
    direction = 1 if line > entry.last else -1
    if direction != entry.stride:
        if entry.count >= STEPS:
            return False
        entry.stride, entry.count = direction, 0
    entry.count += 1
    entry.last = line
    if entry.count == STEPS:
        entry.mark = line
    return entry.count >= STEPS


def stream(line, hit, state, out):
    """Ask for the lines in front of the stream that a miss belongs to."""
    if hit == HIT:
        return 0
    head = state[0]
    head.used += 1
    row = nearest(state, line)
    if row < 0:
        begin(state, line, head.used)
        return 0
    entry = state[row]
    entry.used = head.used
    if line == entry.last or not advance(entry, line):
        return 0
    # ``mark`` is the last line that was asked for, in multiples of the direction
    way = entry.stride
    ahead = max(entry.mark * way, line * way + head.distance - 1)
    end = line * way + head.distance - 1 + head.window
    n = 0
    while n < head.degree and ahead < end:
        ahead += 1
        out[n].line = ahead * way
        n += 1
    entry.mark = ahead * way
    return n
