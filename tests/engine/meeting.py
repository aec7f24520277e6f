"""What every transport has to do, as work for each of its machines: the contract of all of them."""

import random
import time

import numpy as np

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
