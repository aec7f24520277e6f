"""Recording the launches of a program that a plan chooses, and no others."""

from pathlib import Path

from lockstep.device import Device, Launch
from lockstep.device.recording import Recorder
from lockstep.errors import LockstepError
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import LaunchLog, check_streams
from lockstep.workload import Cta, Kernel


class ChosenRecorder(Recorder):
    """Records what a plan chooses, see :class:`Recorder`; all launches are executed.

    ``device`` is not timed, and nothing has run on it; it is the last one that watches it. Raises
    :class:`LockstepError` if that is not so, and at the end, before anything is written, if the
    plan is of other launches.
    """

    reads = False  # as a watcher of launches: it does not look at their CTAs

    def __init__(self, device: Device, path: str | Path, plan: Plan, tracer: int):
        if device.timing:
            raise LockstepError("a plan is recorded by execution: without timing=True")
        super().__init__(device, path, tracer)
        self._plan, self._chosen = plan, frozenset(plan.chosen.tolist())
        self._log, self._light = LaunchLog(), LightRows()
        self._ended: set[int] = set()
        device.watch(self)

    # What the device tells a watcher

    def launched(self, launch: Launch) -> None:
        """Note what is known of a launch before it runs."""
        self._log.add(launch)
        self._light.add(launch)

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """It does not ask for that."""

    def ended(self, launch: Launch) -> None:
        """Note that it did not fail."""
        self._ended.add(launch.id)

    # What the device asks a recorder

    def records(self, launch: Launch) -> bool:
        """Whether a launch is chosen."""
        return len(self._log) - 1 in self._chosen

    def stop(self) -> None:
        """Write what was chosen."""
        try:
            self._check()
        except LockstepError:
            self.cancel()
            raise
        self._write()

    def _write(self) -> None:
        super().stop()

    def _check(self) -> None:
        if not len(self._log):
            raise LockstepError("the program launched nothing: there is nothing to keep")
        self._plan.check_table(self._light.table())
        check_streams(self._log.streams)
        if failed := sorted(self._chosen - {number - 1 for number in self._ended}):
            raise LockstepError(f"launch {failed[0] + 1} was to be kept, and failed")
