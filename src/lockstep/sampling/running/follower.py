"""Following a plan: the program must do the launches that the plan was made for."""

import numpy as np

from lockstep.device import Launch, Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.extras import check_scipy
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import MOST_WARMED, LaunchLog, Warmth
from lockstep.sampling.running.outcome import SampledRun


class Follower:
    """Simulates the launches that a plan chooses; the others are executed.

    ``warm``: which of the others leave in the caches what they would have left, see
    :class:`.Warmth`. With ``TURN`` all since the last launch of the chosen one's stratum.
    """

    def __init__(self, plan: Plan, confidence: float = CONFIDENCE, warm: Warmth = Warmth.ALL):
        check_scipy()
        self.plan, self._confidence = plan, confidence
        self._chosen = frozenset(plan.chosen.tolist())
        self._warmed = warmed(plan, warm)
        self._log, self._light = LaunchLog(), LightRows()

    def __call__(self, launch: Launch) -> Treatment:
        """By the number of the launch."""
        number = self._log.add(launch)
        self._light.add(launch)
        if number in self._chosen:
            return self._log.simulate(number, launch)
        warms = number < len(self.plan) and self._warmed[number]
        return Treatment.WARM if warms else Treatment.EXECUTE

    def outcome(self) -> SampledRun:
        """Raises :class:`LockstepError` if the program did other launches."""
        if not len(self._log):
            raise LockstepError("the program launched nothing: there is nothing to estimate")
        self.plan.check_table(self._light.table())
        return self._log.outcome(self.plan, self._confidence)


def warmed(plan: Plan, warm: Warmth) -> np.ndarray:
    """Which launches warm the caches for chosen ones, bool [launches]."""
    if warm is Warmth.NOTHING:
        return np.zeros(len(plan), bool)
    if warm is Warmth.ALL:
        return np.arange(len(plan)) < plan.chosen[-1]
    before = np.full(len(plan), -1)
    order = np.argsort(plan.stratum, kind="stable")
    same = np.diff(plan.stratum[order]) == 0
    before[order[1:][same]] = order[:-1][same]
    begins = np.maximum(before[plan.chosen], plan.chosen - MOST_WARMED)
    edges = np.zeros(len(plan) + 1, np.int64)
    np.add.at(edges, np.maximum(begins, 0), 1)
    np.add.at(edges, plan.chosen, -1)
    return np.cumsum(edges)[:-1] > 0
