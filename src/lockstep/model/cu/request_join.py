"""Which access of the queue a request joins, by coalescing and by merging.

Coalescing joins a request to the access of its own instruction to its line. Merging, as Multi2Sim
does (Candel et al., FGCS 2018, section 4.3), joins a load to the newest load of its line if only
loads came since, whether that has its port or not; a store to the newest access alone, if that is a
store of its line that has no port yet.
"""

from lockstep._jit import inline
from lockstep.model.link import KIND_READ, KIND_WRITE


@inline
def matches(place, request, line):
    """Whether a request may be served with an access."""
    return (
        place.line == line
        and place.kind == request.kind
        and place.policy == request.policy
        and place.local == request.local
    )


@inline
def mate(c, s, request, line):
    """The access that a request joins, or -1."""
    spec, state = c.vmu.spec[0], c.vmu.state[s]
    n = state.last
    while n >= 0:
        place = c.vmu.places[s, n]
        if spec.coalesces and place.began == state.number:
            if matches(place, request, line):
                return n
        elif not spec.merges:
            return -1
        elif request.kind == KIND_READ:
            if place.kind != KIND_READ:
                return -1
            if matches(place, request, line):
                return n
        else:
            newest = n == state.last and not place.has_port and request.kind == KIND_WRITE
            return n if newest and matches(place, request, line) else -1
        n = place.previous
    return -1
