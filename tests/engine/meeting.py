"""What every transport has to do, as work for each of its machines: the contract of all of them."""

import random
import time

import numpy as np

from lockstep.engine.boxes import LINE, TURNS

ROUNDS = 40
PIECE = 8192  # words that a transport may send at once: sizes around it are tried


def whole_in_order_and_once(transport):
    """Packets of many sizes, given at different times."""
    lots = random.Random(transport.rank)
    for turn in range(ROUNDS):
        mine = [
            None if r == transport.rank else np.array([turn, transport.rank, r] * (turn % 4))
            for r in range(transport.size)
        ]
        time.sleep(0.001 * lots.random())
        for r, packet in enumerate(transport.exchange(mine)):
            if r == transport.rank:
                assert packet is None
            else:
                assert packet.tolist() == [turn, r, transport.rank] * (turn % 4)
    return "done"


def of_any_size(transport):
    """Packets around the size of a piece, of several, and of a different number from each."""
    sizes = [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 20 * PIECE + 5, 3]
    for turn in range(len(sizes)):
        mine = [
            None
            if r == transport.rank
            else np.arange(sizes[(turn + transport.rank) % len(sizes)]) + transport.rank
            for r in range(transport.size)
        ]
        for r, packet in enumerate(transport.exchange(mine)):
            if r != transport.rank:
                expected = np.arange(sizes[(turn + r) % len(sizes)]) + r
                assert packet.dtype == np.int64 and np.array_equal(packet, expected)
    return "done"


def written_again_at_once(transport):
    """What was given may change after the exchange; what came stays until the next."""
    packet = np.zeros(4, np.int64)
    for turn in range(ROUNDS):
        packet[:] = turn
        given = [None if r == transport.rank else packet for r in range(transport.size)]
        taken = transport.exchange(given)
        packet[:] = -1
        time.sleep(0.0005 * (transport.rank % 2))
        for r, came in enumerate(taken):
            assert r == transport.rank or came.tolist() == [turn] * 4
    return "done"


def shared_with_all(transport):
    """Values of any kind and size reach all, by rank."""
    for turn in range(ROUNDS):
        values = transport.share((transport.rank, turn))
        assert values == [(r, turn) for r in range(transport.size)]
    large = np.arange(3 * PIECE, dtype=np.int32) + transport.rank
    for r, came in enumerate(transport.share({"a": large})):
        assert np.array_equal(came["a"], np.arange(3 * PIECE) + r)
    return "done"


def gathered_by_the_first(transport):
    """Values reach the first one alone."""
    for turn in range(ROUNDS):
        values = transport.gather((transport.rank, turn))
        expected = [(r, turn) for r in range(transport.size)]
        assert values == (None if transport.rank else expected)
    return "done"


CONTRACT = [
    whole_in_order_and_once,
    of_any_size,
    written_again_at_once,
    shared_with_all,
    gathered_by_the_first,
]


class ThroughBoxes:
    """Exchanges packets through a transport's boxes, as compiled code does."""

    def __init__(self, transport):
        self.rank, self.size = transport.rank, transport.size
        rooms = np.full((self.size, self.size), 21 * PIECE) + np.arange(self.size)
        self._transport, self._boxes, self._turn = transport, transport.boxes(rooms), 0

    def exchange(self, packets):
        words, places = self._boxes.words, self._boxes.places[self._turn % TURNS]
        for r, packet in enumerate(packets):
            if packet is not None:
                place = places[self.rank, r]
                words[place + 1 : place + 1 + len(packet)] = packet
                words[place] = len(packet)
        self._turn += 1
        words[self.rank * LINE] = self._turn
        return [None if r == self.rank else self._take(r, places) for r in range(self.size)]

    def _take(self, r, places):
        words = self._boxes.words
        self._transport.await_packet(r, lambda: words[r * LINE] >= self._turn)
        place = places[r, self.rank]
        return words[place + 1 : place + 1 + words[place]]


def in_boxes(work):
    """A part of the contract that holds for boxes, too."""

    def work_in_boxes(transport):
        return work(ThroughBoxes(transport))

    work_in_boxes.__name__ = f"{work.__name__}_in_boxes"
    return work_in_boxes


def boxes_of_their_own(transport):
    """Whoever asks again gets other boxes, which are empty."""
    for _ in range(3):
        through = ThroughBoxes(transport)
        mine = [None if r == transport.rank else np.array([r]) for r in range(transport.size)]
        came = through.exchange(mine)
        theirs = [None if r == transport.rank else [transport.rank] for r in range(transport.size)]
        assert [packet if packet is None else packet.tolist() for packet in came] == theirs
    return "done"


CONTRACT += map(in_boxes, [whole_in_order_and_once, of_any_size, written_again_at_once])
CONTRACT.append(boxes_of_their_own)
