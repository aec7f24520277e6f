"""Accesses meet lines by the times of their last uses, compiled: where no line is given up.

A line's depth in a set is how many lines of the set were used since. An access looks its line up
once, and then passes all shapes without a jump: how many times of its set exceed that of the line
is how deep it lies, and these go down by one.

Shapes of a pass come from fewest sets to most. What lies on top of a set does so in all sets that
this one is made of, and goes no further; so times of these may be older than the line's, but are in
the same order.
"""

from lockstep._jit import force_inline, inline, jit, push_times
from lockstep.caches.accesses import INVALIDATE, LINE_SECTORS
from lockstep.caches.depths import what_of
from lockstep.caches.lookups import DROPS, FEW, GOES, MOVES, NOTHING
from lockstep.caches.recency import (
    BLOCK_ENTRIES,
    KIND_SHIFT,
    WIDE,
    begin_line,
    empty,
    forget_lost,
    sector_used,
    slot_of,
    was_used,
)

STAYED = (1 << 31) - 1  # no time exceeds it: nothing goes down


@jit
def meet_listed(u, listed):
    """Pass what is listed, from ``at`` on, through all shapes; which cache wants more slots before
    it can go on, or -1.

    A cache stops before an access that gives up a line that it has, and one whose ``left`` is -1
    does not begin.
    """
    for cache in range(u.spec[0].caches):
        begin, end = listed.begins[cache], listed.begins[cache + 1]
        if u.left[cache] < 0:
            u.left[cache], u.at[cache] = begin, end
        while u.at[cache] < end:
            if not _has_room(u, cache):
                return cache
            last = min(end, u.at[cache] + BLOCK_ENTRIES)
            stop = _note(u, listed, cache, u.at[cache], last)
            _pass_shapes(u, cache)
            u.left[cache] = stop
            u.at[cache] = end if stop < last else last
    return -1


@inline
def _has_room(u, cache):
    """Whether there is room for the lines of a block, if need be without those that lie nowhere."""
    slots = u.spec[0].slots
    if u.held[cache] + BLOCK_ENTRIES <= slots // 2:
        return True
    forget_lost(u, cache)
    return u.held[cache] + 2 * BLOCK_ENTRIES <= slots // 2


@inline
def _note(u, listed, cache, begin, end):
    """List the uses of items for each pass; where it stops."""
    spec = u.spec[0]
    for k in range(spec.passes):
        u.passes[k].count = 0
    for n in range(begin, end):
        item = listed.items[n]
        if item.kind == INVALIDATE:
            if spec.l2 == 0:
                empty(u, cache)
            continue
        what = what_of(spec, item)
        if what == NOTHING:
            continue
        line, sectors, kind = item.line, item.sectors, item.kind
        if what < GOES and spec.classes > 0:
            newest = cache * spec.classes + (line & (spec.classes - 1))
            same = u.newest[newest] == line
            if same and sectors & ~u.masks[newest] == 0:
                u.tops[kind, sectors] += 1
                continue
            if what == MOVES:
                u.newest[newest] = line
                u.masks[newest] = sectors | (u.masks[newest] if same else 0)
        slot = slot_of(u, cache, line)
        there = u.lines[slot] == line
        if what >= GOES and there and was_used(u, cache, slot):
            return n
        if what == DROPS:
            continue
        if what != MOVES and not there:
            u.absent[kind, sectors] += 1
            continue
        if not there:
            begin_line(u, cache, slot, line)
        _list_uses(u, spec, cache, slot, line, sectors, kind, what == MOVES)
    return end


@force_inline
def _list_uses(u, spec, cache, slot, line, sectors, kind, moves):
    """List the uses of a line's sectors, which have come now if it ``moves``."""
    now, emptied = u.now[cache] + 1, u.emptied[cache]
    a, b = sector_used(u, slot, 0, emptied), sector_used(u, slot, 1, emptied)
    c, d = sector_used(u, slot, 2, emptied), sector_used(u, slot, 3, emptied)
    for k in range(spec.passes):
        of = u.passes[k]
        if of.parts == 1:
            last = (sectors > 1) + (sectors > 3) + (sectors > 7)
            _use(u, k, of, line, max(max(a, b), max(c, d)), now + last, kind, moves)
        elif of.parts == 2:
            if sectors & 3:
                _use(u, k, of, 2 * line, max(a, b), now + (sectors >> 1 & 1), kind, moves)
            if sectors & 12:
                _use(u, k, of, 2 * line + 1, max(c, d), now + 2 + (sectors >> 3), kind, moves)
        else:
            if sectors & 1:
                _use(u, k, of, 4 * line, a, now, kind, moves)
            if sectors & 2:
                _use(u, k, of, 4 * line + 1, b, now + 1, kind, moves)
            if sectors & 4:
                _use(u, k, of, 4 * line + 2, c, now + 2, kind, moves)
            if sectors & 8:
                _use(u, k, of, 4 * line + 3, d, now + 3, kind, moves)
    if moves:
        u.now[cache] = now + LINE_SECTORS - 1
        for sector in range(LINE_SECTORS):
            if sectors >> sector & 1:
                u.times[slot * LINE_SECTORS + sector] = now + sector


