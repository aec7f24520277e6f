"""Stride prefetcher of an L1, aware of many threads (Lee et al., MICRO 2010).

Three tables. One holds the stride of each load in each warp; if three warps have the same, it goes
over to a table by load alone, and other warps need not learn it. A third holds the stride between
the first accesses of warps to a load, from which the next warps' are known. What is learned of the
load alone comes first, then what is learned of the warp, then what is learned between warps.

If too many of its prefetches leave unused, the degree halves, down to nothing, and what holds for
all warps has to be learned again; it doubles when few do, and after a while of silence.
"""

from lockstep._jit import inline

WARPS, WARP_ROWS = 1, 32  # rows by load and warp: first, and how many
LOADS, LOAD_ROWS = 33, 8  # ... by load
BETWEEN, BETWEEN_ROWS = 41, 8  # ... by load, between warps
AGREE = 3  # warps that have the same stride; accesses that a stride is seen in
PERIOD = 64  # prefetches of which the fate is known, after which the degree may change
SILENCE = 2048  # accesses without such a period, after which it is tried again


@inline
def find(state, first, count, site):
    """The row of a load, or -1."""
    for row in range(first, first + count):
        if state[row].used > 0 and state[row].key == site:
            return row
    return -1


@inline
def find_warp(state, site, warp):
    """The row of a load in a warp, or -1."""
    for row in range(WARPS, WARPS + WARP_ROWS):
        if state[row].used > 0 and state[row].key == site and state[row].mark == warp:
            return row
    return -1


@inline
def oldest(state, first, count):
    """The row that was not used for longest, or never."""
    best = first
    for row in range(first + 1, first + count):
        if state[row].used < state[best].used:
            best = row
    return best


@inline
def begin(entry, site, line, mark, now):
    """A row begins with its first access."""
    entry.key, entry.last, entry.mark, entry.used = site, line, mark, now
    entry.stride, entry.count = 0, 1


@inline
def step(entry, line, stride):
    """A row sees another access, ``stride`` further; whether the stride was seen often enough."""
    if stride == entry.stride:
        entry.count += 1
    else:
        entry.stride, entry.count = stride, 2
    entry.last = line
    return entry.count >= AGREE and stride != 0


@inline
def promote(state, site, stride, now):
    """A load gets a stride for all warps if enough of them have it."""
    warps = 0
    for row in range(WARPS, WARPS + WARP_ROWS):
        entry = state[row]
        if entry.used > 0 and entry.key == site and entry.stride == stride:
            warps += 1 if entry.count >= AGREE else 0
    if warps >= AGREE:
        entry = state[oldest(state, LOADS, LOAD_ROWS)]
        begin(entry, site, 0, 0, now)
        entry.stride = stride


@inline
def between(state, site, line, warp, now):
    """The first access of a warp to a load; the stride to the next warp's, or 0."""
    row = find(state, BETWEEN, BETWEEN_ROWS, site)
    if row < 0:
        begin(state[oldest(state, BETWEEN, BETWEEN_ROWS)], site, line, warp, now)
        return 0
    entry = state[row]
    entry.used = now
    warps, lines = warp - entry.mark, line - entry.last
    if warps == 0:
        return 0
    entry.mark = warp
    if lines % warps != 0:
        entry.last, entry.stride, entry.count = line, 0, 1
        return 0
    return entry.stride if step(entry, line, lines // warps) else 0


@inline
def learn(state, site, line, warp, now):
    """What an access teaches; the stride that holds for it, or 0."""
    load = find(state, LOADS, LOAD_ROWS, site)
    if load >= 0:
        state[load].used = now
        return state[load].stride
    row = find_warp(state, site, warp)
    if row < 0:
        begin(state[oldest(state, WARPS, WARP_ROWS)], site, line, warp, now)
        return between(state, site, line, warp, now)
    entry = state[row]
    entry.used = now
    if line == entry.last or not step(entry, line, line - entry.last):
        return 0
    promote(state, site, entry.stride, now)
    return entry.stride


@inline
def forget(state):
    """What holds for all warps has to be learned again."""
    for row in range(LOADS, BETWEEN + BETWEEN_ROWS):
        state[row].used = 0


@inline
def throttle(state):
    """How often the degree is halved now; kept in ``count`` of row 0."""
    head = state[0]
    ended = head.useful + head.late + head.useless
    if ended < head.last:  # counting began anew
        head.last, head.stride = ended, head.useless
    if ended - head.last >= PERIOD:
        wasted = head.useless - head.stride
        if 2 * wasted > ended - head.last:
            head.count = min(head.count + 1, 4)
            forget(state)
        elif 8 * wasted < ended - head.last:
            head.count = max(head.count - 1, 0)
        head.last, head.stride, head.mark = ended, head.useless, head.used
    elif head.used - head.mark >= SILENCE:
        head.count = max(head.count - 1, 0)
        head.mark = head.used
    return head.count


def stride(site, line, warp, hit, state, out):
    """Ask for the lines that a load of a warp, or of the next ones, comes to by its stride."""
    head = state[0]
    head.used += 1
    by = learn(state, site, line, warp, head.used)
    degree = head.degree >> throttle(state)
    if by == 0:
        return 0
    for k in range(degree):
        out[k].line = line + by * (head.distance + k)
    return degree
