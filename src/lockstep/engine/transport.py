"""How machines of one GPU reach each other: all exchange something, and go on when all have.

A transport knows how many machines there are and which one it belongs to. ``exchange`` gives each
of them an array and returns what they gave; ``share`` gives all of them the same, ``gather`` gives
it to the first one. They are called by all machines in the same order. Machines of one process meet
here, those of several in :mod:`.mpi`.
"""

import platform
import threading
from typing import Any, Protocol

import numpy as np

from lockstep.errors import LockstepError


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

    @property
    def hosts(self) -> list[str]:
        """The names of the hosts on which machines run, by rank."""
        ...

    def exchange(self, packets: list[np.ndarray | None]) -> list[np.ndarray | None]:
        """Give ``packets[r]`` to machine ``r``; what each gave to this one. Not itself: None.

        What came is there until the next call of any of these functions.
        """
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


class InMemory:
    """Machines that are threads of one process."""

    def __init__(self, board: _Board, rank: int, size: int):
        self._board, self.rank, self.size = board, rank, size
        self._turn = 0
        self.hurried = False

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
