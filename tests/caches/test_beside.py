"""Entries that are looked up by a thread of its own: copies, in order, and what goes wrong."""

import threading

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.caches.beside import Beside
from lockstep.caches.order import ENTRY
from lockstep.errors import WorkloadError


def entries(*lines):
    made = as_records(np.zeros(len(lines) + 2, ENTRY))
    made["line"][: len(lines)] = lines
    return made


def test_entries_are_taken_in_order_and_may_change_at_once():
    seen, released = [], threading.Event()

    def take(given, count):
        released.wait()
        seen.append(given["line"][:count].tolist())

    beside, given = Beside(take), entries(1, 2, 3)
    beside.take(given, 3)
    given["line"][:2] = 7, 8
    assert seen == []
    released.set()
    beside.take(given, 2)
    beside.take(entries(*range(100)), 100)
    beside.settle()
    assert seen == [[1, 2, 3], [7, 8], list(range(100))]


def test_what_a_call_raises_is_raised_by_the_next_or_at_the_end():
    def take(given, count):
        if count == 1:
            raise WorkloadError("it cannot")

    beside = Beside(take)
    beside.take(entries(1), 1)
    with pytest.raises(WorkloadError, match="it cannot"):
        beside.take(entries(1, 2), 2)
    beside.take(entries(1), 1)
    with pytest.raises(WorkloadError, match="it cannot"):
        beside.settle()
    beside.settle()


def test_nothing_is_waited_for_where_nothing_was_given():
    Beside(lambda given, count: None).settle()
