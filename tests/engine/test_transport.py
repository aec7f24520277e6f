"""Transports: everybody gets what everybody gave it, in each round. The contract of all of them."""

import random
import threading
import time

import numpy as np
import pytest

from lockstep.engine.transport import in_memory
from lockstep.errors import LockstepError

ROUNDS = 40


@pytest.fixture(params=[1, 2, 3, 7])
def transports(request):
    return in_memory(request.param)


def on_all(transports, work):
    """Run ``work(transport)`` for each in a thread of its own; results and errors by rank."""
    results = [None] * len(transports)

    def run(k):
        try:
            results[k] = work(transports[k])
        except Exception as error:
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(transports))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


def test_each_knows_its_place(transports):
    assert [t.rank for t in transports] == list(range(len(transports)))
    assert {t.size for t in transports} == {len(transports)}


def test_packets_arrive_whole_in_order_and_once(transports):
    def work(transport):
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

    assert on_all(transports, work) == ["done"] * len(transports)


def test_a_packet_may_be_written_again_at_once(transports):
    def work(transport):
        packet = np.zeros(4, np.int64)
        seen = []
        for turn in range(ROUNDS):
            packet[:] = turn
            given = [None if r == transport.rank else packet for r in range(transport.size)]
            taken = transport.exchange(given)
            packet[:] = -1
            time.sleep(0.0005 * (transport.rank % 2))
            seen += [p.tolist() for p in taken if p is not None]
        return seen

    others = len(transports) - 1
    expected = [[turn] * 4 for turn in range(ROUNDS) for _ in range(others)]
    assert on_all(transports, work) == [expected] * len(transports)


def test_what_is_shared_reaches_all_by_rank(transports):
    def work(transport):
        return [transport.share((transport.rank, turn)) for turn in range(ROUNDS)]

    ranks = range(len(transports))
    expected = [[(r, turn) for r in ranks] for turn in range(ROUNDS)]
    assert on_all(transports, work) == [expected] * len(transports)


def test_nobody_waits_for_one_that_cannot_go_on(transports):
    def work(transport):
        if transport.rank == 0:
            transport.abort("")
            return "ended"
        return transport.share(1)

    first, *others = on_all(transports, work)
    assert first == "ended"
    assert all(isinstance(o, LockstepError) and "another rank" in str(o) for o in others)
