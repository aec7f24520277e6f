"""MSHRs in the ways of the tags, those of an L2 slice: what is on its way, and who waits for it.

An entry stands for the sectors of one request to the level below; it is in use while they are
``pending`` in their way, which is locked meanwhile. The requests that wait for sectors of a line
hang on its way, oldest first, and become the replies: nothing is looked up again. An L1 cannot do
so, because its lines may have no way before their data comes: see ``mshr_file.py``. Both refuse
whoever finds no entry, or one that has enough requests, and both merge by sector.
"""

from lockstep._jit import force_inline
from lockstep.model import entries as lists
from lockstep.model.entries import NONE


@force_inline
def is_full(spec, state):
    """Whether no other DRAM read may be under way for a slice, or no other request may wait."""
    return state.mshrs >= spec.mshrs or state.waiting >= spec.waiters


@force_inline
def mergeable(spec, entries, state, way, pending):
    """Those of some pending sectors of a way that another request may wait for."""
    if state.waiting >= spec.waiters:
        return 0
    allowed = pending
    for sector in range(spec.line_sectors):
        bit = 1 << sector
        if pending & bit and _waiting(entries, way, bit, spec.merges) >= spec.merges:
            allowed ^= bit
    return allowed


@force_inline
def _waiting(entries, way, bit, most):
    """Requests that wait for one sector; counted up to ``most``."""
    found = 0
    index = way.waiters
    while index != NONE and found < most:
        found += 1 if entries[index].sectors & bit else 0
        index = entries[index].next
    return found


@force_inline
def has_waiter_of(entries, way, source, sectors):
    """Whether a request of somebody waits for some sectors of a way."""
    index = way.waiters
    while index != NONE:
        if entries[index].source == source and entries[index].sectors & sectors:
            return True
        index = entries[index].next
    return False


@force_inline
def wait(entries, state, way, index, mask):
    """Let a request wait for sectors of a way."""
    new = lists.copy(entries, state, index)
    entries[new].sectors = mask
    hang(entries, state, way, new)


@force_inline
def hang(entries, state, way, new):
    """Let an entry be the last of those that wait for sectors of a way."""
    entries[new].next = NONE
    state.waiting += 1
    if way.waiters == NONE:
        way.waiters = new
        return
    last = way.waiters
    while entries[last].next != NONE:
        last = entries[last].next
    entries[last].next = new


@force_inline
def unlink(entries, state, way, previous, index):
    """Take a waiter that has all it waited for off its way."""
    after = entries[index].next
    state.waiting -= 1
    if previous == NONE:
        way.waiters = after
    else:
        entries[previous].next = after
