"""Lines of an L1 that are in transition, and the operations that wait for them.

An entry is taken while a line's state is not stable, or operations wait for it: an MSHR entry of
an operation, or one of a line that is evicted, which has lost its way already and is counted apart.
Operations may wait for a line that goes; when it has gone, its entry counts as nothing until they
find an MSHR entry: else lines that have gone could keep others from going. Entries are found by a
chained hash; operations wait in the order in which they came.

``c`` is any context with ``coherent``; ``s`` is the number of the L1.
"""

import numpy as np

from lockstep._jit import force_inline, inline
from lockstep.model import free_list
from lockstep.model.records import words

NONE = np.int64(-1)
GOING, GONE = np.int64(1), np.int64(2)

LINE = np.dtype(
    words(
        "line", "next", "row", "way", "state", "valid", "dirty", "first", "last", "waiting",
        "victim",  # GOING: it is evicted, and takes no MSHR entry; GONE: it was
        "parked",  # 1: operations could go on, had they room
        "after",  # the next that is parked, or -1
    )
)  # fmt: skip
OPERATION = np.dtype(words("next", "kind", "mask", "tag", "lanes"))
"""``kind``: of ``vocabulary.OPERATIONS``; ``mask``: bytes of the line; ``tag``: the owner's."""


@inline
def bucket_of(c, s, line):
    """Hash bucket of a line."""
    return (((line & 0x7FFFFFFF) * 0x9E3779B1) >> 7) & (c.coherent.buckets.shape[1] - 1)


@inline
def find(c, s, line):
    """The entry of a line, or -1."""
    e = c.coherent.buckets[s, bucket_of(c, s, line)]
    while e >= 0 and c.coherent.lines[s, e].line != line:
        e = c.coherent.lines[s, e].next
    return e


@inline
def has_entry(c, s):
    """Whether another operation can have an MSHR entry."""
    return c.coherent.caches[s].busy < c.coherent.spec[0].entries


@inline
def has_place(c, s):
    """Whether another operation can wait."""
    return c.coherent.caches[s].free_operation < c.coherent.operations.shape[1]


@inline
def may_evict(c, s):
    """Whether another line can be evicted with a message."""
    return c.coherent.caches[s].evicting < c.coherent.spec[0].evictions


@inline
def allocate(c, s, line, victim):
    """Take an entry for a line; there is one."""
    cache = c.coherent.caches[s]
    e = cache.free_line
    record = c.coherent.lines[s, e]
    cache.free_line = free_list.after(record.next, e)
    bucket = bucket_of(c, s, line)
    record.line, record.victim = line, victim
    record.row = record.way = record.first = record.last = record.after = NONE
    record.waiting = record.parked = 0
    record.next = c.coherent.buckets[s, bucket]
    c.coherent.buckets[s, bucket] = e
    cache.busy += victim == 0
    cache.evicting += victim == GOING
    return e


@inline
def is_gone(c, s, e):
    """A line that was evicted has gone; operations may wait for it."""
    c.coherent.caches[s].evicting -= 1
    c.coherent.lines[s, e].victim = GONE


@inline
def take_entry(c, s, e):
    """A line that had gone comes again, with an MSHR entry; there is one."""
    c.coherent.caches[s].busy += 1
    c.coherent.lines[s, e].victim = 0


@inline
def release(c, s, e):
    """Give an entry back, for which nobody waits."""
    cache, record = c.coherent.caches[s], c.coherent.lines[s, e]
    bucket = bucket_of(c, s, record.line)
    if c.coherent.buckets[s, bucket] == e:
        c.coherent.buckets[s, bucket] = record.next
    else:
        k = c.coherent.buckets[s, bucket]
        while c.coherent.lines[s, k].next != e:
            k = c.coherent.lines[s, k].next
        c.coherent.lines[s, k].next = record.next
    cache.busy -= record.victim == 0
    cache.evicting -= record.victim == GOING
    record.next = free_list.link_to(cache.free_line)
    cache.free_line = e


@inline
def wait(c, s, e, kind, mask, lanes, tag):
    """An operation waits, behind those that do; there is a place."""
    cache, record = c.coherent.caches[s], c.coherent.lines[s, e]
    o = cache.free_operation
    operation = c.coherent.operations[s, o]
    cache.free_operation = free_list.after(operation.next, o)
    operation.kind, operation.mask, operation.lanes, operation.tag = kind, mask, lanes, tag
    operation.next = NONE
    if record.first < 0:
        record.first = o
    else:
        c.coherent.operations[s, record.last].next = o
    record.last = o
    record.waiting += 1


@inline
def pop(c, s, e):
    """The operation that has waited longest goes."""
    cache, record = c.coherent.caches[s], c.coherent.lines[s, e]
    o = record.first
    operation = c.coherent.operations[s, o]
    record.first = operation.next
    record.waiting -= 1
    operation.next = free_list.link_to(cache.free_operation)
    cache.free_operation = o


@force_inline
def park(c, s, e):
    """Operations of an entry lack room to go on; they look again when there may be some."""
    cache, record = c.coherent.caches[s], c.coherent.lines[s, e]
    if record.parked:
        return
    record.parked, record.after = 1, NONE
    if cache.parked_first < 0:
        cache.parked_first = e
    else:
        c.coherent.lines[s, cache.parked_last].after = e
    cache.parked_last = e


@force_inline
def unpark(c, s):
    """The entry that was parked first."""
    cache = c.coherent.caches[s]
    e = cache.parked_first
    cache.parked_first = c.coherent.lines[s, e].after
    c.coherent.lines[s, e].parked = 0
    return e
