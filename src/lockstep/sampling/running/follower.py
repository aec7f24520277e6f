"""Following a plan: the program must do the launches that the plan was made for."""

from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.extras import check_scipy
from lockstep.sampling.launched import SampledLaunch
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import LaunchLog, Warmth
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.table import LaunchTable


class Follower:
    """Simulates the launches that a plan chooses; the others are executed.

    ``warm``: which of the others leave in the caches what they would have left, see
    :class:`.Warmth`.
    """

    def __init__(self, plan: Plan, confidence: float = CONFIDENCE, warm: Warmth = Warmth.ALL):
        check_scipy()
        self.plan, self._confidence = plan, confidence
        self._chosen = frozenset(plan.chosen.tolist())
        self._warmed = int(plan.chosen[-1]) if warm is Warmth.ALL else 0  # launches that warm
        self._log, self._light = LaunchLog(), LightRows()

    def expect(self, table: LaunchTable) -> None:
        """Raises :class:`LockstepError` unless the plan is for these launches."""
        self.plan.check_table(table)

    def __call__(self, launch: SampledLaunch) -> Treatment:
        """By the number of the launch."""
        number = self._log.add(launch)
        self._light.add(launch)
        if number in self._chosen:
            return self._log.simulate(number, launch)
        return Treatment.WARM if number < self._warmed else Treatment.EXECUTE

    def outcome(self) -> SampledRun:
        """Raises :class:`LockstepError` if the program did other launches."""
        if not len(self._log):
            raise LockstepError("the program launched nothing: there is nothing to estimate")
        self.expect(self._light.table())
        return self._log.outcome(self.plan, self._confidence)
