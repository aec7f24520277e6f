"""What chooses among the launches of a running program, and keeps those that are simulated."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import numpy as np

from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.inside.launches import Inside
from lockstep.sampling.launched import SampledLaunch
from lockstep.sampling.plan import Plan
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.table import LaunchTable


class Warmth(Enum):
    """Which launches that are not simulated leave in the caches what they would have left."""

    ALL = "all"
    NOTHING = "none"


class Chooser(Protocol):
    """The ``choose`` of a :class:`lockstep.Device`, and what comes of it."""

    def expect(self, table: LaunchTable) -> None:
        """Take note of all launches to come, where they are known before.

        Raises :class:`LockstepError` if it has nothing to say about these.
        """
        ...

    def __call__(self, launch: SampledLaunch) -> Treatment:
        """What becomes of the next launch."""
        ...

    def outcome(self) -> SampledRun:
        """The estimate of all launches; those that are simulated have ended.

        Raises :class:`LockstepError` if there is none.
        """
        ...


class LaunchLog:
    """The launches of a program so far: the kernel of each, and those that were simulated.

    ``kernels``: their names; ``simulated``: launches by number.
    """

    def __init__(self) -> None:
        self.streams: list[int] = []
        self.kernels: list[str] = []
        self._number: dict[str, int] = {}
        self._of: list[int] = []
        self.simulated: dict[int, SampledLaunch] = {}

    def __len__(self) -> int:
        return len(self._of)

    def add(self, launch: SampledLaunch) -> int:
        """Note a launch; how many came before it."""
        if launch.stream not in self.streams:
            self.streams.append(launch.stream)
        name = launch.kernel.name
        if name not in self._number:
            self._number[name] = len(self.kernels)
            self.kernels.append(name)
        self._of.append(self._number[name])
        return len(self._of) - 1

    @property
    def kernel_of(self) -> np.ndarray:
        """Of each launch, which of ``kernels``: int64."""
        return np.array(self._of, np.int64)

    def simulate(self, number: int, launch: SampledLaunch) -> Treatment:
        """Have this launch simulated, and keep it."""
        self.simulated[number] = launch
        return Treatment.SIMULATE

    def cycles(self, number: int) -> float:
        """Cycles of a launch that was simulated; NaN if that has not ended."""
        run = self.simulated[number].run
        if run is None:
            return float("nan")
        inside = inside_of(self.simulated[number])
        return inside.projection(run).cycles if inside else float(run.cycles)

    def outcome(self, plan: Plan, confidence: float) -> SampledRun:
        """What the simulated launches of a plan say of all.

        Raises :class:`LockstepError` if there is nothing to say.
        """
        check_streams(self.streams)
        launches = [self.simulated[number] for number in plan.chosen.tolist()]
        runs = [launch.run for launch in launches if launch.run is not None]
        if missing := [launch.id for launch in launches if launch.run is None]:
            raise LockstepError(
                f"launch {missing[0]} was to be simulated, and was not: the run ended early"
            )
        inside = inside_of(launches[0])
        if inside is None and (cut := [run.id for run in runs if not run.complete]):
            raise LockstepError(
                f"launch {cut[0]} was simulated in part: nothing says how long all of it takes"
            )
        gpu = launches[0].device.gpu
        return SampledRun(plan, runs, gpu, self.kernel_of, self.kernels, confidence, inside)


def check_streams(streams: Sequence[int]) -> None:
    """Raise :class:`LockstepError` if launches may have run at the same time."""
    if len(streams) > 1:
        raise LockstepError(
            f"launches of streams {streams[0]} and {streams[1]} may run at the same time, and "
            "times of samples do not add up then: --timing full, without --inside"
        )


def inside_of(launch: SampledLaunch) -> Inside | None:
    """The rule of the launch's device, if it projects what it ends."""
    rule = getattr(launch.device, "stop", None)
    return rule if isinstance(rule, Inside) else None
