"""The vector memory buffer of a compute unit: instructions from issue until their data is here."""

from lockstep._jit import inline
from lockstep.model.clock import NEVER
from lockstep.model.core.kinds import EXPORT_COUNT, VECTOR_COUNT
from lockstep.model.core.memory_queue import enqueue, has_room
from lockstep.model.cu import waits


@inline
def account(c, s, now):
    """Count the entries that were taken up to ``now``."""
    cu = c.cus[s]
    c.counters[s].buffered_cycles += cu.buffered * (now - cu.accounted)
    cu.accounted = now


@inline
def takes(c, s, b):
    """Whether SIMD ``b`` can issue a vector memory instruction."""
    return c.cus[s].buffered < c.spec[0].vector_memory_buffer and has_room(c, s, b)


@inline
def count(state, access):
    """Raise the counter of vector memory for an access."""
    state.flying += 1
    access.place = waits.rise(state, VECTOR_COUNT, NEVER)


@inline
def issue(c, s, b, w, instruction, now):
    """Send a vector memory instruction on its way; there is room."""
    account(c, s, now)
    c.cus[s].buffered += 1
    access = enqueue(c, s, b, w, instruction, now)
    state = c.waits[s, w]
    count(state, access)
    if instruction.read_barrier == EXPORT_COUNT:
        waits.rise(state, EXPORT_COUNT, access.ready_at)


@inline
def leaves(c, s, now):
    """An instruction has ended, and gives its entry back."""
    account(c, s, now)
    c.cus[s].buffered -= 1
