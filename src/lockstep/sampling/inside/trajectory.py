"""What IPC does over the time of launches, and where PKP would end them: it only looks on."""

from typing import TYPE_CHECKING

import numpy as np

from lockstep.sampling.inside.evidence import Mark, Stable
from lockstep.sampling.inside.stability import Stability

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.stop import KernelCounters
    from lockstep.workload import Kernel


class Trajectory:
    """Looks on as :class:`Stability` does: ``simulate(stop=trajectory, stop_interval=its.bin)``.

    ``rule``: which stability, and how long its bins are. ``marks``: of each kernel, by id, what it
    had done at the ends of bins; ``stable``: of those that the rule would end, the first evidence.
    """

    def __init__(self, rule: Stability | None = None):
        self._rule = Stability() if rule is None else rule
        self.bin = self._rule.bin
        self.marks: dict[int, list[Mark]] = {}
        self.stable: dict[int, Stable] = {}

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> bool:
        """Note what the kernel has done; it runs on."""
        self.marks.setdefault(kernel.id, []).append(Mark(cycle, counters))
        if kernel.id not in self.stable and self._rule(kernel, cycle, counters):
            self.stable[kernel.id] = self._rule.stable[kernel.id]
        return False

    def ipc(self, kernel: int) -> tuple[np.ndarray, np.ndarray]:
        """Ends of bins, in cycles since the launch, and the IPC of the GPU in each; float64."""
        marks = self.marks[kernel]
        cycles = np.array([0, *(mark.cycle - marks[0].counters.launched for mark in marks)])
        done = np.array([0, *(mark.instructions for mark in marks)])
        return cycles[1:].astype(np.float64), np.diff(done) / np.diff(cycles)
