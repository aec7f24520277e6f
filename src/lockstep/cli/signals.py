"""Signals that ask a run to end: what was simulated by then is written, the exit code says which.

A terminal that closes, ``timeout``, batch systems and containers send other signals than Ctrl-C
does; they mean the same.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128 + signal.SIGINT  # exit code after a Ctrl-C
DELAY = 1.0  # seconds until an exception that was lost is raised again


class Interrupted(KeyboardInterrupt):
    """A signal came. As a KeyboardInterrupt it takes the way on which Ctrl-C ends a run."""


class SignalEnding:
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

    def lost(self, otherwise: Callable) -> Callable:
        """A hook for exceptions in callbacks, which return to code that knows none of Python's.

        They are finalizers and callbacks of libraries, which go on or fail in some other way:
        interrupt again soon, unless all has ended by then. What was interrupted while it was made
        may fail to be finalized: nobody needs to know.
        """

        def hook(unraisable) -> None:
            if issubclass(unraisable.exc_type, KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, DELAY)
            elif not self.number:
                otherwise(unraisable)

        return hook


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted


@contextmanager
def ending_by_signals() -> Iterator[SignalEnding]:
    """Turn the signals into :class:`Interrupted` meanwhile; what is ignored stays so (nohup)."""
    ending = SignalEnding()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: old for number, old in before.items() if old != signal.SIG_IGN}
    for number in before:
        signal.signal(number, ending.handle)
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, _interrupt)
    hook, sys.unraisablehook = sys.unraisablehook, ending.lost(sys.unraisablehook)
    try:
        yield ending
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not ending.number:  # else the process ends, and finalizes what is left
            sys.unraisablehook = hook
        for number, old in before.items():
            signal.signal(number, old)
