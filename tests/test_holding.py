"""Signals that come while machine code runs, or is made, end what runs all the same."""

import ctypes
import os
import signal
import threading

import pytest
from llvmlite.binding import ExecutionEngine

from lockstep._jit import SignalHold
from lockstep._jit.compiler import entries, policies
from lockstep._jit.holding import SIGNALS
from lockstep._jit.kinds import Callable
from lockstep._jit.settings import CALLBACK
from lockstep.execution.programs import native
from signals_from_code import Interrupted

FORM = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


class Call:
    """Machine code that calls Python, and during which a signal comes; what Python was told."""

    def __init__(self, number=signal.SIGINT):
        self.told = []
        self._python = FORM(self._called)
        address = ctypes.cast(self._python, ctypes.c_void_p).value
        self._code = Interrupted(address, number)
        self.run = FORM(self._code.address)

    def _called(self, _, number):
        self.told.append(number)
        return 7


@pytest.fixture
def lost(monkeypatch):
    """What was raised where nobody catches it."""
    found = []
    monkeypatch.setattr("sys.unraisablehook", lambda error: found.append(error.exc_type))
    return found


def test_without_a_hold_the_interrupt_is_lost_and_the_function_not_called(lost):
    call = Call()
    call.run(None, 3)  # its result is any number
    assert (call.told, lost) == ([], [KeyboardInterrupt])


def test_a_hold_keeps_it_until_machine_code_has_ended(lost):
    call, results = Call(), []
    with pytest.raises(KeyboardInterrupt), SignalHold().held():
        results.append(call.run(None, 3))
    assert (call.told, results, lost) == ([3], [7], [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_not_wanted_is_not_held():
    with SignalHold().held(False):
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", SIGNALS)
def test_every_handler_of_python_waits_and_runs_once(number):
    seen = []
    before = signal.signal(number, lambda number, frame: seen.append((number, frame is not None)))
    try:
        with SignalHold().held():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            assert seen == []
        assert seen == [(number, True)]
    finally:
        signal.signal(number, before)


def test_one_handler_that_raises_keeps_none_of_the_others_from_running():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append("other"))
    try:
        with pytest.raises(KeyboardInterrupt), SignalHold().held():
            for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGINT):
                os.kill(os.getpid(), number)
        assert seen == ["other"]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with SignalHold().held():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_a_pause_handlers_run_at_once_and_what_came_before_first():
    hold, steps = SignalHold(), []
    with hold.held():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), hold.paused():
            steps.append("not reached")
        with pytest.raises(KeyboardInterrupt), hold.paused():
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert steps == []


def test_holds_in_each_other_hand_on_what_came():
    with pytest.raises(KeyboardInterrupt), SignalHold().held():
        with SignalHold().held():
            os.kill(os.getpid(), signal.SIGINT)
        inner = True
    assert inner and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_hold_nothing():
    hold, found = SignalHold(), []

    def enter():
        with hold.held(), hold.paused():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def plus_one(number):
    return number + 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: entries.compile_entry(plus_one, CALLBACK, ("int64",)).objects,
        lambda: policies.compile_policy(plus_one, Callable("int64", ("int64",))).address,
    ],
)
def test_an_interrupt_while_llvm_tells_what_it_made_is_not_lost(lost, monkeypatch, make):
    find = ExecutionEngine._find_module_ptr

    def interrupted(self, pointer):
        signal.raise_signal(signal.SIGINT)
        return find(self, pointer)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ExecutionEngine, "_find_module_ptr", interrupted)
        make()
    assert lost == []
    assert make()


def test_an_interrupt_while_a_module_is_freed_is_not_lost(lost, monkeypatch):
    made = native._with_masks

    class Freed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def with_masks(module):
        freed = Freed()
        del freed
        return made(module)

    monkeypatch.setattr(native, "_with_masks", with_masks)
    with pytest.raises(KeyboardInterrupt):
        native.assemble("define void @f() { ret void }")
    assert lost == []
