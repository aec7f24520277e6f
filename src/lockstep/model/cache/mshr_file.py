"""MSHR file: the lines of a cache that are on their way, and who waits for their sectors.

An entry stands for a line. It holds no place in the tags, so that one can be chosen when the data
is there (``allocate = "fill"``); it is found by a chained hash of the line. Whoever waits for
sectors of it is a node of its list, the newest first. Entries and nodes come from pools with lists
of what is free, so that a file of any size is ready without being touched.

Lines that a prefetcher asked for have entries of their own, behind the others, which are taken only
while all that are taken are fewer than the file has. So the file is shared, but whoever misses
finds as many entries as without a prefetcher.

A cache that reserves the line of every miss needs no such file: see ``mshr_ways.py``.

``file`` is any context with ``spec`` (``buckets``, ``entries``: those of demand), ``caches``
(``free_entry``, ``free_ahead``, ``free_node``, ``busy``), ``entries``, ``buckets`` and ``nodes``;
their first index is ``s``, the number of the cache.
"""

import numpy as np

from lockstep._jit import force_inline, inline
from lockstep.model import free_list

ENTRY = np.dtype(
    [("line", "i8"), ("next", "i4"), ("waiter", "i4"), ("merges", "i4"), ("pending", "i4")]
)
"""Next entry of its bucket, first node, accesses that wait, sectors on their way."""
_ONE = np.int64(1)  # a NumPy integer: without JIT, sums stay 64-bit
DETACHED = -2  # ``next`` of an entry in no bucket: nobody else may wait for its data, or keep it
NODE = np.dtype([("next", "i4"), ("waiter", "i2"), ("sectors", "i2")])
"""Who waits, a number of the owner's, and for which sectors. ``next`` of a free one: a link as in
``free_list``."""


def buckets_for(entries: int) -> int:
    """Buckets of the hash for a file of some entries: a power of two."""
    return 1 << max(4, (2 * entries - 1).bit_length())


@inline
def bucket_of(spec, line):
    """Hash bucket of a line."""
    return (((line & 0x7FFFFFFF) * 0x9E3779B1) >> 7) & (spec.buckets - 1)


@inline
def find(file, s, line):
    """The entry of a line, or -1."""
    e = file.buckets[s, bucket_of(file.spec[0], line)] - _ONE
    while e >= 0 and file.entries[s, e].line != line:
        e = file.entries[s, e].next
    return e


@inline
def is_full(file, s, e):
    """Whether nobody else can wait: for entry ``e``, or, if that is -1, for another line."""
    cache = file.caches[s]
    no_entry = e < 0 and cache.free_entry >= file.spec[0].entries
    return cache.free_node >= file.nodes.shape[1] or no_entry


@inline
def allocate(file, s, line):
    """Take a free entry for a line; there is one."""
    cache = file.caches[s]
    e = cache.free_entry
    cache.free_entry = free_list.after(file.entries[s, e].next, e)
    _begin(file, s, e, line)
    return e


@inline
def has_room_ahead(file, s):
    """Whether demand and prefetches together leave an entry free."""
    return file.caches[s].busy < file.spec[0].entries


@inline
def allocate_ahead(file, s, line):
    """Take an entry for a line that is prefetched; ``has_room_ahead``."""
    cache = file.caches[s]
    e = cache.free_ahead
    cache.free_ahead = free_list.after(file.entries[s, e].next, e)
    _begin(file, s, e, line)
    return e


@inline
def is_ahead(file, e):
    """Whether an entry is of a line that was prefetched."""
    return e >= file.spec[0].entries


@inline
def _begin(file, s, e, line):
    entry = file.entries[s, e]
    file.caches[s].busy += 1
    bucket = bucket_of(file.spec[0], line)
    entry.line = line
    entry.pending = 0
    entry.waiter = -1
    entry.merges = 0
    entry.next = file.buckets[s, bucket] - _ONE
    file.buckets[s, bucket] = e + _ONE


@inline
def _leave_bucket(file, s, e):
    entry = file.entries[s, e]
    bucket = bucket_of(file.spec[0], entry.line)
    if file.buckets[s, bucket] == e + _ONE:
        file.buckets[s, bucket] = entry.next + _ONE
    else:
        k = file.buckets[s, bucket] - _ONE
        while file.entries[s, k].next != e:
            k = file.entries[s, k].next
        file.entries[s, k].next = entry.next


@inline
def detach(file, s, line):
    """What is on its way of a line is old: those who wait get it, and nobody else."""
    e = find(file, s, line)
    if e >= 0:
        _leave_bucket(file, s, e)
        file.entries[s, e].next = DETACHED


@inline
def detach_all(file, s):
    """All that is on its way is old."""
    if file.caches[s].busy == 0:
        return
    for bucket in range(file.spec[0].buckets):
        e = file.buckets[s, bucket] - _ONE
        file.buckets[s, bucket] = 0
        while e >= 0:
            after = file.entries[s, e].next
            file.entries[s, e].next = DETACHED
            e = after


@inline
def is_detached(file, s, e):
    """Whether what comes is old."""
    return file.entries[s, e].next == DETACHED


@inline
def release(file, s, e):
    """Give an entry back."""
    entry = file.entries[s, e]
    if entry.next != DETACHED:
        _leave_bucket(file, s, e)
    cache = file.caches[s]
    cache.busy -= 1
    if is_ahead(file, e):
        entry.next = free_list.link_to(cache.free_ahead)
        cache.free_ahead = e
    else:
        entry.next = free_list.link_to(cache.free_entry)
        cache.free_entry = e


@inline
def wait(file, s, e, waiter, sectors):
    """Let somebody wait for sectors of an entry; there is a free node."""
    cache = file.caches[s]
    n = cache.free_node
    node = file.nodes[s, n]
    cache.free_node = free_list.after(node.next, n)
    node.waiter = waiter
    node.sectors = sectors
    entry = file.entries[s, e]
    node.next = entry.waiter
    entry.waiter = n
    entry.merges += 1


@force_inline
def serve(file, s, e, before, n, sectors):
    """Give arrived sectors to node ``n`` of an entry; ``before`` is the last one that still waits.

    Returns the sectors that it waited for, and who still waits last. A node that has all is free.
    """
    node = file.nodes[s, n]
    here = node.sectors & sectors
    node.sectors &= ~sectors
    if node.sectors != 0:
        return here, n
    if before < 0:
        file.entries[s, e].waiter = node.next
    else:
        file.nodes[s, before].next = node.next
    node.next = free_list.link_to(file.caches[s].free_node)
    file.caches[s].free_node = n
    return here, before
