"""The entries of an L2 slice: one pool of records, linked into lists.

A slice has lists of requests in front of the tags and of replies; requests that wait for data
hang on their way. ``entries`` are ENTRY records, ``state`` the SLICE record.
"""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model import free_list

NONE = np.int64(-1)  # NumPy integer: see dram/state.py


@force_inline
def take(state, entries):
    """Take a free entry; its index. There is always one while the lists keep to their limits."""
    index = state.free
    state.free = free_list.after(entries[index].next, index)
    return index


@force_inline
def release(entries, state, index):
    """Free an entry that is in no list."""
    entries[index].next = free_list.link_to(state.free)
    state.free = index


@force_inline
def append(entries, state, which, index):
    """Add an entry at the end of a list."""
    entries[index].next = NONE
    if state.count[which] == 0:
        state.head[which] = index
    else:
        entries[state.tail[which]].next = index
    state.tail[which] = index
    state.count[which] += 1


@force_inline
def pop(entries, state, which):
    """Remove the first entry of a list; its index."""
    index = state.head[which]
    state.head[which] = entries[index].next
    state.count[which] -= 1
    return index


@force_inline
def copy(entries, state, index):
    """A new entry for the requester of another one; its index."""
    new = take(state, entries)
    target, origin = entries[new], entries[index]
    target.kind = origin.kind
    target.source = origin.source
    target.home = origin.home
    target.line = origin.line
    target.full = origin.full
    target.tag = origin.tag
    target.policy = origin.policy
    target.refusals = origin.refusals
    target.issued = origin.issued
    return new
