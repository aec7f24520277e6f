"""L1: a write updates what is here and goes on to the level below; nothing is ever dirty.

A write allocates nothing and needs no data. Atomics execute below and take the line along, as does
whoever writes memory behind the cache's back. There is no other coherence: a kernel begins with an
empty L1, and CCTL.IVALL empties one.
"""

from lockstep._jit import inline


@inline
def readable(way):
    """What came from below."""
    return way.valid


@inline
def write(way, sectors, full, local):
    """The line stays: the sectors that are here now have the new bytes."""
    return True


@inline
def atomic(way, sectors):
    """The line goes: its new value is known below."""
    return False


@inline
def fill(way, sectors):
    """The sectors are here."""
    way.valid |= sectors


@inline
def probe(way, sectors):
    """The line goes."""
    return False
