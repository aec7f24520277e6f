"""Clock domains: exact conversion between core cycles and the ticks of another clock.

Core cycles are the time base. Tick ``k`` of a domain happens in the first core cycle ``t`` with
``ticks(t) >= k``. Ratios are whole numbers, so a long run does not drift.
"""

import functools
from fractions import Fraction
from math import gcd

import numpy as np

from lockstep._jit import force_inline

NEVER = 1 << 60  # a cycle or tick that does not come

CLOCK = np.dtype([("ticks", "i8"), ("cycles", "i8")])
"""``ticks`` ticks of the domain last as long as ``cycles`` core cycles."""

_LARGEST = 1_000_000  # keeps cycle * ticks below 2**63 for a trillion cycles of any real GPU


@functools.cache
def ratio(clock_mhz: float, core_mhz: float) -> tuple[int, int]:
    """The CLOCK record of a domain: the ratio of the two frequencies in lowest terms."""
    whole = int(clock_mhz), int(core_mhz)
    if whole == (clock_mhz, core_mhz) and min(whole) > 0 and max(whole) <= _LARGEST:
        return whole[0] // gcd(*whole), whole[1] // gcd(*whole)
    exact = Fraction(str(clock_mhz)) / Fraction(str(core_mhz))
    near = exact.limit_denominator(_LARGEST) or Fraction(1, _LARGEST)
    return near.numerator, near.denominator


@force_inline
def ticks(clock, cycle):
    """The last tick that happens in a core cycle or before."""
    if clock.ticks == clock.cycles:
        return cycle
    return cycle * clock.ticks // clock.cycles


@force_inline
def cycle_of(clock, tick):
    """The core cycle in which a tick happens; never for a tick that never comes."""
    if clock.ticks == clock.cycles or tick >= NEVER:
        return tick
    return (tick * clock.cycles + clock.ticks - 1) // clock.ticks
