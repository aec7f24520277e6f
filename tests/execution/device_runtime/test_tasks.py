"""Streams and events of one grid: who waits for whom; and copies."""

import numpy as np
import pytest

from lockstep.execution.device_runtime.tasks import (
    FORGET,
    TAIL,
    ByteRows,
    DeviceTransfer,
    GridTasks,
    UnknownHandle,
)
from lockstep.execution.memory.device_memory import DeviceMemory, DeviceMemoryError

NOTHING = DeviceTransfer(ByteRows(0), None, 0, (0, 0, 0))


def awaits(grid):
    return [task.awaits for task in grid.tasks]


def test_tasks_of_a_stream_follow_each_other():
    grid = GridTasks()
    for stream in ("a", "b", "a", FORGET, FORGET, "a", TAIL, TAIL):
        grid.add(NOTHING, stream, 0)
    assert awaits(grid) == [(), (), (0,), (), (), (2,), (), (6,)]
    assert [task.is_tail for task in grid.tasks] == [False] * 6 + [True] * 2


def test_a_stream_waits_for_an_event_as_it_was_recorded():
    grid = GridTasks()
    grid.open_event(5)
    grid.wait("b", 5)  # it was not recorded
    grid.add(NOTHING, "a", 0)
    grid.record(5, "a")
    grid.add(NOTHING, "a", 0)
    grid.wait("b", 5)
    grid.add(NOTHING, "b", 0)
    grid.wait("c", 5)
    grid.record(5, "c")
    grid.close_event(5)
    grid.add(NOTHING, "c", 0)
    assert awaits(grid) == [(), (0,), (0,), (0,)]


def test_tasks_are_counted_by_the_block_that_asked_for_them():
    grid = GridTasks()
    for block in (0, 1, 1):
        grid.add(NOTHING, FORGET, block)
    assert [grid.of_block(block) for block in range(3)] == [1, 2, 0]


def test_handles_that_the_grid_has_not_made():
    grid = GridTasks()
    grid.open_stream(7)
    grid.check_stream(7)
    grid.close_stream(7)
    for ask in (grid.check_stream, grid.close_stream, grid.close_event):
        with pytest.raises(UnknownHandle):
            ask(7)
    with pytest.raises(UnknownHandle):
        grid.record(7, "a")
    with pytest.raises(UnknownHandle):
        grid.wait("a", 7)


def test_boxes_are_copied_and_filled():
    memory = DeviceMemory(1 << 16)
    place = memory.allocate(64)
    content = memory.view(place, 64)
    content[:] = np.arange(64)
    source, target = ByteRows(place + 1, 4, 16), ByteRows(place + 32, 8, 16)
    DeviceTransfer(target, source, 0, (3, 2, 2)).perform(memory)
    rows = content[32:].reshape(2, 2, 8)[:, :, :3]
    assert rows.tolist() == [[[1, 2, 3], [5, 6, 7]], [[17, 18, 19], [21, 22, 23]]]
    DeviceTransfer(ByteRows(place), None, 9, (2, 1, 1)).perform(memory)
    assert content[:3].tolist() == [9, 9, 2]
    with pytest.raises(DeviceMemoryError, match="not inside an allocation"):
        DeviceTransfer(ByteRows(place + 60), None, 9, (5, 1, 1)).perform(memory)
    memory.close()
