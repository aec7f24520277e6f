"""Live points: the launches that a plan chooses, each with what those before it have left.

A program is executed once, and leaves a file; then no program is needed to simulate the launches,
on any GPU, in any order, and to estimate all of them.
"""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np

from lockstep import notebook
from lockstep.api import is_tracefile_name
from lockstep.device import Device, Launch
from lockstep.device.warmth import LaunchHistory, WarmHistory
from lockstep.errors import InputError, LockstepError
from lockstep.frontend.tracefile import TraceRecording
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.metrics.output import finite
from lockstep.metrics.result import Result
from lockstep.sampling.chosen import ChosenRecorder
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.inside.launches import Inside
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import table_of
from lockstep.sampling.running.chooser import check_streams
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.traced_lines import TracedLines
from lockstep.workload import Kernel, MemoryCopy, Workload
from lockstep.workload.warm import L2_LINE

VERSION = 1
TOGETHER = 64  # CTAs of a trace whose lines are noted together


class LivePoints:
    """What the kernels of a workload stand for.

    ``plan``: what chose them; ``l2_bytes``: of the L2 whose content was kept; ``kernels``: names,
    as linkers see them; ``kernel_of``: int64, into ``kernels``, of each launch of the plan.
    """

    def __init__(self, plan: Plan, l2_bytes: int, kernels: list[str], kernel_of: np.ndarray):
        self.plan, self.l2_bytes = plan, l2_bytes
        self.kernels, self.kernel_of = kernels, kernel_of

    def _repr_html_(self) -> str:
        """What notebooks show."""
        values = {"L2, B": self.l2_bytes, "kernels": len(self.kernels), "plan": repr(self.plan)}
        return notebook.facts("Live points", values)

    @classmethod
    def of(cls, workload: Workload) -> Self:
        """Those of a workload.

        Raises :class:`LockstepError` if it has none, :class:`InputError` if they make no sense.
        """
        if not workload.points:
            raise LockstepError(f"{workload.name} is a whole program, and no file of live points")
        path = workload.path
        try:
            document = json.loads(workload.points)
            if document["lockstep points"] != VERSION:
                raise InputError(path, "", f"has no live points of version {VERSION}")
            kernels, kernel_of = document["kernels"], np.array(document["kernel_of"], np.int64)
            plan, l2_bytes = document["plan"], int(document["l2_bytes"])
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InputError(path, "", f"no live points: {error!r}") from error
        points = cls(Plan.of_document(plan, path), l2_bytes, list(map(str, kernels)), kernel_of)
        if problem := points._problem(workload):
            raise InputError(path, "", f"no live points: {problem}")
        return points

    def _problem(self, workload: Workload) -> str:
        """What does not fit together, or nothing."""
        if self.kernel_of.shape != (len(self.plan),):
            return f"{self.kernel_of.size} kernels of {len(self.plan)} launches"
        if not 0 <= self.kernel_of.min() <= self.kernel_of.max() < len(self.kernels):
            return "launches of kernels without a name"
        ids = [kernel.id for kernel in workload.kernels]
        if ids != (self.plan.chosen + 1).tolist():
            return f"{len(ids)} kernels are not the {len(self.plan.chosen)} that the plan chooses"
        return ""

    def document(self) -> str:
        """As a workload has them."""
        fields = {
            "lockstep points": VERSION,
            "l2_bytes": self.l2_bytes,
            "plan": self.plan.document(),
            "kernels": self.kernels,
            "kernel_of": self.kernel_of.tolist(),
        }
        return json.dumps(finite(fields), allow_nan=False)


def estimate_points(
    result: Result, confidence: float = CONFIDENCE, inside: Inside | None = None
) -> SampledRun:
    """What the simulation of a file of live points says of all launches of the program.

    ``inside``: the rule with which they were simulated. Raises :class:`LockstepError` if it is of
    anything else, or not of all of them to their end.
    """
    points = LivePoints.of(result.workload)
    done = {run.id: run for run in result.run.kernels if run.complete or inside}
    if result.stopped:
        done.pop(result.run.kernels[-1].id, None)
    chosen = (points.plan.chosen + 1).tolist()
    if missing := [number for number in chosen if number not in done]:
        raise LockstepError(
            f"{len(missing)} of {len(chosen)} live points were not simulated to their end, the "
            f"first of them kernel {missing[0]}: nothing says how long all launches take"
        )
    runs = [done[number] for number in chosen]
    about = points.kernel_of, points.kernels, confidence, inside
    return SampledRun(points.plan, runs, result.gpu, *about)


