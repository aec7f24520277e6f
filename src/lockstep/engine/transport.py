"""How machines of one GPU reach each other: all exchange something, and go on when all have.

A transport knows how many machines there are and which one it belongs to. ``exchange`` gives each
of them an array and returns what they gave; ``share`` gives all of them the same. Both are called
by all machines in the same order.
"""

import threading
from typing import Any, Protocol

import numpy as np

from lockstep.errors import LockstepError


class Transport(Protocol):
    """Of one machine among several."""

    rank: int
    size: int

    def exchange(self, packets: list[np.ndarray | None]) -> list[np.ndarray | None]:
        """Give ``packets[r]`` to machine ``r``; what each gave to this one. Not itself: None."""
        ...

    def share(self, value: Any) -> list[Any]:
        """Give a value to all machines; the values of all, by rank."""
        ...

    def abort(self) -> None:
        """This machine cannot go on: all others that wait for it, or will, raise an error."""
        ...


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

    def abort(self) -> None:
        """See :class:`Transport`."""
        self._board.barrier.abort()


def in_memory(size: int) -> list[InMemory]:
    """Transports of so many machines in this process."""
    board = _Board(size)
    return [InMemory(board, rank, size) for rank in range(size)]
