"""Accesses meet stacks of lines, compiled: those of one L1 after those of another.

So the stacks of an L1 stay in the host's caches, all the more as its accesses pass all stacks of
one shape before those of the next. All lines of a stack, if there are few, are looked at together,
and eight of others, since where a search ends is what the host's processor cannot foretell.
"""

from lockstep._jit import (
    equal_words,
    force_inline,
    inline,
    jit,
    popcount,
    push_words,
    trailing_zeros,
)
from lockstep.caches.accesses import ATOMIC, INVALIDATE, PAST_L1, PRIVATE, READ, WRITE
from lockstep.caches.geometry import row_of
from lockstep.caches.lookups import (
    BLOCK,
    DEPTH_BITS,
    DROPS,
    EPOCH_BITS,
    FEW,
    GOES,
    HOLE,
    MOST_EPOCHS,
    MOVES,
    NEVER,
    NOTHING,
    STAYS,
    TOGETHER,
)


@jit
def look_up(c, entries, count):
    """Pass entries through the stacks."""
    spec = c.spec[0]
    end = 0
    while end < count:
        renew(c, MOST_EPOCHS // 2)
        end = _sort(c, spec, entries, end, min(count, end + TOGETHER))
        begin = 0
        for cache in range(spec.caches):
            k, n = spec.shapes, c.ends[cache] - begin
            while k > 0 and n > 0:
                k -= 1
                n = _through(c, spec, k, cache, begin, n)
            begin += spec.parts * c.counts[cache]
    spec.out = 0
    if spec.filter > 0:
        for k in range(count):
            _pass_left(c, spec, entries[k], k)


@jit
def hashed_row(c, line):
    """The row of a line where it is not the low bits of its number."""
    return row_of(c.rows, line)


@jit
def renew(c, most):
    """Caches of a later epoch begin with the first one again; what they hold of others is lost."""
    for cache in range(len(c.epochs)):
        epoch = c.epochs[cache]
        if epoch <= most:
            continue
        c.epochs[cache] = 1
        for k in range(len(c.shapes)):
            shape = c.shapes[k]
            size = shape.sets * shape.room
            first = shape.first + cache * size
            for at in range(first, first + size):
                word = c.words[at]
                if word != HOLE:
                    held = word & ((1 << EPOCH_BITS) - 1) == epoch
                    c.words[at] = word - epoch + 1 if held else 0


@inline
def _sort(c, spec, entries, first, end):
    """List the accesses of entries in the order of caches; those of one stay in theirs.

    Where it stops: before the end, if a cache might see more than MOST_EPOCHS.
    """
    c.counts[:] = 0
    emptied = 0
    for k in range(first, end):
        emptied += entries[k].kind == INVALIDATE
        if emptied > MOST_EPOCHS // 2:
            end = k
            break
        c.counts[entries[k].sm if spec.l2 == 0 else 0] += 1
    begin = 0
    for cache in range(spec.caches):
        c.ends[cache] = begin
        begin += spec.parts * c.counts[cache]
    for k in range(first, end):
        _list(c, spec, entries[k], k, entries[k].sm if spec.l2 == 0 else 0)
    return end


@force_inline
def _list(c, spec, entry, k, cache):
    """List the accesses of the k-th entry."""
    if entry.kind == INVALIDATE:
        c.epochs[cache] += 1 - spec.l2
        return
    what, epoch = what_of(spec, entry), c.epochs[cache]
    line, sectors, place = entry.line * spec.parts, entry.sectors, k * spec.parts
    for part in range(spec.parts):
        own = sectors & ((1 << spec.sectors) - 1)
        sectors >>= spec.sectors
        if spec.filter > 0:
            c.left[place + part] = 0 if what == MOVES else own
        # Those that are none are written, too, and then written over: no jump.
        access = c.accesses[c.ends[cache]]
        access.word, access.place = (line + part) << EPOCH_BITS | epoch, place + part
        access.sectors, access.kind, access.what = own, entry.kind, what
        c.ends[cache] += (own != 0) & (what != NOTHING)


@inline
def what_of(spec, entry):
    """What an entry does to a cache."""
    if spec.l2:
        return MOVES
    if entry.flags & PAST_L1:
        return NOTHING if entry.kind == READ else DROPS
    if entry.kind == READ:
        return MOVES
    evicts = entry.kind == ATOMIC or (spec.evict != 0 and entry.flags & PRIVATE == 0)
    return GOES if evicts else STAYS


@inline
def _pass_left(c, spec, entry, k):
    """What goes on of the k-th entry."""
    if entry.kind == INVALIDATE:
        return
    if spec.l2 == 0 and entry.flags & PAST_L1:
        pass_on(c, spec, entry, entry.sectors)
        return
    for part in range(spec.parts):
        left = c.left[k * spec.parts + part]
        if left:
            pass_on(c, spec, entry, left << part * spec.sectors)


@inline
def pass_on(c, spec, entry, sectors):
    """Sectors of a line of the stream go on to the level below."""
    out = c.out[spec.out]
    spec.out += 1
    out.line, out.sectors = entry.line, sectors
    out.site, out.warp, out.sm = entry.site, entry.warp, entry.sm
    out.kind, out.flags = entry.kind, entry.flags


@inline
def _through(c, spec, k, cache, begin, count):
    """The accesses of a cache that are listed from there on meet its stacks of one shape; how many
    of these, which then come first, go on to the next."""
    shape, rows, depths, tops = c.shapes[k], c.rows.spec[0], c.depths[k], c.tops[k + 1]
    mask, room, ways = shape.mask, shape.room, shape.ways
    bottom = shape.first + cache * shape.sets * room
    simple, low = rows.simple != 0, rows.mask & mask
    plain = spec.sectored == 0 and spec.filter == 0
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        word, what, kind = access.word, access.what, access.kind
        line = word >> EPOCH_BITS
        first = bottom + (line & low if simple else hashed_row(c, line) & mask) * room
        if c.words[first] == word and what <= STAYS and (plain or _has(c, spec, access, first)):
            tops[kind] += popcount(access.sectors) if spec.sectored else 1
            continue
        _keep(c.accesses[on], access)
        on += 1
        depth = _find(c, room, first, word)
        if plain and what <= STAYS:
            depths[kind, min(depth, ways)] += 1
            if what == MOVES:
                if c.holes[k] > 0:
                    _fill(c, k, room, first, word, depth)
                else:
                    _push(c.words, room, first, word, depth)
        else:
            _act(c, k, access, first, depth)
    return on - begin


@force_inline
def _keep(to, access):
    """An access goes on."""
    to.word, to.place = access.word, access.place
    to.sectors, to.kind, to.what = access.sectors, access.kind, access.what


@jit
def _has(c, spec, access, first):
    """Whether the line on top has never been deeper since what is accessed of it came."""
    if spec.sectored:
        for s in range(spec.sectors):
            if (access.sectors >> s) & 1 and (c.deep[first] >> DEPTH_BITS * s) & NEVER:
                return False
    return True


@force_inline
def _find(c, room, first, word):
    """The depth of a word in the stack that begins there; ``room`` if it is not in it."""
    if room == 1:
        return 0 if c.words[first] == word else 1
    if room == FEW:
        return trailing_zeros(equal_words(c.words, first, word, FEW) | 1 << FEW)
    for depth in range(0, room, BLOCK):
        found = equal_words(c.words, first + depth, word, BLOCK)
        if found:
            return depth + trailing_zeros(found)
    return room


@jit
def _act(c, k, access, first, depth):
    """What an access does in a cache with sectors, or one that tells what goes on, or a line that
    is given up."""
    spec, shape = c.spec[0], c.shapes[k]
    word, room = access.word, shape.room
    if access.what != DROPS:
        missing = _count(c, spec, shape, k, access, first, depth)
        if spec.filter > 0 and access.what == MOVES:
            c.left[access.place] = missing
    if access.what == MOVES:
        hole = depth
        if spec.sectored:
            now = c.deep[first + depth] if depth < room else _only(spec, access.sectors)
            hole = _hole(c, k, room, first, depth)
            _push(c.deep, room, first, now, hole)
        _fill(c, k, room, first, word, depth)
    elif access.what >= GOES and depth < room:
        c.words[first + depth] = HOLE
        c.holes[k] += 1


@inline
def _count(c, spec, shape, k, access, first, depth):
    """Count an access, or its sectors; those that a cache of ``filter`` ways has not.

    They have come now, but for those of an access that takes no room.
    """
    kind, ways = access.kind, shape.ways
    if spec.sectored == 0:
        c.depths[k, kind, min(depth, ways)] += 1
        if depth < spec.filter:
            return 0
        return access.sectors if kind == WRITE else (1 << spec.sectors) - 1
    there = depth < shape.room
    deeps = c.deep[first + depth] if there else 0
    missing = now = 0
    for s in range(spec.sectors):
        deep = max((deeps >> DEPTH_BITS * s) & NEVER, depth) if there else NEVER
        if (access.sectors >> s) & 1:
            c.depths[k, kind, min(deep, ways)] += 1
            missing |= 1 << s if deep >= spec.filter else 0
        else:
            now |= deep << DEPTH_BITS * s
    if there and access.what == MOVES:
        c.deep[first + depth] = now
    return missing


@inline
def _hole(c, k, room, first, depth):
    """The depth to which those go down that lie above a line that comes from ``depth``."""
    return min(depth, _find(c, room, first, HOLE)) if c.holes[k] > 0 else depth


@jit
def _fill(c, k, room, first, word, depth):
    """A line comes to the top of its stack, from a depth; those above a hole go down into it."""
    hole = _hole(c, k, room, first, depth)
    _push(c.words, room, first, word, hole)
    if hole < depth:
        if depth < room:
            c.words[first + depth] = HOLE
        else:
            c.holes[k] -= 1


@force_inline
def _push(words, room, first, word, count):
    """A word comes before the first ones of a stack, of which so many go down by one; the word
    behind those makes room."""
    if room == 1:
        words[first] = word
    elif room == FEW:
        push_words(words, first, word, count, FEW)
    else:
        end = first + room
        while count >= 0 and first < end:
            last = words[first + BLOCK - 1]
            push_words(words, first, word, count, BLOCK)
            word = last
            first += BLOCK
            count -= BLOCK


@inline
def _only(spec, sectors):
    """The depths of the sectors of a line that has just come with some of them."""
    word = 0
    for s in range(spec.sectors):
        word |= 0 if (sectors >> s) & 1 else NEVER << DEPTH_BITS * s
    return word
