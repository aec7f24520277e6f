"""Replacement: which way of a set makes room for a new line.

The order lives in ``tags.keys``: the smallest key goes first. A key is the cache's access count
at the last touch (LRU) or at insertion (FIFO), above the way number, so that keys are unique and
the victim is one branch-free minimum. An empty way has the key 0, as which it is found by its
place, a streaming line the count 1, a locked way (a fill is under way) a key beyond all others.

NRU (not recently used) is what a bit a way can tell: a set's epoch is a key, and ways touched since
then are recent. One of the others goes, drawn by lot; when all are recent, a new epoch begins and
none is. A line that was touched just before an epoch began may so go before older ones: data that
fill a part s of the cache displace s * s / 2 of what came before them, where LRU displaces nothing.
The sets of a cache in use are in different phases; each begins its first epoch at the age of one of
its ways, by lot.

A user's policy is a plain function ``victim(ways, first, count, now) -> index``: ``ways[first]``
to ``ways[first + count - 1]`` are the :data:`~lockstep.model.cache.tags.WAY` records of a full
set, ``now`` is the number of accesses the cache has seen, the unit of ``used`` and ``inserted``.
It may change ``mark``, nothing else. Ways with ``pending`` set cannot go; if the answer is one of
them, or no index at all, the least recently used way goes instead.
"""

from lockstep._jit import inline, jit, record_array
from lockstep.isa.instruction import CachePolicy
from lockstep.model.cache.tags import (
    FIFO,
    LOCKED,
    NRU,
    RANDOM,
    USER,
    WAY,
    WAY_BITS,
    _reset,
    history_of,
    set_line,
    way_of,
)
from lockstep.model.policy import compile_policy

STREAMING = int(CachePolicy.STREAMING)
KEEP = int(CachePolicy.KEEP)
_WAY_MASK = (1 << WAY_BITS) - 1
_FIRST_COUNT = 2  # 0: empty, 1: streaming
_KEEP_BONUS = 1 << 39  # accesses; no run has that many
_RANDOM_MASK = (1 << 62) - 1


def compile_victim(function):
    """A user's replacement policy, ready to be passed to the model."""
    usage, kinds = "victim(ways, first, count, now)", (record_array(WAY), *["int64"] * 3)
    return compile_policy(function, usage, *kinds, writes=("mark",))


def first_way(ways, first, count, now):
    """The policy that stands in where the user gives none; never called then."""
    return 0


@inline
def _key(accesses, way, hint):
    count = accesses + _FIRST_COUNT
    if hint & STREAMING:
        count = 1
    elif hint & KEEP:
        count += _KEEP_BONUS
    return (count << WAY_BITS) | way


@inline
def touch(tags, cache, row, way, hint):
    """Note a hit; ``hint`` are the CachePolicy bits of the access."""
    state = tags.caches[cache]
    state.accesses += 1
    if tags.shape[0].replacement == USER:
        history_of(tags, row, way).used = state.accesses
    if tags.shape[0].replacement != FIFO and tags.keys[row, way] < LOCKED:
        tags.keys[row, way] = _key(state.accesses, way, hint)


@inline
def insert(tags, cache, row, way, line, hint):
    """Put a line into a way that ``victim`` named; returns its record, with no valid sector."""
    state = tags.caches[cache]
    state.accesses += 1
    set_line(tags, row, way, line)
    tags.keys[row, way] = _key(state.accesses, way, hint)
    record = way_of(tags, row, way)
    _reset(record)
    if tags.shape[0].replacement == USER:
        history = history_of(tags, row, way)
        history.used = history.inserted = state.accesses
        history.mark = 0
    return record


@inline
def touch_at(tags, row, way, cycle):
    """As ``touch``, in a cache whose clock is the cycle of a use, and not how many it has seen."""
    tags.keys[row, way] = _key(cycle, way, 0)


@inline
def insert_at(tags, row, way, line, cycle):
    """As ``insert``, of such a cache; the way's record is the caller's."""
    set_line(tags, row, way, line)
    tags.keys[row, way] = _key(cycle, way, 0)


@inline
def cycle_of(tags, row, way):
    """The cycle of the last use of a way, in such a cache; negative of an empty way."""
    return (tags.keys[row, way] >> WAY_BITS) - _FIRST_COUNT


