"""Threads that run shards side by side."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.threads import Threads, blocks


@given(st.integers(1, 200), st.integers(1, 40))
def test_blocks_are_contiguous_complete_and_of_nearly_equal_size(shards, threads):
    cut = blocks(shards, threads)
    assert len(cut) == min(shards, threads)
    assert [s for first, last in cut for s in range(first, last)] == list(range(shards))
    sizes = [last - first for first, last in cut]
    assert max(sizes) - min(sizes) <= 1


@pytest.fixture
def team():
    threads = Threads(3)
    yield threads
    threads.close()


def test_results_come_in_the_order_of_the_tasks(team):
    def slow(k):
        time.sleep(0.01 * (2 - k))
        return 10 * k

    for _ in range(3):
        assert team.run([lambda k=k: slow(k) for k in range(3)]) == [0, 10, 20]
    assert team.run([lambda: 7]) == [7], "fewer tasks than threads"


def test_tasks_run_side_by_side_and_the_caller_takes_part(team):
    meet = threading.Barrier(3, timeout=10)
    names = team.run([lambda: (meet.wait(), threading.get_ident())[1]] * 3)
    assert len(set(names)) == 3 and names[0] == threading.get_ident()


@pytest.mark.parametrize("where", [0, 1, 2])
def test_an_error_of_any_task_reaches_the_caller(team, where):
    def task(k):
        if k == where:
            raise ZeroDivisionError(k)
        return k

    with pytest.raises(ZeroDivisionError):
        team.run([lambda k=k: task(k) for k in range(3)])
    assert team.run([lambda k=k: k for k in range(3)]) == [0, 1, 2], "the team goes on"


def test_closing_ends_the_threads():
    before = threading.active_count()
    team = Threads(4)
    assert threading.active_count() == before + 3
    team.close()
    assert threading.active_count() == before
