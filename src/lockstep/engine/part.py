"""The part of a GPU that a machine runs, and its exchange with the machines of the other parts."""

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from lockstep._jit import Record
from lockstep.engine import packets
from lockstep.engine.groups import SCHEDULED, Wire, ends, split
from lockstep.engine.rows import ShardRows
from lockstep.engine.transport import Transport
from lockstep.errors import LockstepError
from lockstep.model.control import Control

STOP, CHECKPOINT = 1, 2  # what machines may want, in the header of their packets
HOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


def parts(
    gpu: str, shards: Sequence[int], size: int, starts: Sequence[int] = ()
) -> list[np.ndarray]:
    """Of each of ``size`` machines: for each group its first shard and the one behind its last.

    Each has an SM at least; raises :class:`LockstepError` for more machines than SMs, naming the
    GPU. ``shards``: how many each group has; ``starts``: where SMs may be parted, see ``Group``.
    """
    most = len(starts) or shards[SCHEDULED]
    if not 1 <= size <= most:
        raise LockstepError(f"ranks = {size}: expected 1 to {most}, the SMs of {gpu}")
    cuts = [split(0, n, size, () if g else starts) for g, n in enumerate(shards)]
    return [np.array(part, np.int64) for part in zip(*cuts)]


class Part:
    """What one machine of several runs; alone it runs everything, and tells nobody."""

    def __init__(
        self,
        gpu: str,
        shards: Sequence[int],
        transport: Transport | None,
        starts: Sequence[int] = (),
    ):
        """``gpu``: its name; ``shards`` and ``starts``: as of :func:`parts`."""
        self._transport = transport
        self._parts = parts(gpu, shards, transport.size if transport else 1, starts)
        self.bounds = self._parts[transport.rank if transport else 0]
        # The hook knows the part: with one, only garbage collection would free the state.
        self._hook = HOOK(self._meet) if transport else None
        self._error: BaseException | None = None
        self.wants_stop = False  # set from outside: all ranks stop after the window
        self.wants_checkpoint = False  # likewise: all take part in one
        self.stopped = self._agreed = False

    @property
    def is_first(self) -> bool:
        """Whether it is the first of several, or alone."""
        return self._transport is None or self._transport.rank == 0

    @property
    def address(self) -> int:
        """Of the function that the loop over windows calls between two of them; 0 = none."""
        return (self._hook and ctypes.cast(self._hook, ctypes.c_void_p).value) or 0

    def join(self, control: Control, wires: Sequence[Wire], verdict: Record) -> None:
        """Work on this state from now on; the loop's ``verdict`` holds what it knows."""
        self._control, self._verdict = control, verdict
        self._links, self._ends = tuple(wire.link for wire in wires), ends(wires)
        if self._transport:
            size = packets.room(self._links, control)
            mine = self._transport.rank
            sizes = [0 if r == mine else size for r in range(self._transport.size)]
            self._out = [np.zeros(n, np.int64) for n in sizes]

    def share(self, arrays: list[np.ndarray], groups: list[int]) -> None:
        """Fill the rows of other parts in arrays that have one for each shard of some groups."""
        if self._transport is None:
            return
        mine = [slice(*self.bounds[group].tolist()) for group in groups]
        rows = [np.array(a[place].view(np.ndarray)) for a, place in zip(arrays, mine)]
        for other, given in zip(self._parts, self._transport.share(rows)):
            for array, group, row in zip(arrays, groups, given):
                array[slice(*other[group].tolist())] = row

    def add(self, array: np.ndarray) -> np.ndarray:
        """The sum of what all parts have; the array is not written any more."""
        return array if self._transport is None else np.sum(self._transport.share(array), axis=0)

    def agree(self, wanted: bool) -> bool:
        """Whether all machines write a checkpoint between the last window and the next one.

        Called by all between the same windows; what one wants the others learn in the next ones.
        """
        if self._transport is None:
            return wanted
        self.wants_checkpoint |= wanted
        agreed, self._agreed = self._agreed, False
        self.wants_checkpoint &= not agreed
        return agreed

    def gather(
        self, arrays: dict[str, np.ndarray], rows: Callable[[str, np.ndarray], ShardRows | None]
    ) -> dict[str, np.ndarray] | None:
        """Arrays with the rows of all parts, for the first machine; None for the others.

        ``rows`` says of which shards an array has rows; None: all machines have the same.
        """
        if self._transport is None:
            return arrays
        given = self._transport.share(arrays)
        whole = None
        if self._transport.rank == 0:
            whole = {
                name: self._join([each[name] for each in given], rows(name, array))
                for name, array in arrays.items()
            }
        self._transport.share(None)  # nobody goes on before that
        return whole

    def _join(self, arrays: list[np.ndarray], rows: ShardRows | None) -> np.ndarray:
        plain = [array.view(np.ndarray) for array in arrays]
        return rows.join(plain, self._parts) if rows else plain[0]

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
        window = int(self._links[0].begun[self.bounds[SCHEDULED, 0]])
        wants = STOP * self.wants_stop | CHECKPOINT * self.wants_checkpoint
        told = int(verdict.event), int(verdict.ended), wants
        given: list[np.ndarray | None] = []
        for packet, other in zip(self._out, self._parts):
            if len(packet) == 0:
                given.append(None)
                continue
            state = self._links, self._ends, self._control
            given.append(packet[: packets.pack(packet, self.bounds, other, *state, *told)])
        headers = [told]
        for came, other in zip(transport.exchange(given), self._parts):
            if came is not None:
                packets.unpack(came, other, self._links, self._ends, self._control, window)
                headers.append(tuple(came[: packets.HEADER].tolist()))
        verdict.event = min(event for event, _, _ in headers)
        verdict.ended = sum(ended for _, ended, _ in headers)
        verdict.stop = any(wants & STOP for _, _, wants in headers)
        self.stopped = bool(verdict.stop)
        self._agreed |= any(wants & CHECKPOINT for _, _, wants in headers)
