"""TBPoint inside a launch: of CTAs that are alike, the first ones run until IPC repeats.

After Huang et al., "TBPoint" (IPDPS 2014): CTAs in order form *epochs* of one occupancy, here
waves; epochs in a row whose features are near each other form a homogeneous *run*. The beginning of
a run is simulated until the IPC of two units agrees within 10 %; the rest of it is left out. The
features are the mean of the CTAs' warp instructions and its coefficient of variation; the distance
at which two epochs differ is a guess.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.inside.evidence import Mark, Unit
from lockstep.sampling.inside.projection import Projection, project_windows
from lockstep.sampling.inside.stability import BIN, Company

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun
    from lockstep.engine.stop import KernelCounters, Skip
    from lockstep.workload import Kernel

DISTANCE = 0.1  # of the features of epochs that are alike; guess
AGREEMENT = 0.1  # of the IPC of two units; TBPoint


@dataclass
class _Progress:
    launched: int
    ends: list[int] = field(default_factory=list)  # CTAs behind each homogeneous run
    begin: Mark | None = None
    before: float = 0.0  # IPC of the unit before


class Epochs:
    """A rule for all kernels of a run: ``simulate(stop=rule, stop_interval=rule.bin)``.

    ``instructions``: of each CTA of each kernel, in order, by kernel id, from a profile or
    :func:`~lockstep.sampling.inside.cta_instructions`; kernels without run whole, as do those with
    clusters and those beside others. ``units``: by kernel id, the last one before each gap.
    """

    ends = False

    def __init__(
        self,
        instructions: Mapping[int, np.ndarray],
        *,
        distance: float = DISTANCE,
        agreement: float = AGREEMENT,
        bin: int = BIN,
    ):
        if not (distance >= 0 and agreement > 0 and bin >= 1):
            raise LockstepError(
                f"epochs: distance {distance}, agreement {agreement}, bin {bin}: expected at "
                "least 0, above 0, at least 1"
            )
        self.instructions, self.distance, self.agreement = instructions, distance, agreement
        self.bin = bin
        self.units: dict[int, list[Unit]] = {}
        self._states: dict[int, _Progress] = {}
        self._company = Company()

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> "bool | Skip":
        """Leave the rest of a homogeneous run out where the IPC of two units agrees."""
        self._company.ask(kernel.id, cycle)
        known = self.instructions.get(kernel.id)
        if known is None or not self._company.alone or kernel.cluster_ctas > 1:
            return False
        state = self._states.get(kernel.id)
        if state is None or state.launched != counters.launched:
            ends = homogeneous(known, counters.wave, self.distance)
            state = self._states[kernel.id] = _Progress(counters.launched, ends)
            self.units[kernel.id] = []
        return self._go_on(kernel.id, state, Mark(cycle, counters))

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch would have taken."""
        return project_windows(run, self.units.get(run.id, []), like_earlier=True)

    def _go_on(self, kernel: int, state: _Progress, now: Mark) -> "bool | Skip":
        from lockstep.engine.stop import Skip

        counters = now.counters
        place = counters.begun + counters.skipped
        while state.ends and state.ends[0] <= place:
            state.ends.pop(0)
            state.begin, state.before = None, 0.0
        if counters.started < 0 or not state.ends:
            return False
        if state.begin is None:
            state.begin = now
            return False
        if counters.ctas_done - state.begin.counters.ctas_done < counters.wave:
            return False
        unit, state.begin = Unit(state.begin, now), now
        before, state.before = state.before, unit.ipc
        left = (state.ends[0] - place) // counters.wave
        if abs(unit.ipc - before) > self.agreement * max(unit.ipc, before) or not left:
            return False
        self.units[kernel].append(unit)
        state.begin, state.before = None, 0.0
        return Skip(left * counters.wave)


def homogeneous(instructions: np.ndarray, wave: int, distance: float) -> list[int]:
    """The CTA behind each run of epochs that are alike; the last one is the end of the grid."""
    ends, first = [], None
    for start in range(0, len(instructions), wave):
        epoch = np.asarray(instructions[start : start + wave], float)
        mean = float(epoch.mean())
        here = mean, float(epoch.std()) / mean if mean else 0.0
        if first is None:
            first = here
        elif abs(here[0] - first[0]) > distance * max(here[0], first[0]) or (
            abs(here[1] - first[1]) > distance
        ):
            ends.append(start)
            first = here
    return [*ends, len(instructions)]
