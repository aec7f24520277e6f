"""The meeting with a memory that another simulator models, between two windows."""

import ctypes
import weakref
from typing import NoReturn

import numpy as np

from lockstep._jit import Record
from lockstep.engine.part import HOOK
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.model import link, outside
from lockstep.model.records import records
from lockstep.outside import ANSWER, REQUEST, Interface, OutsideMemory


class Outside:
    """What a machine does instead of its partitions; called by the loop over windows."""

    def __init__(
        self, gpu: GPU, requests: link.Link, replies: link.Link, memory: OutsideMemory
    ) -> None:
        """Raises :class:`LockstepError` for a GPU whose memory must be here."""
        _check(gpu)
        self.state = outside.build(
            requests, replies, gpu.l2.sector_bytes, gpu.interconnect.flit_bytes
        )
        self._memory, self._start = memory, 0
        ids = len(self.state.free)
        self._requests = records(ids, REQUEST)
        self._answers, self._left = records(ids, ANSWER), 0  # without a credit for the way
        meet = weakref.WeakMethod(self._meet)  # only garbage collection would free a circle
        self._hook = HOOK(lambda end, mask: meet()(end, mask))  # type: ignore[misc]
        self._error: BaseException | None = None
        self.stopped = False  # by Ctrl-C, while it was the memory's turn
        memory.begin(
            Interface(
                gpu.name,
                gpu.sm.count,
                gpu.dram.channels,
                gpu.l2.line_bytes,
                gpu.l2.sector_bytes,
                gpu.interconnect.latency,
                ids,
                gpu.clock_mhz * 1e6,
            )
        )

    def join(self, verdict: Record) -> None:
        """Work with the loop whose ``verdict`` this is."""
        self._verdict = verdict

    @property
    def address(self) -> int:
        """Of the function that the loop calls between two windows."""
        return ctypes.cast(self._hook, ctypes.c_void_p).value or 0

    def check(self) -> None:
        """Raise what went wrong between two windows."""
        error, self._error = self._error, None  # whose frames know this
        try:
            if error is not None:
                raise error
        finally:
            del error  # this frame is in its traceback

    def close(self) -> None:
        """The run is over."""
        self._memory.close()

    def _meet(self, end: int | None, _mask: int) -> int:
        try:
            self._exchange(end or 0)
        except KeyboardInterrupt:
            self.stopped = True
        except BaseException as error:
            self._error = error
        self._verdict.stop = self.stopped or self._error is not None
        return 0

    def _exchange(self, end: int) -> None:
        count = outside.collect(self.state, self._requests)
        given = self._requests[:count].view(np.ndarray).copy()
        came = np.asarray(self._memory.exchange(end, given), ANSWER)
        before, total = self._left, self._left + len(came)
        if total > len(self._answers):
            raise LockstepError(
                f"the outside memory gives {len(came):,} answers at cycle {end:,}, more than there "
                "are requests under way"
            )
        self._answers[before:total] = came[np.lexsort((came["id"], came["cycle"]))]
        wrong = outside.accept(self.state, self._answers, before, total, self._start, end)
        if wrong >= 0:
            self._refuse(self._answers[wrong], end)
        self._left = outside.answer(self.state, self._answers, total, self._start)
        # What is under way may be answered in any cycle from now on.
        if self._left < total or outside.under_way(self.state):
            self._verdict.event = min(self._verdict.event, end)
        self._start = end

    def _refuse(self, row: Record, end: int) -> NoReturn:
        what = f"the outside memory answers request {row.id}"
        if self._start <= row.cycle < end:
            raise LockstepError(f"{what}, which is not under way")
        raise LockstepError(
            f"{what} at cycle {row.cycle}: expected one from {self._start} to {end - 1}"
        )


def _check(gpu: GPU) -> None:
    if gpu.modules.count > 1:
        raise LockstepError(
            f"modules.count = {gpu.modules.count}: an outside memory is behind one crossbar; set "
            "it to 1"
        )
    if gpu.coherence.protocol != "none":
        raise LockstepError(
            f"coherence.protocol = {gpu.coherence.protocol}: an outside memory keeps no directory; "
            "set it to none"
        )
