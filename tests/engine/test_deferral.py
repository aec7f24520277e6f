"""Deferral: a signal waits until the state is whole, and no longer than it must."""

import os
import signal
import threading
import time

import pytest

from lockstep.engine import deferral
from lockstep.engine.deferral import SIGNALS, Deferral


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
