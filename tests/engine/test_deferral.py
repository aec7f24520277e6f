"""Deferral: a signal waits until the state is whole, and no longer than it must."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from lockstep.engine import deferral
from lockstep.engine.deferral import SIGNALS, Deferral, Slices
from lockstep.model.clock import NEVER


def send(number):
    os.kill(os.getpid(), number)


def test_a_signal_waits_until_it_is_let_go():
    before = [signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)]
    wait, reached = Deferral(), False
    with pytest.raises(KeyboardInterrupt), wait.held(True):
        wait.let_go()
        assert not wait.asked
        send(signal.SIGINT)
        assert wait.asked
        reached = True
        wait.let_go()
        raise AssertionError("it was let go")
    assert reached and not wait.asked
    assert [signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_it_comes_at_the_end_at_the_latest():
    with pytest.raises(KeyboardInterrupt), Deferral().held(True):
        send(signal.SIGINT)


def test_who_asks_twice_does_not_wait():
    wait = Deferral()
    with pytest.raises(KeyboardInterrupt), wait.held(True):
        send(signal.SIGINT)
        send(signal.SIGINT)
        raise AssertionError("the second one interrupts")


def test_what_takes_too_long_is_interrupted(monkeypatch):
    monkeypatch.setattr(deferral, "GRACE", 0.01)
    with pytest.raises(KeyboardInterrupt), Deferral().held(True):
        send(signal.SIGINT)
        time.sleep(60)


def test_another_signal_does_what_it_did(monkeypatch):
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        wait = Deferral()
        with wait.held(True):
            send(signal.SIGTERM)
            assert wait.asked and not came
            wait.let_go()
            assert came == [signal.SIGTERM] and not wait.asked
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nothing_is_held_unless_it_is_wanted_or_in_other_threads():
    handlers = []

    def look(wanted):
        with Deferral().held(wanted):
            handlers.append(signal.getsignal(signal.SIGINT))

    look(False)
    thread = threading.Thread(target=look, args=(True,))
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)] * 2


class Slow:
    """A simulation whose windows take 5 ms each, of 100 cycles; it stops where it must."""

    def __init__(self, clock, stops=10**9):
        self.now = self.reached = 0
        self.machine, self.clock = SimpleNamespace(window=100), clock
        self.stops, self.asked = stops, []

    def window(self, most):
        self.asked.append(most)
        count = min(most, self.stops)
        self.now = self.reached = self.now + 100 * count
        self.clock[0] += 0.005 * count


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(deferral, "perf_counter", lambda: now[0])
    return now


def test_as_many_windows_are_run_as_do_not_take_long(clock):
    simulation, slices = Slow(clock), Slices(True)
    for _ in range(9):
        slices.run(simulation)
    assert simulation.asked == [1, 2, 4, 8, 16, 16, 16, 16, 16]  # 80 ms: more than 50
    slices.most = 128
    for _ in range(4):
        slices.run(simulation)
    assert simulation.asked[-4:] == [128, 64, 32, 32]


def test_windows_that_end_for_another_reason_say_nothing_of_more(clock):
    simulation, slices = Slow(clock, stops=3), Slices(True)
    for _ in range(6):
        slices.run(simulation)
    assert simulation.asked == [1, 2, 4, 4, 4, 4]


def test_nobody_who_saves_nothing_is_held_up(clock):
    simulation, slices = Slow(clock, stops=1000), Slices(False)
    for _ in range(3):
        slices.run(simulation)
    assert simulation.asked == [NEVER] * 3
