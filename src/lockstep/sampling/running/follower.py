"""Following a plan: the program must do the launches that the plan was made for."""

import numpy as np

from lockstep.device import Launch, Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import MOST_WARMED, LaunchLog
from lockstep.sampling.running.outcome import SampledRun


class Follower:
    """Simulates the launches that a plan chooses; the others are executed.

    ``warm``: of the others, those just before a chosen one leave in the caches what they would have
    left, too: all since the last launch of its stratum, which is a turn of its loop, at most
    ``MOST_WARMED``. What else was in the caches is older.
    """

    def __init__(self, plan: Plan, confidence: float = CONFIDENCE, warm: bool = True):
        self.plan, self._confidence = plan, confidence
        self._chosen = frozenset(plan.chosen.tolist())
        self._warmed = before_chosen(plan) if warm else np.zeros(len(plan), bool)
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


def before_chosen(plan: Plan) -> np.ndarray:
    """Which launches warm the caches for a chosen one, bool [launches]."""
    before = np.full(len(plan), -1)
    order = np.argsort(plan.stratum, kind="stable")
    same = np.diff(plan.stratum[order]) == 0
    before[order[1:][same]] = order[:-1][same]
    begins = np.maximum(before[plan.chosen], plan.chosen - MOST_WARMED)
    edges = np.zeros(len(plan) + 1, np.int64)
    np.add.at(edges, np.maximum(begins, 0), 1)
    np.add.at(edges, plan.chosen, -1)
    return np.cumsum(edges)[:-1] > 0
