"""The part of a GPU that a machine runs, and its exchange with the machines of the other parts."""

import ctypes
from collections.abc import Callable, Sequence
from time import perf_counter, thread_time

import numpy as np

from lockstep._jit import Record, bound
from lockstep.engine import packets
from lockstep.engine.groups import PARTITIONS, SCHEDULED, SMS, Wire, ends, share_out
from lockstep.engine.record import RankWork
from lockstep.engine.rows import ShardRows
from lockstep.engine.transport import RankLost, Transport
from lockstep.errors import LockstepError
from lockstep.model.control import Control

STOP, CHECKPOINT = 1, 2  # what machines may want, in the header of their packets
Exchanged = list[np.ndarray | None]
HOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


def owners(
    gpu: str, shards: Sequence[int], size: int, starts: Sequence[int] = ()
) -> list[np.ndarray]:
    """Which of ``size`` machines runs each shard, group by group.

    SMs go round: a small grid, and what is left of a large one, has SMs in a row, and so all
    machines have some of it. Each has an SM at least; raises :class:`LockstepError` for more
    machines than SMs, naming the GPU. ``shards``: how many each group has; ``starts``: where SMs
    may be parted, see ``Group``.
    """
    most = len(starts) or shards[SCHEDULED]
    if not 1 <= size <= most:
        raise LockstepError(f"ranks = {size}: expected 1 to {most}, the SMs of {gpu}")
    return [
        share_out(np.arange(n), size, () if g else starts, g == SCHEDULED)
        for g, n in enumerate(shards)
    ]


def _bytes(rows: np.ndarray) -> np.ndarray:
    """A copy that any process can read: without the types of records."""
    return np.array(rows.view(np.ndarray)).reshape(-1).view(np.uint8)


class Part:
    """What one machine of several runs; alone it runs everything, and tells nobody."""

    def __init__(
        self,
        gpu: str,
        shards: Sequence[int],
        transport: Transport | None,
        starts: Sequence[int] = (),
    ):
        """``gpu``: its name; ``shards`` and ``starts``: as of :func:`owners`."""
        self._transport = transport
        size, mine = (transport.size, transport.rank) if transport else (1, 0)
        self._owners = owners(gpu, shards, size, starts)
        self._parts = [[np.flatnonzero(row == r) for row in self._owners] for r in range(size)]
        self.shards = self._parts[mine]  # of each group those that run here
        # The hook knows the part: with one, only garbage collection would free the state.
        self._hook = HOOK(self._meet) if transport else None
        self._error: BaseException | None = None
        self._since = 0.0, 0.0
        host = transport.hosts[mine] if transport else ""
        self._work = RankWork(host, len(self.shards[SMS]), len(self.shards[PARTITIONS]))
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
        self._verdict = verdict
        if self._transport is None:
            return
        links, mine = tuple(wire.link for wire in wires), self._transport.rank
        size = packets.room(links, control)
        table = np.full((len(self._owners), max(map(len, self._owners))), -1, np.int64)
        for row, of in zip(table, self._owners):
            row[: len(of)] = of
        state = links, ends(wires), control
        self._header = np.zeros(packets.HEADER, np.int64)
        self._others = [
            None if r == mine else _Other(size, (table, mine, r), state, self._header)
            for r in range(self._transport.size)
        ]

    def share(self, arrays: list[np.ndarray], groups: list[int]) -> None:
        """Fill the rows of other parts in arrays that have one for each shard of some groups."""
        if self._transport is None:
            return
        rows = [_bytes(a[self.shards[group]]) for a, group in zip(arrays, groups)]
        for other, given in zip(self._parts, self._transport.share(rows)):
            for array, group, row in zip(arrays, groups, given):
                places = other[group]
                array[places] = row.view(array.dtype).reshape(len(places), *array.shape[1:])

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
        plain = {name: array.view(np.ndarray) for name, array in arrays.items()}
        owners = {name: rows(name, array) for name, array in arrays.items()}
        given = self._transport.gather(
            {
                name: _bytes(owner.of(plain[name], self.shards[owner.group]))
                for name, owner in owners.items()
                if owner is not None
            }
        )
        if given is None:
            return None
        whole = {}
        for name, owner in owners.items():
            array = whole[name] = plain[name]
            if owner:
                pieces = [each[name] for each in given]
                whole[name] = owner.join(pieces, [p[owner.group] for p in self._parts], array)
        return whole

    def check(self) -> None:
        """Raise what went wrong between two windows."""
        if self._error is not None:
            raise self._error

    def abort(self, reason: str) -> None:
        """This machine cannot go on; the others learn it."""
        if self._transport:
            self._transport.abort(reason)

    def begin(self) -> None:
        """The machine works from now on, until it meets others."""
        self._since = perf_counter(), thread_time()

    def share_work(self) -> list[RankWork]:
        """Of each machine what it has done; alone nothing."""
        return self._transport.share(self._work) if self._transport else []

    def _timed(self, exchange: Callable[[], Exchanged], words: int) -> Exchanged:
        """Exchange, and note what that and the work before it took."""
        (began, busy), met = self._since, perf_counter()
        work, busy = self._work, thread_time() - busy
        result = exchange()
        self.begin()
        self._work = RankWork(
            work.host,
            work.sms,
            work.partitions,
            work.worked + met - began,
            work.busy + busy,
            work.waited + self._since[0] - met,
            work.exchanges + 1,
            work.words + words,
        )
        return result

    def _meet(self, _address: int, _mask: int) -> int:
        """Called by the loop: exchange packets; the verdict then holds what all know."""
        try:
            self._exchange()
        except BaseException as error:
            if isinstance(error, RankLost):
                error.cycle = int(self._verdict.start)
            self._error = error
            self._verdict.stop = 1
        return 0

    def _exchange(self) -> None:
        verdict, transport, header = self._verdict, self._transport, self._header
        assert transport is not None, "alone a machine has no hook"
        wants = STOP * self.wants_stop | CHECKPOINT * self.wants_checkpoint
        header[:] = verdict.event, verdict.ended, wants
        given = [None if other is None else other.packed() for other in self._others]
        sent = sum(len(packet) for packet in given if packet is not None)
        headers = [header.tolist()]
        for came, other in zip(self._timed(lambda: transport.exchange(given), sent), self._others):
            if other is not None and came is not None:
                headers.append(other.unpack(came))
        verdict.event = min(event for event, _, _ in headers)
        verdict.ended = sum(ended for _, ended, _ in headers)
        verdict.stop = any(wants & STOP for _, _, wants in headers)
        self.stopped = bool(verdict.stop)
        self._agreed |= any(wants & CHECKPOINT for _, _, wants in headers)


class _Other:
    """Packets to and from the machine of another part, in places of their own.

    So calls are bound once: telling a call where all links lie took most of the time of a meeting.
    """

    def __init__(self, size: int, parts: tuple, state: tuple, header: np.ndarray):
        """``size``: words of the longest packet; the rest as :func:`.packets.pack` takes it."""
        self._out, self._in = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._pack = bound(packets.pack, self._out, *parts, *state, header)
        self._unpack = bound(packets.unpack, self._in, *parts, *state)

    def packed(self) -> np.ndarray:
        """What this machine tells the other one; until the next call."""
        return self._out[: self._pack()]

    def unpack(self, packet: np.ndarray) -> list[int]:
        """Put what came where it belongs; its header."""
        self._in[: len(packet)] = packet
        self._unpack()
        return packet[: packets.HEADER].tolist()
