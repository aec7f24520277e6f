"""Boxes: packets lie apart, and stay until the one after the next; see also meeting.py."""

import itertools
import threading

import numpy as np

from lockstep._jit import jit
from lockstep.engine import nearby
from lockstep.engine.boxes import LINE, TURNS, Boxes, has_posted, layout, post
from lockstep.engine.part import HOOK, _address
from lockstep.model.records import records


def test_boxes_do_not_overlap():
    rooms = np.array([[5, 17, 40], [16, 15, 1], [0, 9, 100]])
    places, words = layout(rooms)
    assert places.shape == (TURNS, 3, 3)
    parts = [(m * LINE, (m + 1) * LINE) for m in range(3)]
    for turn in range(TURNS):
        parts += [
            (int(places[turn, a, b]), int(places[turn, a, b]) + 1 + int(rooms[a, b]))
            for a, b in np.ndindex(3, 3)
        ]
    parts.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(parts))
    assert parts[-1][1] <= words
    assert (places % LINE == 0).all(), "no two share a cache line"


@jit
def give(b, machine, packets):
    before = has_posted(b, machine, packets)
    post(b, machine)
    return before, has_posted(b, machine, packets)


def test_a_packet_counts_from_when_it_is_posted():
    places, words = layout(np.full((2, 2), 3))
    boxes = Boxes(np.zeros(words, np.int64), places)
    assert give(boxes, 1, 1) == (False, True)
    assert give(boxes, 1, 3) == (False, False)
    assert boxes.words[LINE] == 2 and not boxes.words[0]


@jit
def come(near, machine, packets):
    return nearby.has_come(near, machine, packets)


def test_who_waits_long_is_told_what_came_of_it():
    places, words = layout(np.full((2, 2), 3))
    boxes, asked = Boxes(np.zeros(words, np.int64), places), []

    def wait(packets, machine):
        asked.append((packets, machine, threading.get_ident()))
        boxes.words[LINE] += len(asked) > 1
        return len(asked) == 1

    hook = HOOK(wait)
    near = nearby.build(
        boxes, np.zeros((1, 2), np.int64), records(1, nearby.MEETING), _address(hook)
    )
    assert not come(near, 1, 1), "it will never come"
    assert come(near, 1, 1) and come(near, 1, 1)
    assert [each[:2] for each in asked] == [(1, 1), (1, 1)], "not asked when it is there"
