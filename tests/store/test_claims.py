"""One process makes what several want."""

import errno
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

from lockstep import store
from lockstep._jit import DISABLED
from lockstep.store import claims

CLAIM = """
import signal, sys
from lockstep import store
with store.claimed("model", sys.argv[1]):
    print("claimed", flush=True)
    sys.stdin.read()
print("let go", flush=True)
"""
FORK = """
import os, sys
from lockstep import store
from lockstep.store import claims
with store.claimed("model", "key"):
    if os.fork() == 0:
        sys.stdin.read()
        os._exit(0)
claims.sleep = lambda seconds: sys.exit("it waits")
with store.claimed("model", "key"):
    print("claimed again", flush=True)
"""
MODEL = """
from lockstep._jit.compiler import entries
compile_entry, made = entries.compile_entry, []
entries.compile_entry = lambda *a: (made.append(a), compile_entry(*a))[1]
from lockstep.model import link
print("ready", flush=True)
input()
link.next_arrival(link.build(2, 3, 10, 4, 1), 0, 3, 1)
print(len(made))
"""


@pytest.fixture
def started(tmp_path):
    """Function that starts a program over one cache, with pipes."""
    environment = os.environ | {"LOCKSTEP_CACHE_DIR": str(tmp_path)}
    with ExitStack() as processes:

        def start(program, *arguments):
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            command = [sys.executable, "-c", program, *arguments]
            process = processes.enter_context(subprocess.Popen(command, env=environment, **pipes))
            processes.callback(process.kill)
            return process

        yield start


@pytest.fixture
def refused(monkeypatch):
    """The attempts to claim what another process has."""
    attempts = []
    monkeypatch.setattr(claims, "sleep", lambda seconds: attempts.append(seconds))
    return attempts


@pytest.mark.parametrize("end", ["lets go", "is killed"])
def test_who_wants_the_same_waits_until_the_other_one(started, place, monkeypatch, tmp_path, end):
    place.path.mkdir()
    monkeypatch.setattr(store.places, "places", lambda: (store.Place(tmp_path, writable=True),))
    other = started(CLAIM, "key")
    assert other.stdout.readline() == "claimed\n"

    def finish(seconds):
        if end == "is killed":
            other.send_signal(signal.SIGKILL)
        else:
            other.stdin.close()
        other.wait()
        waited.append(seconds)

    waited = []
    monkeypatch.setattr(claims, "sleep", finish)
    with store.claimed("model", "another key"), store.claimed("translation", "key"):
        assert waited == []
    with store.claimed("model", "key"):
        assert len(waited) == 1


def test_threads_wait_for_each_other(place):
    place.path.mkdir()
    inside, order = threading.Event(), []

    def second():
        inside.wait()
        with store.claimed("model", "key"):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with store.claimed("model", "key"):
        inside.set()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_forked_child_keeps_nothing(started):
    assert started(FORK).stdout.readline() == "claimed again\n"


def test_nobody_waits_for_ever(started, place, monkeypatch, tmp_path, refused):
    monkeypatch.setattr(store.places, "places", lambda: (store.Place(tmp_path, writable=True),))
    assert started(CLAIM, "key").stdout.readline() == "claimed\n"
    seconds = iter([0.0, 0.0, 299.0, 301.0])
    monkeypatch.setattr(claims, "monotonic", lambda: next(seconds))
    with store.claimed("model", "key"):
        assert len(refused) == 2


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EINVAL])
def test_where_there_are_no_locks_nobody_waits(place, monkeypatch, refused, error):
    def no_locks(*_):
        raise OSError(error, os.strerror(error))

    place.path.mkdir()
    monkeypatch.setattr(claims.fcntl, "fcntl", no_locks)
    with store.claimed("model", "key"):
        assert refused == []


def test_without_a_place_nobody_waits(monkeypatch, refused):
    monkeypatch.setattr(store.places, "places", lambda: ())
    with store.claimed("model", "key"), store.claimed("model", "key"):
        assert refused == []


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_processes_that_start_together_compile_once(started):
    together = [started(MODEL) for _ in range(3)]
    assert [process.stdout.readline() for process in together] == ["ready\n"] * 3
    for process in together:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.stdout.readline() for process in together) == ["0\n", "0\n", "1\n"]
