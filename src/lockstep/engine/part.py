"""The part of a GPU that a machine runs, and its exchange with the machines of the other parts."""

import ctypes
from collections.abc import Callable, Sequence
from time import monotonic_ns, thread_time_ns
from typing import Any

import numpy as np

from lockstep._jit import Record, bound
from lockstep.engine import nearby, packets
from lockstep.engine.boxes import LINE
from lockstep.engine.groups import PARTITIONS, SCHEDULED, SMS, Wire, ends, share_out
from lockstep.engine.record import RankWork
from lockstep.engine.rows import ShardRows
from lockstep.engine.transport import RankLost, Transport
from lockstep.errors import LockstepError
from lockstep.model.control import Control
from lockstep.model.records import records
from lockstep.plain_bytes import plain

TOLD = ("worked", "busy", "waited", "exchanges", "words")  # of ``RankWork``, times in ns
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
        self._waiter = HOOK(self._await) if transport else None
        self._state = records(1, nearby.MEETING)
        self._state[0].machine = mine
        self._told = np.zeros((size, len(TOLD)), np.int64)
        self.near = nearby.alone()  # until the part is joined

    @property
    def is_alone(self) -> bool:
        """Whether there are no others."""
        return self._transport is None

    @property
    def is_first(self) -> bool:
        """Whether it is the first of several, or alone."""
        return self._transport is None or self._transport.rank == 0

    @property
    def address(self) -> int:
        """Of the function that the loop over windows calls between two of them; 0 = none."""
        return _address(self._hook)

    @property
    def stopped(self) -> bool:
        """Whether somebody wanted all to stop after the last window."""
        return bool(self._state[0].stopped)

    def want(self, checkpoint: bool) -> None:
        """All machines are to stop after their window, with a checkpoint; from any thread."""
        own = self._state[0]
        own.wants_checkpoint, own.wants_stop = checkpoint, 1

    def join(self, control: Control, wires: Sequence[Wire], verdict: Record) -> None:
        """Work on this state from now on; the loop's ``verdict`` holds what it knows."""
        self._verdict = verdict
        if self._transport is None:
            return
        links, mine = tuple(wire.link for wire in wires), self._transport.rank
        table = np.full((len(self._owners), max(map(len, self._owners))), -1, np.int64)
        for row, of in zip(table, self._owners):
            row[: len(of)] = of
        others = [r for r in range(self._transport.size) if r != mine]
        joined = ends(wires)
        shards = [[len(row) for row in part] for part in self._parts]
        rooms = np.array([[packets.room(links, joined, control, n)] for n in shards])
        boxes = self._transport.boxes(np.repeat(rooms, len(shards), 1))
        if boxes is not None:
            waiter, noted = _address(self._waiter), self._transport.noted
            self.near = nearby.build(boxes, table, self._state, waiter, noted)
            return
        self._header = np.zeros(packets.HEADER, np.int64)
        state = links, joined, control
        self._others = {
            r: _Other(int(rooms.max()), (table, mine, r), state, self._header) for r in others
        }

    def share(self, arrays: list[np.ndarray], groups: list[int]) -> None:
        """Fill the rows of other parts in arrays that have one for each shard of some groups.

        They tell each other, too, what they have done so far.
        """
        if self._transport is None:
            return
        transport, raw = self._transport, list(map(plain, arrays))
        packet = self._packed([a[self.shards[group]] for a, group in zip(raw, groups)])
        self._told[transport.rank] = packet[: len(TOLD)]
        given = [None if r == transport.rank else packet for r in range(transport.size)]
        for r, came in enumerate(transport.exchange(given)):
            if came is None:
                continue
            self._told[r], left = came[: len(TOLD)], came[len(TOLD) :].view(np.uint8)
            for array, group in zip(raw, groups):
                places = self._parts[r][group]
                room = len(places) * array.nbytes // len(array)
                row, left = left[:room], left[room:]
                array[places] = row.view(array.dtype).reshape(len(places), *array.shape[1:])

    def _packed(self, rows: list[np.ndarray]) -> np.ndarray:
        """What this machine has done, and rows one after the other."""
        given = [_bytes(row) for row in rows]
        used = sum(map(len, given))
        packet = np.zeros(len(TOLD) - (-used // packets.WORD_BYTES), np.int64)
        packet[: len(TOLD)] = [self._state[0][name] for name in TOLD]
        np.concatenate(given, out=packet[len(TOLD) :].view(np.uint8)[:used])
        return packet

    def add(self, array: np.ndarray) -> np.ndarray:
        """The sum of what all parts have; the array is not written any more."""
        return array if self._transport is None else np.sum(self._transport.share(array), axis=0)

    def agree(self, wanted: bool) -> bool:
        """Whether all machines write a checkpoint between the last window and the next one.

        Called by all between the same windows; what one wants the others learn in the next ones.
        """
        if self._transport is None:
            return wanted
        own = self._state[0]
        agreed = bool(own.agreed)
        own.agreed = 0
        own.wants_checkpoint = (own.wants_checkpoint or wanted) and not agreed
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
        own = self._state[0]
        own.since, own.since_busy = monotonic_ns(), thread_time_ns()

    @property
    def work(self) -> list[RankWork]:
        """Of each machine what it had done when all shared something last; alone nothing."""
        if self._transport is None:
            return []
        parts = zip(self._transport.hosts, self._parts, self._told.tolist())
        return [
            RankWork(
                host,
                len(part[SMS]),
                len(part[PARTITIONS]),
                worked / 1e9,
                busy / 1e9,
                waited / 1e9,
                exchanges,
                words,
            )
            for host, part, (worked, busy, waited, exchanges, words) in parts
        ]

    def _await(self, packets: int | None, other: int) -> int:
        """Called by the loop: wait for what a machine of this host gives; whether it never will."""
        try:
            assert self._transport is not None, "alone a machine waits for nobody"
            words, place = self.near.boxes.words, other * LINE
            self._transport.await_packet(other, lambda: bool(words[place] >= (packets or 0)))
        except BaseException as error:
            self._fail(error)
        return self._error is not None

    def _meet(self, _address: int, _mask: int) -> int:
        """Called by the loop: exchange packets; the verdict then holds what all know."""
        try:
            self._exchange()
        except BaseException as error:
            self._fail(error)
            self._verdict.stop = 1
        return 0

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, RankLost):
            error.cycle = int(self._verdict.start)
        self._error = error

    def _exchange(self) -> None:
        verdict, transport, own = self._verdict, self._transport, self._state[0]
        assert transport is not None, "alone a machine has no hook"
        met, busy = monotonic_ns(), thread_time_ns()
        own.worked += met - own.since
        own.busy += busy - own.since_busy
        wants = nearby.STOP * own.wants_stop | nearby.CHECKPOINT * own.wants_checkpoint
        self._header[:] = verdict.event, verdict.ended, wants
        given: list[np.ndarray | None] = [None] * transport.size
        for r, other in self._others.items():
            given[r] = packet = other.packed()
            own.words += len(packet)
        came = transport.exchange(given)
        own.exchanges += 1
        headers = [self._header.tolist()]
        for r, other in self._others.items():
            headers.append(other.unpack(came[r]))
        verdict.event = min(event for event, _, _ in headers)
        verdict.ended = sum(ended for _, ended, _ in headers)
        verdict.stop = own.stopped = any(wants & nearby.STOP for _, _, wants in headers)
        own.agreed |= any(wants & nearby.CHECKPOINT for _, _, wants in headers)
        self.begin()
        own.waited += own.since - met


def _address(hook: Any) -> int:
    return (hook and ctypes.cast(hook, ctypes.c_void_p).value) or 0


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

    def unpack(self, packet: np.ndarray | None) -> list[int]:
        """Put what came where it belongs; its header."""
        assert packet is not None, "everybody gives something to everybody else"
        self._in[: len(packet)] = packet
        self._unpack()
        return packet[: packets.HEADER].tolist()