@force_inline
def _use(u, k, of, line, used, now, kind, moves):
    """List a use for a pass; what finds nothing and leaves nothing is counted."""
    if used < 0 and not moves:
        u.missed[k, kind] += 1
        return
    use = u.uses[of.uses + of.count]
    of.count += 1
    use.row = line & u.spans[of.first].mask | kind << KIND_SHIFT
    use.used, use.limit, use.now = used, used if moves else STAYED, now


@inline
def _pass_shapes(u, cache):
    """What is listed passes all shapes, those of fewest sets first."""
    for n in range(u.spec[0].passes):
        of = u.passes[n]
        count = of.count
        k = of.last
        while k >= of.first and count > 0:
            span = u.spans[k]
            first = span.first + cache * span.size
            if span.room == WIDE:
                count = _through_wide(u, k, span.mask, first, of.uses, count)
            elif span.room == FEW:
                count = _through_few(u, k, span.mask, first, of.uses, count)
            elif span.room == 1:
                count = _through_single(u, k, span.mask, first, of.uses, count)
            else:
                count = _through_many(u, k, span, first, of.uses, count)
            k -= 1


@force_inline
def _goes_on(u, k, depth, on, row, used, limit, now):
    """Count how deep a shape has a use; one that goes on, 1, is kept behind ``on`` others."""
    u.met[k, row >> KIND_SHIFT, depth] += 1
    to = u.uses[on]
    to.row, to.used, to.limit, to.now = row, used, limit, now
    return 1 if depth > 0 else 0


@inline
def _through_wide(u, k, mask, first, begin, count):
    """Uses that begin there pass a shape of WIDE times a set; how many go on, which then come
    first."""
    on = begin
    for n in range(begin, begin + count):
        use = u.uses[n]
        row, used, limit, now = use.row, use.used, use.limit, use.now
        depth = push_times(u.stacks, first + (row & mask) * WIDE, used, limit, now, WIDE)
        on += _goes_on(u, k, depth, on, row, used, limit, now)
    return on - begin


@inline
def _through_few(u, k, mask, first, begin, count):
    """The same with FEW."""
    on = begin
    for n in range(begin, begin + count):
        use = u.uses[n]
        row, used, limit, now = use.row, use.used, use.limit, use.now
        depth = push_times(u.stacks, first + (row & mask) * FEW, used, limit, now, FEW)
        on += _goes_on(u, k, depth, on, row, used, limit, now)
    return on - begin


@inline
def _through_single(u, k, mask, first, begin, count):
    """The same with one."""
    on = begin
    for n in range(begin, begin + count):
        use = u.uses[n]
        row, used, limit, now = use.row, use.used, use.limit, use.now
        at = first + (row & mask)
        depth = 1 if u.stacks[at] > used else 0
        u.stacks[at] = now if now > limit else u.stacks[at]
        on += _goes_on(u, k, depth, on, row, used, limit, now)
    return on - begin


@inline
def _through_many(u, k, span, first, begin, count):
    """The same with more than WIDE."""
    on = begin
    for n in range(begin, begin + count):
        use = u.uses[n]
        row, used, limit, now = use.row, use.used, use.limit, use.now
        at = first + (row & span.mask) * span.room
        depth = _push_many(u, at, at + span.room, used, limit, now)
        on += _goes_on(u, k, depth, on, row, used, limit, now)
    return on - begin


@inline
def _push_many(u, at, end, used, limit, now):
    """As ``push_times``, for all times from ``at`` to ``end``."""
    depth = 0
    while at < end and now > used:
        last = u.stacks[at + WIDE - 1]
        depth += push_times(u.stacks, at, used, limit, now, WIDE)
        now = last
        at += WIDE
    return depth
