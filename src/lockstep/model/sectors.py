"""Sector masks: bit s of a mask stands for sector s of a line (at most 32)."""

from lockstep._jit import force_inline


@force_inline
def count(mask):
    """The number of sectors in a mask."""
    x = mask - ((mask >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24) & 0xFF
