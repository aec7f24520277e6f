"""What several units tell of a warp and its CTA: until when it is held, what it has on its way.

Every other field of a warp's record belongs to the unit that writes it, from the warp's start on:
where its stream goes (``stream.py``), what it fetches (``fetch.py``), its control bits
(``dependence.py``), the barriers that it is at (``barrier.py``), what it issues (``issue.py``).
"""

from lockstep._jit import force_inline
from lockstep.model.clock import NEVER
from lockstep.model.core.state import GROUPS


@force_inline
def begin(warp, at):
    """A warp starts, held until cycle ``at``, with nothing on its way."""
    warp.active = 1
    warp.stall_until = at
    warp.outstanding = 0
    warp.stores = 0
    warp.accessed = 0
    warp.group = 0
    for g in range(GROUPS):
        warp.groups[g] = 0
        warp.landed[g] = 0


@force_inline
def begin_cta(cta):
    """A CTA starts, with nothing on its way and no warp that has ended."""
    cta.active = 1
    cta.outstanding = 0
    cta.written = 0
    cta.finished = 0
    cta.lasted = 0


@force_inline
def finish(cta, now):
    """One more warp of a CTA has ended; its slot is taken until all have."""
    cta.finished += 1
    cta.lasted += now - cta.started


@force_inline
def leave(record):
    """The slot of a warp or a CTA is free."""
    record.active = 0


@force_inline
def hold(warp, cycle):
    """Nothing issues from a warp before a cycle, whatever else holds it."""
    warp.stall_until = max(warp.stall_until, cycle)


@force_inline
def let_go_at(warp, cycle):
    """A warp is held until a cycle, which is all that holds it."""
    warp.stall_until = cycle


@force_inline
def access_begins(cta, warp):
    """One more memory operation of a warp is on its way."""
    warp.outstanding += 1
    cta.outstanding += 1


@force_inline
def access_ends(cta, warp, cycle):
    """A memory operation of a warp has ended; its data is there at a cycle."""
    warp.outstanding -= 1
    warp.accessed = max(warp.accessed, cycle)
    cta.outstanding -= 1


@force_inline
def store_begins(cta, warp):
    """One more store of a warp is on its way, of which the CTA may not wait."""
    access_begins(cta, warp)
    warp.stores += 1
    cta.written += 1


@force_inline
def store_arrives(cta, warp):
    """A store of a warp has reached the L2."""
    warp.stores -= 1
    cta.written -= 1


@force_inline
def join_group(warp):
    """One more copy belongs to the warp's open group; the group."""
    group = warp.group % GROUPS
    warp.groups[group] += 1
    return group


@force_inline
def close_group(warp):
    """The next copies belong to another group."""
    warp.group += 1


@force_inline
def leave_group(warp, group, cycle):
    """A copy of a group has ended; its data is there at a cycle."""
    warp.groups[group] -= 1
    warp.landed[group] = max(warp.landed[group], cycle)


@force_inline
def groups_landed(warp, newest):
    """Cycle at which the asynchronous copies of all groups but the ``newest`` ones are there."""
    latest = 0
    for age in range(newest + 1, GROUPS):
        g = (warp.group - age) % GROUPS
        latest = max(latest, NEVER if warp.groups[g] > 0 else warp.landed[g])
    return latest
