"""L2: write-back; a write needs no data from below.

A sector whose every byte was written is valid; of any other the written bytes are kept and it is
*partial*. A read of a partial sector fetches it and merges. A partial sector that is evicted is
written with a byte mask: one DRAM write, no read. Atomics execute here and leave the sector dirty.
"""

import numpy as np

from lockstep._jit import force_inline


@force_inline
def readable(way):
    """Every byte is here."""
    return way.valid


@force_inline
def write(way, sectors, full):
    """The sectors are dirty, and here as far as they were written."""
    way.valid |= sectors & full
    way.partial = (way.partial | sectors) & ~way.valid
    way.dirty |= sectors


@force_inline
def atomic(way, sectors):
    """The sectors, which are here or on their way, are dirty."""
    way.dirty |= sectors


@force_inline
def fill(way, sectors):
    """Data from below is merged with what was written meanwhile; the sectors of which some was."""
    merged = sectors & way.partial
    way.valid |= sectors
    way.partial &= ~sectors
    way.pending &= ~sectors
    return merged


@force_inline
def probe(way, sectors):
    """The sectors of a copy are stale: their home has newer ones."""
    way.valid &= ~sectors


@force_inline
def written(way):
    """A write finds what is here in whole or in part."""
    return way.valid | way.partial


@force_inline
def wanted(way, sectors):
    """Nothing is fetched."""
    return np.int64(0)  # of one type with the other protocols' answer


@force_inline
def owed(way):
    """What was written here and is not known below."""
    return way.dirty


@force_inline
def paid(way, sectors):
    """The sectors are clean."""
    way.dirty &= ~sectors
