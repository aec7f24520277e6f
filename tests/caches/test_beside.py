"""Entries that are looked up by a thread of its own: copies, in order, and what goes wrong."""

import threading

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.caches.beside import CHUNKS, Beside
from lockstep.caches.order import ENTRY
from lockstep.errors import WorkloadError


def entries(*lines):
    made = as_records(np.zeros(len(lines) + 2, ENTRY))
    made["line"][: len(lines)] = lines
    return made


def test_all_is_done_in_order_and_entries_may_change_at_once():
    seen, released = [], threading.Event()

    def take(given, count):
        released.wait()
        seen.append(given["line"][:count].tolist())

    beside, given = Beside(), entries(1, 2, 3)
    beside.take(take, given, 3)
    given["line"][:2] = 7, 8
    beside.call(lambda: seen.append("an end"))
    beside.take(take, given, 2)
    given["line"][:2] = 9, 9
    assert seen == []
    released.set()
    beside.take(take, entries(*range(100)), 100)
    beside.call(lambda: seen.append("another"))
    beside.settle()
    assert seen == [[1, 2, 3], "an end", [7, 8], list(range(100)), "another"]


def test_no_more_chunks_wait_than_may():
    released, begun = threading.Event(), []

    def take(given, count):
        begun.append(count)
        released.wait()

    def give():
        for count in range(1, CHUNKS + 2):
            beside.take(take, entries(*range(9)), count)

    beside = Beside()
    giver = threading.Thread(target=give)
    giver.start()
    giver.join(0.2)
    assert giver.is_alive(), "there is room for so many and no more"
    released.set()
    giver.join()
    beside.settle()
    assert begun == list(range(1, CHUNKS + 2))


def test_what_is_raised_is_raised_once_and_what_follows_is_left_out():
    seen = []

    def fails(given, count):
        raise WorkloadError("it cannot")

    def take(given, count):
        seen.append(count)

    beside, released = Beside(), threading.Event()
    beside.call(released.wait)
    beside.take(fails, entries(1), 1)
    beside.take(take, entries(1), 2)
    released.set()
    with pytest.raises(WorkloadError, match="it cannot"):
        beside.settle()
    assert seen == []
    beside.settle()
    beside.take(take, entries(1), 3)
    beside.settle()
    assert seen == [3]
    beside.take(fails, entries(1), 1)
    with pytest.raises(WorkloadError, match="it cannot"):
        for _ in range(100):
            beside.take(take, entries(1), 4)
            beside.settle()


def test_nothing_is_waited_for_where_nothing_was_asked():
    Beside().settle()
