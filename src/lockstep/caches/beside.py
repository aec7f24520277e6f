"""A thread beside that of the program, in whose time entries are looked up.

Compiled code lets other threads run.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.order import ENTRY
from lockstep.plain_bytes import plain

CHUNKS = 4  # of entries that may wait or be looked up


class Beside:
    """Does what it is asked to, one thing after the other, while who asks goes on.

    What something raises is raised by one of the next calls, or by ``settle``; what was to be done
    after it is left out.
    """

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._chunks = [as_records(np.zeros(0, ENTRY)) for _ in range(CHUNKS)]
        self._busy: list[Future[None] | None] = [None] * CHUNKS
        self._next = 0
        self._last: Future[None] | None = None
        self._problem: BaseException | None = None

    def call(self, what: Callable[[], None]) -> Future[None]:
        """Have something done."""
        self._raise()
        self._thread = self._thread or ThreadPoolExecutor(1, "caches")
        self._last = self._thread.submit(self._do, what)
        return self._last

    def take(self, take: Callable[[Records, int], None], entries: Records, count: int) -> None:
        """Have a copy of some entries taken: they may change as soon as this returns."""
        k, self._next = self._next, (self._next + 1) % CHUNKS
        before = self._busy[k]
        if before is not None:
            before.result()
        if len(self._chunks[k]) < len(entries):
            self._chunks[k] = as_records(np.zeros(len(entries), ENTRY))
        chunk = self._chunks[k]
        plain(chunk)[:count] = plain(entries)[:count]
        self._busy[k] = self.call(lambda: take(chunk, count))

    def settle(self) -> None:
        """Wait until all is done."""
        if self._last is not None:
            self._last.result()
        self._raise()

    def _do(self, what: Callable[[], None]) -> None:
        if self._problem is None:
            try:
                what()
            except BaseException as error:
                self._problem = error

    def _raise(self) -> None:
        """Raise what something has raised, once."""
        if (problem := self._problem) is not None:
            if self._last is not None:
                self._last.result()  # what is left out
            self._problem = None
            raise problem
