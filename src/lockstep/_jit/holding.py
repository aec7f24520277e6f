"""Signals while machine code runs that calls Python: no exception gets through it.

Python runs the handler of a signal that came meanwhile when machine code calls a function of
Python, before the first line of it, where no ``try`` is. What the handler raises is printed and
lost, and machine code goes on with whatever is in the register of the result. LLVM calls back while
it generates code; compiled code does for what only Python can do.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

SIGNALS = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGCHLD,
    signal.SIGUSR1, signal.SIGUSR2,
)  # fmt: skip
"""Those whose handlers, if they are Python's, may want to end what runs."""


class SignalHold:
    """Handlers wait while it is held, and run when it ends; in other threads none would run."""

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._came: dict[int, None] = {}

    @contextmanager
    def held(self, wanted: bool = True) -> Iterator[None]:
        """Let handlers wait meanwhile, if that is ``wanted``; what they raise comes at the end."""
        if not wanted or self._handlers or not _in_main_thread():
            yield
            return
        try:
            self._hold()
            yield
        finally:
            self._let_go()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let them run meanwhile, where a function that machine code called catches it."""
        if not self._handlers or not _in_main_thread():
            yield
            return
        try:
            self._let_go()
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)

    def _let_go(self) -> None:
        handlers, came = self._handlers, self._came
        self._handlers, self._came = {}, {}
        with ExitStack() as last_first:  # all of them, whatever handlers raise
            for number in came:
                last_first.callback(signal.raise_signal, number)
            for number, handler in handlers.items():
                last_first.callback(signal.signal, number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came[number] = None


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
