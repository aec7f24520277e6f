"""Core cycles as times: the host counts picoseconds, the GPU cycles of its clock."""

from fractions import Fraction

_MHZ = 10**6  # in which a microsecond has as many picoseconds


class HostClock:
    """Core cycles and picoseconds of one run; both count from its beginning."""

    def __init__(self, clock_mhz: float):
        self._cycles = Fraction(clock_mhz).limit_denominator(_MHZ) / _MHZ  # of a picosecond

    def cycle(self, time: int) -> int:
        """The first cycle that begins at a time, or behind it."""
        return -(-time * self._cycles.numerator // self._cycles.denominator)

    def time(self, cycle: int) -> int:
        """When a cycle begins: ``cycle(time(n)) == n``."""
        return cycle * self._cycles.denominator // self._cycles.numerator
