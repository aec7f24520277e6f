"""Queues of sub-cores for memory instructions; the pipeline's tests say how fast they empty."""

import pytest

from lockstep.model.core import memory_queue

pytestmark = pytest.mark.plain


def test_a_queue_is_a_ring(tiny, idle_sms):
    c = idle_sms(tiny(sm__memory__queue=3))
    sub = c.subcores[0, 0]
    free = int(c.sms[0].free_access)
    for n in range(7):
        a = c.sms[0].free_access
        c.sms[0].free_access += 1
        c.queues[0, 0, (sub.queue_head + sub.queue_count) % 3] = a
        sub.queue_count += 1
        assert memory_queue.pop_queue(c, 0, 0) == free + n
    assert sub.queue_count == 0 and sub.queue_head == 7 % 3


def test_room_is_a_place_in_the_queue_and_a_free_access(tiny, idle_sms):
    c = idle_sms(tiny(sm__memory__queue=2))
    assert memory_queue.has_room(c, 0, 0)
    c.subcores[0, 0].queue_count = 2
    assert not memory_queue.has_room(c, 0, 0) and memory_queue.has_room(c, 0, 1)
    c.sms[0].free_access = len(c.accesses[0])
    assert not memory_queue.has_room(c, 0, 1)
