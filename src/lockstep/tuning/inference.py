"""What an inference is: one parameter of a GPU, the rows that tell it, and how.

A *direct* inference computes the parameter from the rows alone. A *fitted* one computes a
statistic that grows with the parameter: the parameter is the one with which the simulated rows
have the statistic of the measured ones (``lockstep.tuning.fit``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from lockstep.tuning.measured import Measured

LOOP = 0.1  # cycles by which the mean of many repeats may lie below a whole number


@dataclass(frozen=True)
class Fit:
    """How a statistic depends on its parameter, about: what a search begins with.

    ``slope``: change of the statistic for a unit of the parameter; its sign is never wrong.
    ``estimate`` reads the parameter from the rows alone, as a direct inference does: with it the
    search begins, and it counts where nothing is simulated.
    """

    slope: float = 1.0
    estimate: Callable[[Measured], object] | None = None


@dataclass(frozen=True)
class Inference:
    """One parameter by dotted name. ``read`` raises ``Absent`` where rows are missing.

    ``how`` says in words what the parameter is of the rows. ``fit``: None for a direct one.
    """

    parameter: str
    read: Callable[[Measured], object]
    how: str = ""
    fit: Fit | None = None

    @property
    def kind(self) -> str:
        """``direct`` or ``fitted``."""
        return "fitted" if self.fit else "direct"


def whole(cycles: float, loop: float = 0.0) -> int:
    """The whole cycles of a latency without ``loop``, what the loop adds to each step.

    What is left of a loop is a part of a cycle, so that the next lower number is meant.
    """
    return math.floor(cycles - loop + LOOP)
