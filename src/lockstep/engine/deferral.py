"""Signals that end a run wait until its state is whole, so that a last checkpoint can be written.

A handler in Python may interrupt any line of it. Who keeps checkpoints holds the handlers back
while a run is between two places where its state is whole; at the next one it lets go. What takes
longer than ``GRACE`` is interrupted there, as it would have been, and so is a run that is asked
twice.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any, Protocol

from lockstep.model.clock import NEVER

GRACE = 1.0  # seconds
LONGEST = 0.2  # ... that windows take whose end somebody may wait for, more or less
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Deferral:
    """Whether a signal waits."""

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._waits = 0  # the signal's number

    @property
    def asked(self) -> bool:
        """Whether somebody has asked for the end."""
        return bool(self._waits)

    @contextmanager
    def held(self, wanted: bool) -> Iterator[None]:
        """Hold the handlers back meanwhile, in the main thread, if that is ``wanted``."""
        if not wanted or threading.current_thread() is not threading.main_thread():
            yield
            return
        known = {number: signal.getsignal(number) for number in SIGNALS}
        self._handlers = {n: handler for n, handler in known.items() if callable(handler)}
        before = {n: signal.signal(n, self._wait) for n in self._handlers}
        before[signal.SIGALRM] = self._alarm = signal.signal(signal.SIGALRM, self._late)
        try:
            yield
            self.let_go()
        finally:
            if self._waits:
                signal.setitimer(signal.ITIMER_REAL, 0)
                self._waits = 0
            for number, handler in before.items():
                signal.signal(number, handler)

    def let_go(self) -> None:
        """Let the signal that waits do what it does."""
        if self._waits:
            number, self._waits = self._waits, 0
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._handlers[number](number, None)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        if not self._waits:
            self._waits = number
            signal.setitimer(signal.ITIMER_REAL, GRACE)
        elif number == signal.SIGINT:  # again; a terminal that closes sends two others
            self.let_go()

    def _late(self, number: int, frame: FrameType | None) -> None:
        if self._waits:
            self.let_go()
        elif callable(self._alarm):
            self._alarm(number, frame)


class SlicedRun(Protocol):
    """A run, as far as it is cut here: see :class:`~lockstep.engine.simulation.Simulation`."""

    now: int
    reached: int
    machine: Any

    def window(self, most: int) -> None:
        """Windows, no more than that."""
        ...


class Slices:
    """How many windows are run before anybody looks at whether the state is to be saved."""

    def __init__(self, wanted: bool) -> None:
        """If it is not ``wanted``, as many as there are."""
        self.most = 1 if wanted else NEVER

    def run(self, simulation: SlicedRun) -> None:
        """Run some: the next time more or fewer, by how long it takes."""
        start, begin = simulation.now, perf_counter()
        simulation.window(self.most)
        seconds = perf_counter() - begin
        if self.most == NEVER:
            return
        if seconds > LONGEST:
            self.most = max(self.most // 2, 1)
        elif (
            seconds < LONGEST / 4
            and simulation.reached - start >= self.most * simulation.machine.window
        ):
            self.most *= 2
