"""What is in caches before a launch though nothing is simulated that brought it there."""

import msgspec
import numpy as np

from lockstep.workload.kernel import Kernel


class MemoryPass(msgspec.Struct, frozen=True):
    """Memory that passes through the L2 before a launch, as a profiler saves and restores it.

    No part of a program: it is in no trace, and not counted. ``written``: what is written, which is
    dirty; of what is read, every second line is on both sides of an L2 that has two.
    """

    address: int
    bytes: int
    written: bool = False


L2_LINE, L2_SECTOR = 128, 32
"""Bytes of a line and of a sector of a :class:`WarmSet`, whatever those of the GPU are."""
L2_RUN = np.dtype([("first", "i8"), ("lines", "i8"), ("sectors", "i8"), ("dirty", "i8")])
"""``lines`` lines, from number ``first`` (address / L2_LINE) on, with the same ``sectors``, every
byte of which is here, and the same ``dirty`` ones: bit k of a mask stands for sector k. Of one that
is dirty, and not among ``sectors``, a part is here."""


LAUNCHED = np.dtype([("kernel", "i8"), ("ctas", "i8")])
"""A launch: the number of its kernel among all, and how many CTAs it has."""


class WarmSet(msgspec.Struct, frozen=True, eq=False):
    """What launches that are not simulated have left for the next one.

    The L2 holds ``runs`` of lines, in the order of last use, the oldest in front: one that has no
    room for all holds the end. ``launches``: all from the start of the program on, and the next
    one itself. They say on which SM it begins, and which SMs have its code. The SMs are those
    behind the first ``there`` of them, the last of which was simulated; ``alone``: none was, and
    nothing else is there. ``constants``: addresses of sectors (int64) that all
    SMs have read as constants. No part of a program, and not counted.
    """

    runs: np.ndarray  # L2_RUN
    launches: np.ndarray  # LAUNCHED
    there: int = 0
    alone: bool = True
    constants: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))


class Warming(msgspec.Struct, frozen=True):
    """A kernel of which only what it leaves behind in the caches is wanted.

    It takes no time and is not counted. It has ``ctas``, and no ``source``.
    """

    kernel: Kernel
