"""Barrier objects in shared memory (mbarrier), as far as bulk copies complete them.

Each counts the copies that have completed it; a warp that waits says how many it needs, so that it
goes on when the data is there that it had when the program was executed. What threads arrive for is
not waited for. ``workload.OBJECTS`` says which addresses share a count.
"""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.core.barrier import leave, wait_at, wake_warp
from lockstep.workload.bulk_copies import OBJECT_SHIFT, OBJECTS, object_number

AT_OBJECT = NAMED_BARRIERS  # in place of the number of a barrier: a warp waits at an object

number_of = inline(object_number)


@inline
def reset_objects(c, s, slot):
    """A CTA starts: no copy has completed."""
    for k in range(OBJECTS):
        c.objects[s, slot, k] = 0


@inline
def wait_for(c, s, warp, word):
    """Hold a warp until as many copies have completed an object as its record says."""
    wanted = word >> OBJECT_SHIFT
    number = number_of(word)
    if c.objects[s, warp.cta, number] < wanted:
        wait_at(warp, AT_OBJECT)
        warp.object = number
        warp.copies = wanted


@inline
def complete_object(c, s, slot, address, cycle):
    """A copy has completed the object at an address of a CTA: warps that needed it go on."""
    number = number_of(address)
    c.objects[s, slot, number] += 1
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == slot and warp.barrier == AT_OBJECT:
            if warp.object == number and warp.copies <= c.objects[s, slot, number]:
                leave(warp)
                wake_warp(c, s, w, max(cycle, warp.stall_until))
