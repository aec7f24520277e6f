"""All launches are simulated, each as far as a rule inside launches lets it run."""

import numpy as np

from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.metrics.result import Result
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.extras import check_scipy
from lockstep.sampling.inside.launches import Inside
from lockstep.sampling.launched import SampledLaunch
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import LaunchLog, check_streams
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.table import LaunchTable

NAME = "all"
"""The sampler of plans that choose all launches."""


class Everything:
    """Simulates every launch: for a device whose ``stop`` is an :class:`.Inside`."""

    def __init__(self, confidence: float = CONFIDENCE):
        check_scipy()
        self._confidence = confidence
        self._log, self._light = LaunchLog(), LightRows()

    def expect(self, table: LaunchTable) -> None:
        """It takes any."""

    def __call__(self, launch: SampledLaunch) -> Treatment:
        """It is simulated."""
        self._light.add(launch)
        return self._log.simulate(self._log.add(launch), launch)

    def outcome(self) -> SampledRun:
        """Raises :class:`LockstepError` if nothing was launched, or not in one stream."""
        if not len(self._log):
            raise LockstepError("the program launched nothing: there is nothing to estimate")
        plan = _of_all(len(self._log), self._light.table().digest)
        return self._log.outcome(plan, self._confidence)


def estimate_all(result: Result, inside: Inside, confidence: float = CONFIDENCE) -> SampledRun:
    """What all kernels of a trace take that a rule inside launches has ended or cut.

    ``result``: of :func:`lockstep.simulate`, with this rule. Raises :class:`LockstepError` if it
    ended early, has no kernels, or has those of several streams.
    """
    check_scipy()
    runs = result.run.kernels
    if result.stopped or not runs:
        raise LockstepError(f"nothing tells all launches: {result.stopped or 'none was simulated'}")
    check_streams(list(dict.fromkeys(run.stream for run in runs)))
    names = list(dict.fromkeys(run.name for run in runs))
    kernel_of = np.array([names.index(run.name) for run in runs], np.int64)
    return SampledRun(_of_all(len(runs)), runs, result.gpu, kernel_of, names, confidence, inside)


def _of_all(launches: int, table: str = "") -> Plan:
    every = np.arange(launches)
    return Plan(table, NAME, every.astype(np.int32), every, np.ones(launches))
