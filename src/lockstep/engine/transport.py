"""How machines of one GPU reach each other: all exchange something, and go on when all have.

A transport knows how many machines there are and which one it belongs to. ``exchange`` gives each
of them an array and returns what they gave; ``share`` gives all of them the same, ``gather`` gives
it to the first one. They are called by all machines in the same order. Where machines have memory
in common, ``boxes`` are places in it, through which they exchange packets without a call. Machines
of one process meet here, those of several in :mod:`.mpi`.
"""

import platform
import threading
from collections.abc import Callable
from time import sleep
from typing import Any, Protocol

import numpy as np

from lockstep.engine.boxes import Boxes, layout
from lockstep.errors import LockstepError

NAP = 0.0001  # seconds between two looks of machines that are threads


class RankLost(LockstepError):
    """A machine does not answer any more, and cannot say why; ``rank`` is its number."""

    def __init__(self, rank: int, size: int, why: str):
        self.rank = rank
        self.cycle = 0  # that all had come to
        super().__init__(f"rank {rank} of {size} is lost: {why}")


class Communicator(Protocol):
    """Processes that run machines of one GPU: a communicator of mpi4py, or a transport."""

    rank: int
    size: int


class Transport(Protocol):
    """Of one machine among several."""

    rank: int
    size: int
    hurried: bool  # set from outside: there is little time left to find out who is lost
    noted: np.ndarray | None  # where exchanges through boxes are noted, see ``Nearby``

    @property
    def hosts(self) -> list[str]:
        """The names of the hosts on which machines run, by rank."""
        ...

    def exchange(self, packets: list[np.ndarray | None]) -> list[np.ndarray | None]:
        """Give ``packets[r]`` to machine ``r``; what each gave to this one. Not itself: None.

        What came is there until the next call of any of these functions.
        """
        ...

    def boxes(self, rooms: np.ndarray) -> Boxes | None:
        """Boxes for packets of so many words, from machine to machine; empty ones, ready for use.

        None where machines have no memory in common. They are there until ``close``.
        """
        ...

    def await_packet(self, rank: int, has_come: Callable[[], bool]) -> None:
        """Wait for what a machine posts in its boxes; raise an error if it never will."""
        ...

    def share(self, value: Any) -> list[Any]:
        """Give a value to all machines; the values of all, by rank."""
        ...

    def gather(self, value: Any) -> list[Any] | None:
        """Give a value to the first machine; there the values of all, by rank."""
        ...

    def abort(self, reason: str) -> None:
        """This machine cannot go on: all others that wait for it, or will, raise an error."""
        ...

    def look(self) -> None:
        """Raise :class:`RankLost` if it is known that another machine cannot go on.

        Called by any thread, again and again.
        """
        ...

    def close(self) -> None:
        """Nothing more is exchanged; called by all machines."""
        ...


def check_alike(transport: Transport, what: dict[str, str]) -> None:
    """Raise if machines are not to do the same; ``what`` they are to do, by name."""
    first, *others = transport.share(what)
    for rank, theirs in enumerate(others, 1):
        for name, value in first.items():
            if theirs.get(name) != value:
                raise LockstepError(
                    f"rank {rank} on {transport.hosts[rank]} has another {name} than rank 0 on "
                    f"{transport.hosts[0]}: {theirs.get(name, 'none')}, not {value}"
                )


class _Board:
    """Where machines of one process leave what they give."""

    def __init__(self, size: int):
        self.given: list[list[Any]] = [[None] * size for _ in range(2)]
        self.barrier = threading.Barrier(size)
        self.memories: list[np.ndarray] = []


class InMemory:
    """Machines that are threads of one process."""

    def __init__(self, board: _Board, rank: int, size: int):
        self._board, self.rank, self.size = board, rank, size
        self._turn = self._boxes = 0
        self.hurried = False
        self.noted: np.ndarray | None = None

    @property
    def hosts(self) -> list[str]:
        """See :class:`Transport`."""
        return [platform.node()] * self.size

    def exchange(self, packets: list[np.ndarray | None]) -> list[np.ndarray | None]:
        """See :class:`Transport`. Arrays are copied: their owners write them again."""
        rows = self.share([None if p is None else p.copy() for p in packets])
        return [row[self.rank] for row in rows]

    def share(self, value: Any) -> list[Any]:
        """See :class:`Transport`."""
        # In turn on two boards: who is done with one gives to the other while the rest still read.
        given = self._board.given[self._turn]
        self._turn = 1 - self._turn
        given[self.rank] = value
        try:
            self._board.barrier.wait()
        except threading.BrokenBarrierError:
            raise LockstepError("another rank has ended early") from None
        return list(given)

    def boxes(self, rooms: np.ndarray) -> Boxes | None:
        """See :class:`Transport`."""
        places, words = layout(rooms)
        if self._boxes == len(self._board.memories):  # nobody waits: machines are built in a row
            self._board.memories.append(np.zeros(words, np.int64))
        self._boxes += 1
        return Boxes(self._board.memories[self._boxes - 1], places)

    def await_packet(self, rank: int, has_come: Callable[[], bool]) -> None:
        """See :class:`Transport`."""
        while not has_come():
            if self._board.barrier.broken:
                raise LockstepError("another rank has ended early")
            sleep(NAP)

    def gather(self, value: Any) -> list[Any] | None:
        """See :class:`Transport`."""
        values = self.share(value)
        return None if self.rank else values

    def abort(self, reason: str) -> None:
        """See :class:`Transport`."""
        self._board.barrier.abort()

    def look(self) -> None:
        """See :class:`Transport`: they live as long as the process."""

    def close(self) -> None:
        """See :class:`Transport`."""


def in_memory(size: int) -> list[InMemory]:
    """Transports of so many machines in this process."""
    board = _Board(size)
    return [InMemory(board, rank, size) for rank in range(size)]
