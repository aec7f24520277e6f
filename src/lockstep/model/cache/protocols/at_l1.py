"""The protocol of an L1, by its number in the spec: see the table in ``protocols``.

A choice stands where protocols differ; a hook that all import from the first needs none.
"""

from lockstep._jit import inline
from lockstep.model.cache.protocols import write_evict, write_through
from lockstep.model.cache.protocols.registry import WRITE_EVICT


@inline
def readable(protocol, way):
    """The sectors of a line that a read may use."""
    return write_through.readable(way)


@inline
def write(protocol, way, sectors, full, local):
    """Sectors of a line are written; whether it stays. ``local``: other threads do not see it."""
    if protocol == WRITE_EVICT:
        return write_evict.write(way, sectors, full, local)
    return write_through.write(way, sectors, full, local)


@inline
def atomic(protocol, way, sectors):
    """Sectors of a line are updated below; whether it stays."""
    return write_through.atomic(way, sectors)


@inline
def fill(protocol, way, sectors):
    """Sectors of a line come from below."""
    write_through.fill(way, sectors)


@inline
def probe(protocol, way, sectors):
    """Somebody else writes sectors of a line; whether it stays."""
    return write_through.probe(way, sectors)