@inline
def lock(tags, row, way):
    """Keep a way until ``unlock``: a fill for it is under way."""
    tags.keys[row, way] = LOCKED | way


@inline
def may_lock(tags, cache, row):
    """Whether another way of a row can be locked, and one is left that is not."""
    keys = tags.keys[row]
    free = 0
    for way in range(tags.caches[cache].ways):
        free += 1 if keys[way] < LOCKED else 0
    return free > 1


@inline
def unlock(tags, cache, row, way, hint):
    """Let a way be replaced again; its line counts as the newest."""
    tags.keys[row, way] = _key(tags.caches[cache].accesses, way, hint)


@inline
def oldest(tags, cache, row):
    """The way of a row with the smallest key, an empty one if there is one; -1 = all are locked."""
    keys = tags.keys[row]
    best = LOCKED + _WAY_MASK
    for way in range(tags.caches[cache].ways):
        best = min(best, keys[way] | way)
    return best & _WAY_MASK if best < LOCKED else -1


@inline
def victim(tags, cache, row, choose):
    """The way that makes room in a row, an empty one if there is one, or -1 if all are locked.

    ``choose`` is the user's policy (or its stand-in). The line is still there: the caller writes
    it back if it must, then calls ``insert``.
    """
    first = oldest(tags, cache, row)
    if first < 0 or tags.shape[0].replacement < RANDOM or tags.keys[row, first] <= _WAY_MASK:
        return first
    return _other(tags, cache, row, first, choose)


@jit
def _other(tags, cache, row, first, choose):
    """The choice of the policies that do not go by the smallest key."""
    if tags.shape[0].replacement == NRU:
        return _not_recent(tags, cache, row, first)
    ways = tags.caches[cache].ways
    if tags.shape[0].replacement == USER:
        way = _ask_user(tags, cache, row, choose)
        if way < 0 or way >= ways or tags.keys[row, way] >= LOCKED:
            way = first
        return way
    way = _random(tags.caches[cache]) % ways
    while tags.keys[row, way] >= LOCKED:
        way = way + 1 if way + 1 < ways else 0
    return way


@inline
def _ask_user(tags, cache, row, choose):
    """The way that the user's policy chooses; it may have left marks."""
    ways, first = tags.caches[cache].ways, cache * tags.shape[0].ways
    for way in range(ways):
        shown, held, history = (
            tags.ways[first + way],
            way_of(tags, row, way),
            history_of(tags, row, way),
        )
        shown.valid, shown.dirty, shown.partial = held.valid, held.dirty, held.partial
        shown.pending, shown.waiters = held.pending, held.waiters
        shown.used, shown.inserted, shown.mark = history.used, history.inserted, history.mark
    chosen = choose(tags.ways, first, ways, tags.caches[cache].accesses)
    for way in range(ways):
        history_of(tags, row, way).mark = tags.ways[first + way].mark
    return chosen


@jit
def _not_recent(tags, cache, row, first):
    """A way not touched in this epoch, by lot; streaming lines go first, kept ones last."""
    ways = tags.caches[cache].ways
    keys = tags.keys[row]
    if keys[first] >> WAY_BITS < _FIRST_COUNT:
        return first
    state = tags.caches[cache]
    if tags.epochs[row] == 0:
        tags.epochs[row] = min(keys[_random(state) % ways], _key(state.accesses, ways, 0))
    count = _count_until(keys, ways, tags.epochs[row])
    if count == 0:
        tags.epochs[row] = _key(state.accesses, ways, 0)
        count = _count_until(keys, ways, tags.epochs[row])
    if count == 0:
        return first
    left = _random(state) % count
    for way in range(ways):
        if keys[way] <= tags.epochs[row]:
            if left == 0:
                return way
            left -= 1
    return first


@inline
def _count_until(keys, ways, epoch):
    count = 0
    for way in range(ways):
        count += 1 if keys[way] <= epoch else 0
    return count


@inline
def _random(state):
    x = state.random
    x ^= (x << 13) & _RANDOM_MASK
    x ^= x >> 7
    x ^= (x << 17) & _RANDOM_MASK
    state.random = x
    return x
