"""The protocol of an L2 slice, by its number in the spec: see the table in ``protocols``.

A choice stands where protocols differ; a hook that all import from the first needs none.
"""

from lockstep._jit import force_inline
from lockstep.model.cache.protocols import write_fetch, write_validate
from lockstep.model.cache.protocols.registry import WRITE_FETCH


@force_inline
def readable(protocol, way):
    """The sectors of a line that a read or an atomic may use."""
    return write_validate.readable(way)


@force_inline
def write(protocol, way, sectors, full):
    """Sectors of a line are written, those of ``full`` in every byte."""
    if protocol == WRITE_FETCH:
        write_fetch.write(way, sectors, full)
    else:
        write_validate.write(way, sectors, full)


@force_inline
def atomic(protocol, way, sectors):
    """Sectors of a line, here or on their way, are updated."""
    write_validate.atomic(way, sectors)


@force_inline
def fill(protocol, way, sectors):
    """Sectors of a line come from below; those that merge with what was written."""
    return write_validate.fill(way, sectors)


@force_inline
def probe(protocol, way, sectors):
    """Somebody else writes sectors of a line."""
    write_validate.probe(way, sectors)


@force_inline
def written(protocol, way):
    """The sectors of which a write finds something."""
    if protocol == WRITE_FETCH:
        return write_fetch.written(way)
    return write_validate.written(way)


@force_inline
def wanted(protocol, way, sectors):
    """Those of some sectors that must be fetched to be written."""
    if protocol == WRITE_FETCH:
        return write_fetch.wanted(way, sectors)
    return write_validate.wanted(way, sectors)


@force_inline
def owed(protocol, way):
    """The sectors that go below before a line may go."""
    return write_validate.owed(way)


@force_inline
def paid(protocol, way, sectors):
    """Sectors of a line have gone below."""
    write_validate.paid(way, sectors)
