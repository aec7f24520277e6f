"""Sampling a trace: a chooser is asked for each of its kernels, and no program runs."""

from collections.abc import Sequence

from lockstep.device import Treatment
from lockstep.engine import Session
from lockstep.errors import LockstepError
from lockstep.sampling.inside.launches import Inside
from lockstep.sampling.launched import TracedLaunch
from lockstep.sampling.profile import table_of
from lockstep.sampling.running.chooser import Chooser, check_streams
from lockstep.sampling.running.outcome import SampledRun
from lockstep.workload import Command, Kernel
from lockstep.workload.warm import Warming, WarmSet


class _Stopped(Exception):
    """The simulation has ended early; who waits for times waits in vain."""


class SampledTrace:
    """The ``sample`` of :func:`lockstep.simulate`: what a chooser has simulated of a trace.

    To the chooser it is what a device is to the launches of a program. ``stop``: the rule inside
    launches of the same simulation, if there is one. Kernels that are not simulated are read if
    they warm, and else not even that.
    """

    def __init__(self, chooser: Chooser, stop: Inside | None = None):
        self._chooser, self.stop = chooser, stop

    def __call__(self, session: Session, commands: Sequence[Command]) -> None:
        """Have a session run a workload, as far as that is chosen.

        Raises :class:`LockstepError`, before anything is simulated, for what could not be
        estimated: kernels of several streams, live points, a plan for other launches.
        """
        self._session, self.gpu = session, session.gpu
        self._queued: list[Command] = []
        self._waiting: list[TracedLaunch] = []
        self._finished = 0
        kernels = [command for command in commands if isinstance(command, Kernel)]
        _check(commands, kernels)
        self._chooser.expect(table_of(kernels))
        try:
            for command in commands:
                chosen = self._chosen(command)  # which may simulate what is queued
                self._queued += chosen
            self.synchronize()
        except _Stopped:
            pass
        except KeyboardInterrupt:  # while nothing was simulated: what there is is partial, too
            session.interrupt()

    def _chosen(self, command: Command) -> list[Command]:
        """What is to run of a command."""
        if not isinstance(command, Kernel):
            return [command]
        launch = TracedLaunch(command, self)
        treatment = self._chooser(launch)
        if treatment is Treatment.WARM:
            return [Warming(command)]
        if treatment is Treatment.SIMULATE:
            self._waiting.append(launch)
            return [command]
        return []

    def synchronize(self) -> None:
        """Simulate what was chosen so far."""
        commands, self._queued = self._queued, []
        self._session.run(commands)
        runs = self._session.finished[self._finished :]
        for launch, run in zip(self._waiting, runs):  # of one stream: they end as they begin
            launch.run = run
        self._finished += len(runs)
        self._waiting = self._waiting[len(runs) :]
        if self._session.stopped:
            raise _Stopped

    def outcome(self) -> SampledRun:
        """The estimate of all kernels, after the simulation.

        Raises :class:`LockstepError` if there is none.
        """
        return self._chooser.outcome()


def _check(commands: Sequence[Command], kernels: list[Kernel]) -> None:
    if any(isinstance(command, WarmSet) for command in commands):
        raise LockstepError("a plan has chosen these live points: they are simulated as they are")
    check_streams(list(dict.fromkeys(kernel.stream for kernel in kernels)))
