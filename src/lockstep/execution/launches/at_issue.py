"""Launches that are executed while they are simulated, block by block."""

import ctypes
import functools
from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from lockstep._jit import as_records, phase
from lockstep.errors import LockstepError
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.launches.launch import Executor
from lockstep.execution.launches.resident import Resident
from lockstep.execution.launches.step import COLLECT, NONE, PROGRESS, Door, Steps, answer, enter
from lockstep.execution.programs.profile import Profile
from lockstep.execution.scheduling.machine import Stop
from lockstep.execution.streams.journal import Collector, journal
from lockstep.execution.streams.stream import StreamExpansion, tables
from lockstep.workload import WARP, Cta
from lockstep.workload.at_issue import Exchange
from lockstep.workload.bulk_copies import OBJECTS

STREAM_WORDS = 1 << 16
_FROM_C = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


@functools.cache
def _compiled(function, kind):
    return phase(function, (kind,), 1)


class AtIssue:
    """The :class:`~lockstep.workload.at_issue.Source` of one launch.

    ``kilohertz``: the core clock. ``fail`` is told why the launch ended early, once. ``keep``, if
    there is one, gets the streams of each CTA some time after it has ended.
    """

    def __init__(
        self,
        executor: Executor,
        launch: tuple[Geometry, np.ndarray, Profile | None, Callable[[Resident], None]],
        exchange: Exchange,
        kilohertz: int,
        fail: Callable[[LockstepError], None],
        keep: Callable[[Cta], None] | None = None,
    ):
        """``launch``: what :meth:`Executor.begin` takes; the program was translated for this."""
        self._executor, self._fail = executor, fail
        self._problem: BaseException | None = None
        self._told = False
        self._open = ExitStack()
        self._resident = self._open.enter_context(executor.begin(*launch))
        self._step = as_records(exchange.step)
        self._expansion = self._expand_into(exchange, launch[0].warps, launch[0].places)
        rows = launch[0].places * launch[0].warps
        self._places = np.arange(0, launch[0].places, launch[0].cluster_ctas)
        self._next = np.full(rows, NONE), np.zeros(rows, np.int64)
        self._journal = journal(keep is not None)
        self._collector: Collector | None = None
        if keep is not None:
            index = self._resident.cta_index
            self._collector = Collector(self._journal, launch[0].warps, index, keep)
        self._progress = as_records(np.zeros(1, PROGRESS))
        self._python = _FROM_C(self._call)
        self._begin(kilohertz)
        self._door = Door(self._progress)
        self._enter = _compiled(enter, self._door.kind)
        self.function, self.context = self._enter.address, self._door._address

    def _expand_into(self, exchange: Exchange, warps: int, places: int) -> StreamExpansion:
        return StreamExpansion(
            *tables(self._executor.program),
            np.zeros(STREAM_WORDS, np.int64),
            np.zeros((warps, 2), np.int64),
            as_records(np.zeros(warps, WARP)),
            as_records(exchange.runs),
            as_records(exchange.addresses),
            exchange.pool,
            np.zeros((1, 4), np.int64),
            np.zeros((places, OBJECTS), np.int64),
        )

    def _begin(self, kilohertz: int) -> None:
        progress, stream = self._progress[0], self._expansion.stream
        machine = self._resident.machine
        progress.free = len(self._places)
        progress.kilohertz = kilohertz
        most = self._executor.limits.instructions
        progress.most = np.iinfo(np.int64).max if most is None else most
        progress.python = ctypes.cast(self._python, ctypes.c_void_p).value
        progress.buffer = stream.ctypes.data
        machine.ctas.stream_end[:] = stream.ctypes.data + stream.nbytes
        self._attach()

    def _attach(self) -> None:
        """Answers come from the resident CTAs' machine as it is now."""
        self._steps = Steps(
            self._resident.machine,
            self._expansion,
            self._step,
            self._progress,
            self._places,
            *self._next,
            self._journal,
        )
        self._answer = _compiled(answer, self._steps.kind)
        self._progress[0].function = self._answer.address
        self._progress[0].context = self._steps._address

    def _call(self, _, what: int) -> int:
        """A warp wants a service, or the journal is full; 0 if all may go on."""
        try:
            if what == COLLECT:
                self._collector.collect()
            else:
                self._perform()
        except BaseException as problem:
            self._problem = problem
            return 1
        return 0

    def _perform(self) -> None:
        before = self._resident.machine
        self._executor.services.perform(self._resident)
        if self._resident.machine is not before:
            self._keep = self._steps  # the answer that is being given still uses it
            self._attach()

    @property
    def warp_instructions(self) -> int:
        """Executed so far."""
        return int(self._expansion.warps.warp_instructions.sum())

    @property
    def thread_instructions(self) -> int:
        """Executed so far."""
        return int(self._expansion.warps.thread_instructions.sum())

    def failed(self) -> bool:
        """Whether the launch ended early; raises what was no fault of it, such as Ctrl-C."""
        stop = Stop(self._progress[0].stop)
        if stop == Stop.DONE or self._told:
            return self._told
        problem = self._problem
        if problem is None:
            problem = self._executor.problem(self._resident, stop)
        self._told = True
        if not isinstance(problem, LockstepError):
            raise problem
        self._fail(problem)
        return True

    def close(self) -> None:
        """The launch has ended: others may use its state."""
        if self._collector is not None:
            self._collector.collect()
        self._open.close()