def write_points(
    plan: Plan, workload: Workload, path: str | Path, gpu: GPU, l2_bytes: int | None = None
) -> None:
    """Write the kernels of a trace that a plan chooses as live points.

    ``l2_bytes``: of the largest L2 that the points are for; that of ``gpu`` if it is not given. All
    kernels up to the last one that is chosen are read, once. Raises :class:`LockstepError` if the
    plan is for other launches, or these are of several streams.
    """
    _check_points(path, workload)
    kernels = workload.kernels
    plan.check_table(table_of(kernels))
    check_streams(list(dict.fromkeys(kernel.stream for kernel in kernels)))
    l2_bytes = totals(gpu).l2_bytes if l2_bytes is None else l2_bytes
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    number = {name: k for k, name in enumerate(names)}
    kernel_of = np.array([number[kernel.name] for kernel in kernels], np.int64)
    recording = TraceRecording(Path(path), workload.name, workload.gpu)
    try:
        _record(plan, workload, recording, l2_bytes)
        recording.close(LivePoints(plan, l2_bytes, names, kernel_of).document())
    except BaseException:
        recording.discard()
        raise


def _check_points(path: str | Path, workload: Workload | None = None) -> None:
    if not is_tracefile_name(path):
        raise LockstepError(f"{path}: live points are kept in one file, which ends in .lst")
    if workload and workload.points:
        raise LockstepError(f"{workload.name}: a plan has chosen these live points already")


def _record(plan: Plan, workload: Workload, recording: TraceRecording, l2_bytes: int) -> None:
    """Record what is chosen, each kernel behind what those before it have left."""
    lines = TracedLines(l2_bytes // L2_LINE)
    history = WarmHistory(lines, l2_bytes)
    chosen, last, number = frozenset(plan.chosen.tolist()), int(plan.chosen[-1]), 0
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            history.copied(command)
        if not isinstance(command, Kernel):
            continue
        history.warm(command.name, command.n_ctas)
        read = command.ctas
        if number in chosen:
            recording.copy(history.before())
            read = recording.kernel(replace(command, id=number + 1))
        ctas = read()
        while batch := list(islice(ctas, TOGETHER)):
            if number < last:
                lines.read(command, batch)
        number += 1
        if number > last:
            return


class PointRecorder(ChosenRecorder):
    """Writes the launches of a plan as live points, see :class:`ChosenRecorder`.

    ``l2_bytes``: of the largest L2 that the points are for; that of the device's GPU if it is not
    given.
    """

    def __init__(self, device: Device, path: str | Path, plan: Plan, l2_bytes: int | None = None):
        _check_points(path)
        super().__init__(device, path, plan, 0)
        self._last = int(plan.chosen[-1])
        self._warmth = LaunchHistory(device.gpu, device.memory, l2_bytes)

    @property
    def notes_lines(self) -> bool:
        """All launches but the last one that is chosen leave something in the L2."""
        return len(self._log) <= self._last

    def launched(self, launch: Launch) -> None:
        """Note what is known of a launch before it runs."""
        super().launched(launch)
        if len(self._log) <= self._last + 1:
            self._warmth.warm(launch)

    def copied(self, copy: MemoryCopy) -> None:
        """A copy leaves its data in the L2."""
        self._warmth.copied(copy)

    def waited(self) -> None:
        """Points are apart from each other."""

    def launch(self, kernel: Kernel) -> None:
        """Keep a launch that is chosen."""
        self._current.copy(self._warmth.before())
        kernel.ctas = self._current.kernel(kernel)

    def _write(self) -> None:
        log = self._log
        points = LivePoints(self._plan, self._warmth.l2_bytes, log.kernels, log.kernel_of)
        self._detach().close(points.document())
