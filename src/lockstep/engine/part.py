"""The part of a GPU that a machine runs, and its exchange with the machines of the other parts."""

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from lockstep._jit import Record
from lockstep.engine import packets
from lockstep.engine.threads import blocks
from lockstep.engine.transport import Transport
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.model.control import Control

if TYPE_CHECKING:
    from lockstep.engine.machine import Links

HOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


def parts(gpu: GPU, size: int) -> list[np.ndarray]:
    """First and last SM, first and last partition of each of ``size`` machines.

    Each has an SM at least; raises :class:`LockstepError` for more machines than SMs.
    """
    sms, channels = gpu.sm.count, gpu.dram.channels
    if not 1 <= size <= sms:
        raise LockstepError(f"ranks = {size}: expected 1 to {sms}, the SMs of {gpu.name}")
    memory = blocks(channels, size)
    memory += [(channels, channels)] * (size - len(memory))
    return [np.array(a + b, np.int64) for a, b in zip(blocks(sms, size), memory)]


class Part:
    """What one machine of several runs; alone it runs everything, and tells nobody."""

    def __init__(self, gpu: GPU, transport: Transport | None):
        self._transport = transport
        self._parts = parts(gpu, transport.size if transport else 1)
        self.bounds = self._parts[transport.rank if transport else 0]
        self._hook = HOOK(self._meet)
        self._error: BaseException | None = None
        self.wants_stop = False  # set from outside: all ranks stop after the window
        self.stopped = False

    @property
    def address(self) -> int:
        """Of the function that the loop over windows calls between two of them; 0 = none."""
        if self._transport is None:
            return 0
        return ctypes.cast(self._hook, ctypes.c_void_p).value or 0

    def join(self, control: Control, links: "Links", verdict: Record) -> None:
        """Work on this state from now on; the loop's ``verdict`` holds what it knows."""
        self._control, self._links, self._verdict = control, links, verdict
        if self._transport:
            size = packets.room(links, control)
            mine = self._transport.rank
            sizes = [0 if r == mine else size for r in range(self._transport.size)]
            self._out = [np.zeros(n, np.int64) for n in sizes]

    def share(self, arrays: list[np.ndarray], kinds: list[int]) -> None:
        """Fill the rows of other parts in arrays by SM (kind 0) or by partition (kind 2)."""
        if self._transport is None:
            return
        first = [int(self.bounds[k]) for k in kinds]
        last = [int(self.bounds[k + 1]) for k in kinds]
        rows = [np.array(a[i:j].view(np.ndarray)) for a, i, j in zip(arrays, first, last)]
        for other, given in zip(self._parts, self._transport.share(rows)):
            for array, kind, row in zip(arrays, kinds, given):
                array[other[kind] : other[kind + 1]] = row

    def check(self) -> None:
        """Raise what went wrong between two windows."""
        if self._error is not None:
            raise self._error

    def abort(self) -> None:
        """This machine cannot go on; the others learn it."""
        if self._transport:
            self._transport.abort()

    def _meet(self, _address: int, _mask: int) -> int:
        """Called by the loop: exchange packets; the verdict then holds what all know."""
        try:
            self._exchange()
        except BaseException as error:
            self._error = error
            self._verdict.stop = 1
        return 0

    def _exchange(self) -> None:
        verdict, transport = self._verdict, self._transport
        assert transport is not None, "alone a machine has no hook"
        requests, replies = self._links.requests, self._links.replies
        window = int(requests.begun[self.bounds[0]])
        told = int(verdict.event), int(verdict.ended), int(self.wants_stop)
        given: list[np.ndarray | None] = []
        for packet, other in zip(self._out, self._parts):
            if len(packet) == 0:
                given.append(None)
                continue
            state = requests, replies, self._control
            given.append(packet[: packets.pack(packet, self.bounds, other, *state, *told)])
        headers = [told]
        for came, other in zip(transport.exchange(given), self._parts):
            if came is not None:
                packets.unpack(came, other, requests, replies, self._control, window)
                headers.append(tuple(came[: packets.HEADER].tolist()))
        verdict.event = min(event for event, _, _ in headers)
        verdict.ended = sum(ended for _, ended, _ in headers)
        verdict.stop = any(stop for _, _, stop in headers)
        self.stopped = bool(verdict.stop)
