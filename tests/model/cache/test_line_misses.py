"""Lines that caches of whole lines have asked for: entries, sectors, and refusals."""

from types import SimpleNamespace

import pytest

from lockstep.gpus import library
from lockstep.model.cache import line_misses, miss_queue
from lockstep.model.clock import NEVER
from lockstep.model.link import KIND_ACK, KIND_DATA, KIND_NACK, KIND_READ

pytestmark = pytest.mark.plain
SECTORS = 2


@pytest.fixture
def misses():
    changes = {f"{level}.sector_bytes": 64 // SECTORS for level in ("l1", "l2")}
    return line_misses.build(2, 3, library.replace(library.gpu("HD7770"), **changes).l1)


def answer(tag, sectors, kind=KIND_DATA):
    return SimpleNamespace(
        kind=kind, tag=tag, sectors=sectors, address=640, full=0, request=KIND_READ, policy=0,
        flits=1, refusals=0,
    )  # fmt: skip


def test_a_request_leaves_a_cycle_after_the_miss(misses):
    assert miss_queue.next_ready(misses, 1) == NEVER
    line_misses.ask(misses, 1, 0, 10, 640, 50)
    assert miss_queue.next_ready(misses, 0) == NEVER
    assert miss_queue.next_ready(misses, 1) == 51
    request = misses.queue[1, 0]
    assert (request.line, request.sectors, request.kind) == (10, 0b11, KIND_READ)


def test_an_entry_is_taken_until_all_sectors_are_here(misses):
    for room in (3, 2, 1):
        assert line_misses.room(misses, 0) == room
        line_misses.ask(misses, 0, 1, 10 + room, 64 * (10 + room), 0)
    tag = misses.queue[0, 1].tag
    assert line_misses.room(misses, 0) == 0
    assert line_misses.receive(misses, 0, answer(tag, 0b10)) == -1
    assert line_misses.room(misses, 0) == 0
    entry = line_misses.receive(misses, 0, answer(tag, 0b01))
    assert (misses.entries[0, entry].line, misses.entries[0, entry].cache) == (12, 1)
    assert line_misses.room(misses, 0) == 1
    line_misses.ask(misses, 0, 0, 30, 64 * 30, 9)
    assert misses.entries[0, entry].line == 30


def test_answers_are_told_from_those_to_the_l1(misses):
    line_misses.ask(misses, 0, 1, 10, 640, 0)
    tag = misses.queue[0, 0].tag
    assert line_misses.is_answer(answer(tag, 1))
    assert line_misses.is_answer(answer(tag, 1, KIND_NACK))
    assert not line_misses.is_answer(answer(tag, 1, KIND_ACK))  # tags of stores are any number
    assert not line_misses.is_answer(answer(1 << 20, 1))
    assert not line_misses.is_answer(answer(-1, 1))


def test_a_refused_request_goes_again(misses):
    line_misses.ask(misses, 0, 1, 10, 640, 0)
    tag = misses.queue[0, 0].tag
    miss_queue.drop(misses, 0, False)
    miss_queue.repeat(misses, 0, answer(tag, 0b11, KIND_NACK), 90)
    assert line_misses.room(misses, 0) == 2
    assert not miss_queue.refused_first(misses, 0, 89)
    assert miss_queue.refused_first(misses, 0, 90)
    assert misses.retries[0, 0].tag == tag
    assert misses.retries[0, 0].line == 10
