"""How far a run is, told now and then."""

from collections.abc import Callable
from time import perf_counter

SECONDS = 0.2  # between two times
Progress = Callable[[int, int, int, int, str], None]
"""Called with finished CTAs, all CTAs, the cycle, warp instructions and the kernel's name."""


class ProgressCount:
    """The CTAs of a run: how many there are, and how many have ended."""

    def __init__(self, tell: Progress | None):
        """``tell``: who is told; None: nobody."""
        self._tell = tell
        self._last = 0.0
        self.total = self.done = 0

    @property
    def due(self) -> bool:
        """Whether it is time to say it again."""
        return self._tell is not None and perf_counter() - self._last >= SECONDS

    def report(self, cycle: int, instructions: int, name: str) -> None:
        """Say it; ``instructions``: of all warps so far, ``name``: of a kernel that runs."""
        assert self._tell is not None, "it is due"
        self._last = perf_counter()
        self._tell(self.done, self.total, cycle, instructions, name)
