"""A thread that looks entries up while the next ones are made: compiled code lets others run."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.order import ENTRY
from lockstep.plain_bytes import plain


class Beside:
    """Calls ``take`` with copies of entries, in their order, one call after the other."""

    def __init__(self, take: Callable[[Records, int], None]):
        self._take = take
        self._entries = as_records(np.zeros(0, ENTRY))
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None

    def take(self, entries: Records, count: int) -> None:
        """Have some entries looked up; they may change as soon as this returns.

        Raises what the call before raised.
        """
        self.settle()
        if len(self._entries) < len(entries):
            self._entries = as_records(np.zeros(len(entries), ENTRY))
        plain(self._entries)[:count] = plain(entries)[:count]
        self._thread = self._thread or ThreadPoolExecutor(1, "caches")
        self._last = self._thread.submit(self._take, self._entries, count)

    def settle(self) -> None:
        """Wait until all entries are looked up; raises what a call raised."""
        last, self._last = self._last, None
        if last is not None:
            last.result()
