"""The way of a compute unit's vector memory into an L1 under a coherence protocol."""

from lockstep._jit import inline
from lockstep.isa.instruction import CachePolicy
from lockstep.model.coherence import l1
from lockstep.model.coherence.numbers import ATOMIC_OPERATION, LOAD, LOAD_GLC, STORE, STORE_GLC
from lockstep.model.core import attribution, memory_pipeline, stores
from lockstep.model.core.done import instruction_of, note
from lockstep.model.core.state import DONE_ACKNOWLEDGED
from lockstep.model.link import KIND_ATOMIC, KIND_REDUCTION, KIND_WRITE

BYPASS = int(CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE | CachePolicy.STREAMING)
"""GLC, and SLC as GLC: it goes past the L1, but not past the L2."""


@inline
def operation_of(kind, policy):
    """What a request does to a line, of ``vocabulary.OPERATIONS``."""
    past = policy & BYPASS != 0
    if kind == KIND_WRITE:
        return STORE_GLC if past else STORE
    if kind == KIND_ATOMIC or kind == KIND_REDUCTION:
        return ATOMIC_OPERATION
    return LOAD_GLC if past else LOAD


@inline
def present(c, s, access, request, transaction, now):
    """Bring one transaction of an access to the L1; negative if it must come again."""
    if c.coherent.spec[0].on == 0:
        return memory_pipeline.present(c, s, access, request, transaction, now)
    kind = operation_of(request.kind, request.policy)
    tag = request.tag
    if request.kind == KIND_WRITE or request.kind == KIND_REDUCTION:
        tag = -1 - tag
    before = attribution.before_access(c, s, request.kind, 0)
    came = l1.access(
        c, s, c.counters[s], kind, transaction.line, transaction.cover[0], transaction.full, tag,
        request.policy, now,
    )  # fmt: skip
    if c.spec[0].attributes:
        attribution.looked_up(c, s, access, request.kind, 0, before)
    if came < 0:
        return came
    if tag < 0:
        stores.send(c, s, access.warp)
        if came == l1.HIT:
            note(c, s, DONE_ACKNOWLEDGED, -1 - tag, now)
    else:
        memory_pipeline.comes(c, s, access, came != l1.HIT, came == l1.HIT, now)
    return came


@inline
def through(c, s, now):
    """Send the next transaction of the current access through the L1, one a cycle."""
    sm = c.sms[s]
    access = c.accesses[s, sm.current]
    request = memory_pipeline.request_of(c, s, sm.current, access, instruction_of(c, s, access))
    if sm.position < sm.transactions:
        transaction = c.transactions[s, sm.position]
        came = present(c, s, access, request, transaction, now)
        if came < 0:
            memory_pipeline.blocked(c, s, came, now)
            return
        memory_pipeline.passed(c, s, 1, now)
    if sm.position >= sm.transactions:
        memory_pipeline.leave(c, s, 0, 0)


@inline
def tick(c, s, now):
    """One cycle of the arbiter and the L1 stage, back to front."""
    sm = c.sms[s]
    if sm.current >= 0 and sm.l1_ready <= now:
        through(c, s, now)
    if sm.current < 0 and sm.accept_free <= now:
        memory_pipeline.accept(c, s, now)
