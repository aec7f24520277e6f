"""Signals that ask a run to end: what was simulated by then is written, the exit code says which.

A terminal that closes, ``timeout``, batch systems and containers send other signals than Ctrl-C
does; they mean the same.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal came. As a KeyboardInterrupt it takes the way on which Ctrl-C ends a run."""


class Ending:
    """Which signal asked for the end, if any."""

    def __init__(self):
        self.number = 0

    @property
    def code(self) -> int:
        """The exit code that shells give to what a signal ended; 0 without one."""
        return 128 + self.number if self.number else 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Interrupt what runs.

        The first signal alone does: a terminal that closes sends two. But who presses Ctrl-C again
        does not want to wait for results.
        """
        again, self.number = self.number, self.number or number
        if not again or number == signal.SIGINT:
            raise Interrupted


@contextmanager
def ending_by_signals() -> Iterator[Ending]:
    """Turn the signals into :class:`Interrupted` meanwhile; what is ignored stays so (nohup)."""
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: old for number, old in before.items() if old != signal.SIG_IGN}
    for number in before:
        signal.signal(number, ending.handle)
    try:
        yield ending
    finally:
        for number, old in before.items():
            signal.signal(number, old)
