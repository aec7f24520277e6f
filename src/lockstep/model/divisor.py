"""Division by numbers that are known when the model is built and mostly powers of two.

A 64-bit division takes ten times as long as a shift, and an address goes through a dozen of them
on its way to a DRAM row. Any divisor is legal; powers of two are fast.
"""

import numpy as np

from lockstep._jit import force_inline

DIVISOR = np.dtype([("value", "i8"), ("shift", "i8")])
"""A divisor; ``shift`` is its binary logarithm, or -1 if it is no power of two."""


def divisor(value: int) -> tuple[int, int]:
    """The DIVISOR record of a positive number."""
    return value, value.bit_length() - 1 if value & (value - 1) == 0 else -1


@force_inline
def quotient(d, number):
    """``number // d``, of a number that is not negative."""
    return number >> d.shift if d.shift >= 0 else number // d.value


@force_inline
def remainder(d, number):
    """``number % d``, of a number that is not negative."""
    return number & (d.value - 1) if d.shift >= 0 else number % d.value
