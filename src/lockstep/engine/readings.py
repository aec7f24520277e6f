"""In which order CTAs were asked for: who executes kernels does that when asked, so it is kept.

A run that goes on from a checkpoint asks in the same order again: for CTAs that were read and have
not ended, and for those of kernels whose execution others may see.
"""

from collections.abc import Iterator

import numpy as np

from lockstep.errors import EndOfKernel
from lockstep.workload import Cta, Kernel


def linear(kernel: Kernel, cta: Cta) -> int:
    """The linear id of a CTA."""
    x, y, z = cta.index
    width, height, _ = kernel.grid
    return x + width * (y + height * z)


def ctas_from(kernel: Kernel, first: int) -> Iterator[Cta]:
    """The CTAs of a kernel from number ``first`` on."""
    if first == 0:
        return kernel.ctas()
    return (cta for cta in kernel.ctas() if linear(kernel, cta) >= first)


class Readings:
    """Launch numbers of kernels, each with how many CTAs in a row it was asked for."""

    def __init__(self) -> None:
        self._rows: list[list[int]] = []

    def note(self, order: int) -> None:
        """A kernel is asked for its next CTA, or what was executed at issue has ended."""
        if self._rows and self._rows[-1][0] == order:
            self._rows[-1][1] += 1
        else:
            self._rows.append([order, 1])

    def freeze(self) -> np.ndarray:
        """All of them: launch number and count."""
        return np.array(self._rows, np.int64).reshape(len(self._rows), 2)

    def thaw(self, frozen: np.ndarray) -> None:
        """Go on where ``freeze`` was called."""
        self._rows = frozen.tolist()


class Repetition:
    """Executes kernels again that an earlier run has executed."""

    def __init__(self, kernels: list[Kernel]):
        """``kernels``: all launches of the run by their numbers."""
        self._kernels = kernels
        self._open: dict[int, Iterator[Cta]] = {}

    def ask(self, order: int, count: int) -> None:
        """Ask a kernel for its next CTAs, if anybody may see that it is executed."""
        again = self._kernels[order].again
        if again is None:
            return
        ctas = self._open.setdefault(order, again())
        for _ in range(count):
            try:
                next(ctas, None)
            except EndOfKernel:
                return
