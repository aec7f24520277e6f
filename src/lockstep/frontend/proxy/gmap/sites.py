"""The static instructions of a kernel as G-MAP knows them, and how paths are written."""

import numpy as np

from lockstep.isa.instruction import OpClass

LINE_BYTES, SECTOR_BYTES, SECTORS = 128, 32, 4
LINE_MASK = (1 << 40) - 1  # lines are numbers of so many bits: addresses of 47
NOTHING = -1  # allocation of what lies in none, whose lines are absolute
LOCAL = 1 << 38  # first line of local memory: far from where hosts have theirs
ORDINAL_BITS = 5
"""An entry of a path is site << ORDINAL_BITS | number of the line among those of an instruction.

An instruction of more than MOST_LINES lines counts as several.
"""
MOST_LINES = 1 << ORDINAL_BITS
COLD = -1  # distance of the first access to a line
MOST_DISTANCE = 1 << 20  # what is further back counts as COLD

SITE = np.dtype(
    [
        ("pc", "i8"),  # of the instruction
        ("op", "i8"),  # LOAD, STORE, ATOMIC; BARRIER and CACHE_CONTROL access nothing
        ("past_l1", "i8"),  # 1: it does not look into the L1
        ("whole", "i8"),  # 1: it writes all bytes of the sectors that it touches
        ("sectors", "i8"),  # that it touches of a line, most often: a bit each
        ("allocation", "i8"),  # in which its base lies, or NOTHING
        ("base", "i8"),  # B: the line that the first warp accessed first, from the allocation's
    ]
)
"""A static instruction. Lines are numbers: address / LINE_BYTES."""
ACCESSES = (OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC)
MARKERS = (OpClass.BARRIER, OpClass.CACHE_CONTROL)
