"""The first 1,000,000,000 instructions of threads, scaled by instructions.

What simulators of GPUs have long done. The launch in which the limit falls is simulated to its
end.
"""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.plan import Plan
from lockstep.sampling.readings import check_profiled, thread_instructions
from lockstep.sampling.sampler import Effort, OneStep, register
from lockstep.sampling.table import LaunchTable


@register
class FirstInstructions(OneStep):
    """``instructions``: of threads, that are simulated at least."""

    name, level, times = "first-instructions", 1, False
    effort, same_strata = Effort("instructions", 1e18, 1, whole=True), True

    def __init__(self, instructions: int = 1_000_000_000):
        if instructions < 1:
            raise LockstepError(f"there is nothing to see in the first {instructions} instructions")
        self.instructions = instructions

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """All launches are one stratum, and go with their instructions."""
        check_profiled(table, self.name)
        executed = thread_instructions(table)
        if not executed.any():
            raise LockstepError(f"{self.name}: no launch executes an instruction")
        chosen = 1 + int(np.searchsorted(np.cumsum(executed)[:-1], self.instructions))
        return Plan.of(
            table,
            self.name,
            np.zeros(len(table), np.int64),
            np.arange(chosen),
            drawn=False,
            estimator="ratio",
            auxiliary=executed,
            parameters={"instructions": self.instructions},
        )
