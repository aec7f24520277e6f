"""Following a plan: the program must do the launches that the plan was made for."""

from lockstep.device import Launch, Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import LaunchLog
from lockstep.sampling.running.outcome import SampledRun


class Follower:
    """Simulates the launches that a plan chooses.

    The others before the last of them are executed, and leave in the caches what they would have
    left (``warm``), or are only executed.
    """

    def __init__(self, plan: Plan, confidence: float = CONFIDENCE, warm: bool = True):
        self.plan, self._confidence = plan, confidence
        self._chosen = frozenset(plan.chosen.tolist())
        self._last = int(plan.chosen[-1])
        self._between = Treatment.WARM if warm else Treatment.EXECUTE
        self._log, self._light = LaunchLog(), LightRows()

    def __call__(self, launch: Launch) -> Treatment:
        """By the number of the launch."""
        number = self._log.add(launch)
        self._light.add(launch)
        if number in self._chosen:
            return self._log.simulate(number, launch)
        return self._between if number < self._last else Treatment.EXECUTE

    def outcome(self) -> SampledRun:
        """Raises :class:`LockstepError` if the program did other launches."""
        if not len(self._log):
            raise LockstepError("the program launched nothing: there is nothing to estimate")
        self.plan.check_table(self._light.table())
        return self._log.outcome(self.plan, self._confidence)
