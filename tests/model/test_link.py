"""Links: order, latency, credits, capacity, and windows shorter than the latency."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.model import link
from model.owned import of_owner

pytestmark = pytest.mark.plain

LATENCY = 4


def window(joined, start, split=False):
    """The end of a window: deliver to all, and all begin anew.

    ``split``: one after the other, so that some have begun while others still end.
    """
    number, (sources, destinations) = int(joined.begun[0]), joined.credits.shape
    for first, last in blocks(destinations, split):
        link.deliver(joined, number, *of_owner(joined, first, last), start)
        for destination in range(first, last):
            link.open_inbox(joined, destination)
    for first, last in blocks(sources, split):
        link.give_back(joined, number, *of_owner(joined, first, last))
        for source in range(first, last):
            link.begin(joined, source)


def blocks(shards, split):
    return [(n, n + 1) for n in range(shards)] if split else [(0, shards)]


def put(joined, source, destination, now, tag=0):
    """Send a message, which must be allowed."""
    assert link.can_send(joined, source, destination)
    link.send(joined, source, destination, now).tag = tag


def get(joined, destination, now):
    """Tags of what a destination can see, all taken."""
    tags = []
    while link.waiting(joined, destination, now):
        tags.append(int(link.first(joined, destination).tag))
        link.take(joined, destination)
    return tags


def test_a_message_is_seen_after_the_latency_and_not_before():
    joined = link.build(1, 1, LATENCY, buffer=2, sends=1)
    put(joined, 0, 0, now=2)
    assert not link.waiting(joined, 0, 100), "it is not delivered yet"
    window(joined, 0)
    assert not link.waiting(joined, 0, 2 + LATENCY - 1)
    assert link.waiting(joined, 0, 2 + LATENCY)
    message = link.first(joined, 0)
    assert (message.arrival, message.source, message.destination) == (2 + LATENCY, 0, 0)


def test_the_order_is_arrival_then_source_then_sequence():
    joined = link.build(3, 1, LATENCY, buffer=8, sends=2)
    for source, now, tag in ((2, 0, 3), (2, 1, 7), (0, 1, 4), (0, 1, 5), (1, 0, 1), (1, 0, 2)):
        put(joined, source, 0, now, tag)
    put(joined, 1, 0, 1, 6)
    window(joined, 0)
    assert get(joined, 0, 100) == [1, 2, 3, 4, 5, 6, 7]


def test_a_credit_is_back_in_the_next_window():
    joined = link.build(1, 2, LATENCY, buffer=1, sends=4)
    put(joined, 0, 0, now=0)
    assert not link.can_send(joined, 0, 0)
    assert link.can_send(joined, 0, 1), "another destination has credits of its own"
    window(joined, 0)
    assert get(joined, 0, LATENCY) == [0]
    assert not link.can_send(joined, 0, 0), "taken, but the window is not over"
    window(joined, LATENCY)
    assert link.can_send(joined, 0, 0)


def test_an_outbox_holds_what_its_source_may_send_in_a_window():
    joined = link.build(1, 9, LATENCY, buffer=3, sends=1)
    for i in range(LATENCY):
        put(joined, 0, i, now=i)
    assert not link.can_send(joined, 0, 8)
    window(joined, 0)
    assert link.can_send(joined, 0, 8)


def test_an_inbox_holds_all_credits_and_wraps_around():
    joined = link.build(2, 1, LATENCY, buffer=3, sends=3)
    for start in range(0, 10 * LATENCY, LATENCY):
        tags = []
        for source in range(2):
            for i in range(3):
                put(joined, source, 0, start, tag=10 * source + i)
                tags.append(10 * source + i)
        window(joined, start)
        assert joined.ports[0].count == joined.spec[0].in_capacity == 6
        assert get(joined, 0, start + LATENCY) == tags
        window(joined, start)  # only hands the credits back


def test_memory_follows_what_waits_and_not_what_may():
    joined = link.build(1, 1, LATENCY, buffer=64, sends=8)
    kept = 0
    for start in range(0, 40 * LATENCY, LATENCY):
        for i in range(3):
            put(joined, 0, 0, start, tag=start + i)
        window(joined, start)
        while joined.ports[0].count > 2:
            assert link.first(joined, 0).tag == kept % 3 + kept // 3 * LATENCY
            link.take(joined, 0)
            kept += 1
    assert kept == 40 * 3 - 2
    assert 5 <= joined.inbox["arrival"][0].nonzero()[0].max() < 2 * (2 + 3)


def test_what_waits_is_not_moved_over_what_wraps_around():
    joined = link.build(1, 1, LATENCY, buffer=6, sends=6)
    sent = taken = 0
    for start in range(0, 60 * LATENCY, LATENCY):
        while link.can_send(joined, 0, 0):
            put(joined, 0, 0, start, tag=sent)
            sent += 1
        window(joined, start)
        for _ in range(1 + start // LATENCY % 6):
            if joined.ports[0].count:
                assert link.first(joined, 0).tag == taken
                link.take(joined, 0)
                taken += 1
    assert taken > 100


def test_a_window_may_be_shorter_than_the_latency():
    joined = link.build(1, 1, LATENCY, buffer=8, sends=1)
    put(joined, 0, 0, now=0, tag=1)
    window(joined, 0)
    put(joined, 0, 0, now=1, tag=2)
    put(joined, 0, 0, now=2, tag=3)
    window(joined, 1)
    seen = {now: get(joined, 0, now) for now in range(3, 8)}
    assert seen == {3: [], 4: [1], 5: [2], 6: [3], 7: []}


def test_a_block_of_destinations_gets_its_own_messages_only():
    joined = link.build(1, 3, LATENCY, buffer=2, sends=3)
    for destination in range(3):
        put(joined, 0, destination, now=0, tag=destination)
    link.deliver(joined, 0, *of_owner(joined, 1, 2), 0)
    assert joined.ports["count"].tolist() == [0, 1, 0]
    link.deliver(joined, 0, *of_owner(joined, 0, 1), 0)
    link.deliver(joined, 0, *of_owner(joined, 2, 3), 0)
    assert [get(joined, d, LATENCY) for d in range(3)] == [[0], [1], [2]]


def test_the_next_arrival_is_that_of_the_earliest_inbox():
    joined = link.build(1, 3, LATENCY, buffer=2, sends=2)
    assert link.next_arrival(joined, 0, 3, 1) == 1 << 60
    put(joined, 0, 2, now=1)
    put(joined, 0, 1, now=3)
    window(joined, 0)
    assert link.next_arrival(joined, 0, 3, 1) == 1 + LATENCY
    assert link.next_arrival(joined, 0, 2, 1) == 3 + LATENCY
    assert link.next_arrival(joined, 0, 1, 1) == 1 << 60


@pytest.mark.parametrize("windows", [1, 2])
def test_a_credit_is_back_when_it_is_due(windows):
    joined = link.build(2, 1, LATENCY, buffer=1, sends=1, credit_windows=windows)
    for source in range(2):
        put(joined, source, 0, now=0, tag=source)
    window(joined, 0)
    assert get(joined, 0, LATENCY) == [0, 1]
    for n in range(1, windows + 1):
        assert not link.can_send(joined, 0, 0)
        link.give_back(joined, int(joined.begun[0]), *of_owner(joined, 0, 1))
        assert joined.credits.tolist() == [[int(n == windows)], [0]], "the block's sources alone"
        link.begin(joined, 0)
        link.open_inbox(joined, 0)
    assert link.can_send(joined, 0, 0)


def test_what_was_sent_stays_while_the_next_window_runs():
    """Threads meet once: one may send again while another still delivers."""
    joined = link.build(1, 2, LATENCY, buffer=4, sends=4)
    put(joined, 0, 0, now=0, tag=1)
    put(joined, 0, 1, now=0, tag=2)
    assert link.next_sent(joined, *of_owner(joined, 0, 1)) == LATENCY
    link.deliver(joined, 0, *of_owner(joined, 0, 1), 0)
    link.begin(joined, 0)
    assert link.next_sent(joined, *of_owner(joined, 0, 1)) == link.NEVER
    put(joined, 0, 1, now=LATENCY, tag=3)
    link.deliver(joined, 0, *of_owner(joined, 1, 2), 0)
    assert [get(joined, d, 2 * LATENCY) for d in range(2)] == [[1], [2]]
    link.deliver(joined, 1, *of_owner(joined, 0, 2), LATENCY)
    assert get(joined, 1, 2 * LATENCY) == [3]


def test_what_is_sent_first_arrives_first():
    joined = link.build(3, 1, LATENCY, buffer=4, sends=1)
    put(joined, 1, 0, now=3)
    put(joined, 2, 0, now=2)
    assert [link.next_sent(joined, *of_owner(joined, s, s + 1)) for s in range(3)] == [
        1 << 60,
        3 + LATENCY,
        2 + LATENCY,
    ]
    assert link.next_sent(joined, *of_owner(joined, 0, 3)) == 2 + LATENCY


SENDS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=4)  # source, destination
WINDOWS = st.lists(
    st.tuples(st.lists(SENDS, min_size=1, max_size=LATENCY), st.integers(0, 3)), max_size=8
)


@given(WINDOWS, st.integers(1, 3), st.sampled_from([1, 2]), st.booleans())
def test_any_traffic_is_as_in_a_naive_link(windows, buffer, credit_windows, split):
    """A twin: messages in a sorted list, credits counted by hand."""
    joined = link.build(3, 2, LATENCY, buffer, 2, credit_windows)
    inboxes, taken = [deque(), deque()], [[] for _ in range(credit_windows)]
    credits = {(s, d): buffer for s in range(3) for d in range(2)}
    start = tag = 0
    for cycles, patience in windows:
        outbox = []
        for now, sends in enumerate(cycles, start):
            for source, destination in sends:
                room = sum(m[1] == source for m in outbox) < min(2 * LATENCY, 2 * buffer)
                allowed = credits[source, destination] > 0 and room
                assert link.can_send(joined, source, destination) == allowed
                if allowed:
                    tag += 1
                    put(joined, source, destination, now, tag)
                    outbox.append((now + LATENCY, source, tag, destination))
                    credits[source, destination] -= 1
            for destination in range(2):
                inbox = inboxes[destination]
                visible = bool(inbox) and inbox[0][0] <= now
                assert link.waiting(joined, destination, now) == visible
                if visible and now % (patience + 1) == 0:
                    assert link.first(joined, destination).tag == inbox[0][2]
                    link.take(joined, destination)
                    taken[-1].append((inbox.popleft()[1], destination))
        soonest = min((message[0] for message in outbox), default=1 << 60)
        assert link.next_sent(joined, *of_owner(joined, 0, 3)) == soonest
        window(joined, start, split)
        for message in sorted(outbox):
            inboxes[message[3]].append(message)
        for pair in taken.pop(0):
            credits[pair] += 1
        taken.append([])
        start += len(cycles)
        earliest = min((inbox[0][0] for inbox in inboxes if inbox), default=1 << 60)
        assert link.next_arrival(joined, 0, 2, 1) == earliest
    assert joined.ports["count"].tolist() == [len(inbox) for inbox in inboxes]
