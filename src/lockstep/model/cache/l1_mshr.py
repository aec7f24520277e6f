"""MSHR entries of an L1, found by a chained hash of the line, and the accesses that wait for them.

Both come from pools with lists of what is free.
"""

from lockstep._jit import inline
from lockstep.model import free_list


@inline
def bucket_of(spec, line):
    """Hash bucket of a line in the MSHR file."""
    return (((line & 0x7FFFFFFF) * 0x9E3779B1) >> 7) & (spec.buckets - 1)


@inline
def find_entry(l1, s, line):
    """The MSHR entry of a line, or -1."""
    e = l1.buckets[s, bucket_of(l1.spec[0], line)]
    while e >= 0 and l1.entries[s, e].line != line:
        e = l1.entries[s, e].next
    return e


@inline
def new_entry(l1, s, line):
    """Take a free MSHR entry for a line; there is one."""
    cache = l1.caches[s]
    e = cache.free_entry
    entry = l1.entries[s, e]
    cache.free_entry = free_list.after(entry.next, e)
    bucket = bucket_of(l1.spec[0], line)
    entry.line = line
    entry.pending = 0
    entry.waiter = -1
    entry.merges = 0
    entry.next = l1.buckets[s, bucket]
    l1.buckets[s, bucket] = e
    return e


@inline
def free_entry(l1, s, e):
    """Give an MSHR entry back."""
    entry = l1.entries[s, e]
    bucket = bucket_of(l1.spec[0], entry.line)
    if l1.buckets[s, bucket] == e:
        l1.buckets[s, bucket] = entry.next
    else:
        k = l1.buckets[s, bucket]
        while l1.entries[s, k].next != e:
            k = l1.entries[s, k].next
        l1.entries[s, k].next = entry.next
    entry.next = free_list.link_to(l1.caches[s].free_entry)
    l1.caches[s].free_entry = e


@inline
def add_waiter(l1, s, e, a, sectors):
    """Let an access wait for sectors of an entry; there is a free node."""
    cache = l1.caches[s]
    n = cache.free_node
    node = l1.nodes[s, n]
    cache.free_node = free_list.after(node.next, n)
    node.access = a
    node.sectors = sectors
    entry = l1.entries[s, e]
    node.next = entry.waiter
    entry.waiter = n
    entry.merges += 1
