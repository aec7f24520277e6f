"""Packets: what one machine tells another lies there as if its shards ran there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.engine import packets
from lockstep.engine.machine import Machine
from lockstep.engine.part import owners
from lockstep.model.link import MESSAGE, OUTBOXES


@pytest.fixture(scope="module")
def gpu(small):
    return small(sm__count=4, dram__channels=3)


SMS, PARTITIONS = 0, 1
FIRST = [0, 2]  # SMs of the first of two machines


@pytest.fixture(scope="module")
def pair(gpu):
    """Function that makes two machines, and the parts that they run."""

    def make():
        machines = [Machine(gpu, 1, {}) for _ in range(2)]
        for machine in machines:
            machine.close()
        table = np.full((2, 4), -1)
        for row, of in zip(table, owners(gpu.name, [4, 3], 2)):
            row[: len(of)] = of
        return machines, table

    return make


ENDS = np.array([[SMS, PARTITIONS], [PARTITIONS, SMS]])


def send(machines, owners, window=5):
    """Pack what the first machine has and unpack it on the second; words written and read."""
    state = [((m.links.requests, m.links.replies), ENDS, m.sm.control) for m in machines]
    machines[0].links.requests.begun[:] = window
    packet = np.full(packets.room(*state[0], [2, 1]), 0x55, np.int64)
    machines[1].links.requests.begun[:] = window
    written = packets.pack(packet, owners, 0, 1, *state[0], np.array([77, 2, 1]))
    read = packets.unpack(packet[:written], owners, 1, 0, *state[1])
    return packet, written, read


def test_of_silence_there_are_only_lengths(pair):
    machines, owners = pair()
    packet, written, read = send(machines, owners)
    assert packet[: packets.HEADER].tolist() == [77, 2, 1]
    assert written == read == packets.HEADER + 2 * (2 + 2) + 2 * 2 + 2 * 1
    assert not packet[packets.HEADER : written].any()


def limits(name):
    kind = np.iinfo(MESSAGE[name])
    return 0 if name in ("slice", "flits", "held", "policy", "full") else int(kind.min), int(
        kind.max
    )


@settings(max_examples=30)
@given(st.data())
def test_a_message_arrives_with_all_its_fields(pair, data):
    machines, owners = pair()
    window = data.draw(st.integers(0, 9))
    link, there = (m.links.requests for m in machines)
    turn, source = window % OUTBOXES, data.draw(st.sampled_from(FIRST))
    theirs = []
    for k in range(data.draw(st.integers(0, 5))):
        message = link.outbox[turn, source, k]
        for name in MESSAGE.names:
            low, high = limits(name)
            message[name] = data.draw(st.sampled_from([low, high, 0, 1]) | st.integers(low, high))
        message.source, message.destination = source, data.draw(st.integers(0, 2))
        if owners[PARTITIONS, message.destination] == 1:
            theirs.append(message.tolist())
        link.sent[turn, source] += 1
    there.sent[turn] = 3  # of an earlier window
    _, written, read = send(machines, owners, window)
    assert written == read
    assert there.sent[turn, FIRST].tolist() == [len(theirs) * (s == source) for s in FIRST]
    assert [m.tolist() for m in there.outbox[turn, source, : len(theirs)]] == theirs
    assert there.sent[turn, 1::2].tolist() == [3, 3], "its own sources are left alone"


def test_pages_that_sms_ask_for_are_told(pair):
    machines, owners = pair()
    asks, there = (m.sm.control.asks for m in machines)
    asks[2].page, asks[2].since = 18, 1234
    there[0].page = 7  # of an earlier window
    send(machines, owners)
    assert [(int(a.page), int(a.since)) for a in there[FIRST]] == [(0, 0), (18, 1234)]


def test_who_was_served_is_told_to_whom_it_concerns(pair):
    machines, owners = pair()
    window = 7
    link, there = (m.links.requests for m in machines)
    turn = window % int(there.spec[0].notes)
    link.taken[turn, 0, :4] = [0, 1, 3, 1]
    link.takes[turn, 0] = 4
    send(machines, owners, window)
    assert there.takes[turn].tolist() == [3, 0, 0]
    assert there.taken[turn, 0, :3].tolist() == [1, 3, 1]


def test_what_sms_tell_the_scheduler_is_there(pair):
    machines, owners = pair()
    told, there = (m.sm.control for m in machines)
    told.n_ended[FIRST], told.n_arrived[FIRST] = [2, 0], [0, 1]
    told.ended[0, 0], told.ended[0, 1] = (1, 2, 3, 4, 5, 6), (6, -1, 8, 9, 0, 0)
    told.arrived[2, 0] = (1, 2, 3, 4, 5, 6, -1)
    there.n_ended[:], there.n_arrived[:] = 9, 9
    send(machines, owners)
    assert there.n_ended.tolist() == [2, 9, 0, 9] and there.n_arrived.tolist() == [0, 9, 1, 9]
    assert there.ended[0, :2].tolist() == told.ended[0, :2].tolist()
    assert there.arrived[2, 0] == told.arrived[2, 0]


def test_there_is_room_for_all_that_can_be_said(pair):
    """Every list full, and all of it for the other machine."""
    machines, owners = pair()
    links, told = machines[0].links, machines[0].sm.control
    sm, partition = (int(np.argmax(owners[g] == 1)) for g in (SMS, PARTITIONS))
    for link, low in ((links.requests, partition), (links.replies, sm)):
        link.outbox["destination"] = low
        link.sent[:] = link.outbox.shape[2]
        link.takes[:] = link.taken.shape[2]
    links.requests.taken[:], links.replies.taken[:] = sm, partition
    told.n_ended[:], told.n_arrived[:] = told.ended.shape[1], told.arrived.shape[1]
    packet, written, read = send(machines, owners)
    assert written == read <= len(packet)
