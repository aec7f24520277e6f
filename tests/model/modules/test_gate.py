"""Gates: which way a message takes, whose credits it needs, and who is first."""

import pytest

from lockstep.gpus import library
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.modules import gate, state
from model.owned import of_owner

pytestmark = pytest.mark.plain

L = 12


@pytest.fixture
def made():
    """The gate of SMs, the crossbar's links of requests and replies, and those of modules."""
    changes = {"sm.count": 4, "dram.channels": 2, "modules.count": 2, "interconnect.latency": L}
    gpu = library.replace(library.gpu("QV100"), **changes)
    links = state.build_links(gpu)
    of_sms, of_partitions = state.build_gates(gpu, links)
    return of_sms, of_partitions, link.build(4, 2, L, 2, 1), link.build(2, 4, L, 4, 2), links


def test_near_messages_take_the_crossbar_and_far_ones_the_router(made):
    of_sms, _, requests, _, links = made
    assert [[bool(gate.is_far(of_sms, s, p)) for p in range(2)] for s in range(4)] == [
        [False, True], [False, True], [True, False], [True, False]
    ]  # fmt: skip
    near, far = gate.send(of_sms, requests, 1, 0, 5), gate.send(of_sms, requests, 1, 1, 6)
    assert (near.arrival, near.source, near.destination) == (5 + L, 1, 0)
    assert (far.arrival, far.source, far.destination) == (6 + L // 2, 1, 0), "its router's number"
    assert (link.sent_by(requests, 1), link.sent_by(links.requests, 1)) == (1, 1)
    assert requests.credits[1].tolist() == [1, 1]


def test_a_far_message_needs_the_credit_of_its_destination(made):
    of_sms, _, requests, _, _ = made
    for _ in range(2):
        assert gate.can_send(of_sms, requests, 0, 1)
        gate.send(of_sms, requests, 0, 1, 0)
    assert not gate.can_send(of_sms, requests, 0, 1) and gate.can_send(of_sms, requests, 0, 0)


def test_a_reply_names_the_sm_that_it_is_for(made):
    _, of_partitions, _, replies, links = made
    message = gate.send(of_partitions, replies, 0, 3, 0)
    assert (message.source, message.destination) == (3, 0)
    assert link.sent_by(links.replies, 0) == 1 and replies.credits[0, 3] == 3


def arrive(joined, source, destination, cycle, tag):
    """A message lies in an inbox."""
    message = link.put(joined, source, destination, cycle - int(joined.spec[0].latency))
    message.tag = tag


def test_the_older_of_two_is_first_and_of_equals_the_near_one(made):
    of_sms, _, _, replies, links = made
    for d in range(4):
        link.open_inbox(replies, d)
        link.open_inbox(links.to_sms, d)
    for tag, cycle in ((1, 20), (2, 23)):
        arrive(replies, 0, 0, cycle, tag)
    for tag, cycle in ((11, 19), (12, 20), (13, 22)):
        arrive(links.to_sms, 1, 0, cycle, tag)
    link.deliver(replies, 0, *of_owner(replies, 0, 4), 8)
    link.deliver(links.to_sms, 0, *of_owner(links.to_sms, 0, 4), 13)
    assert gate.next_arrival(of_sms, 0) == 19 and gate.next_arrival(of_sms, 1) == NEVER
    assert not gate.waiting(of_sms, replies, 0, 18) and gate.waiting(of_sms, replies, 0, 19)
    order = []
    while gate.waiting(of_sms, replies, 0, 100):
        crossed = gate.is_first(of_sms, replies, 0)
        order.append(int(link.first(links.to_sms if crossed else replies, 0).tag))
        if crossed:
            gate.take(of_sms, replies, 0)
        else:
            link.take(replies, 0)
    assert order == [11, 1, 12, 13, 2]
    turn = replies.opened[0] % replies.spec[0].notes
    assert replies.takes[turn, 0] == 5, "all notes are the crossbar's"
    assert sorted(replies.taken[turn, 0, :5].tolist()) == [0, 0, 1, 1, 1]


PLACE = state.MemoryPlace(low=4096, high=8192, first=5120, end=6144)


@pytest.fixture
def joined():
    """The same of a GPU whose memory lies among those of others."""
    gpu = library.replace(
        library.gpu("QV100"), **{"sm.count": 4, "dram.channels": 2, "interconnect.latency": L}
    )
    links = state.build_ports(gpu)
    of_sms, of_partitions = state.build_gates(gpu, links, PLACE)
    return of_sms, of_partitions, link.build(4, 2, L, 2, 1), link.build(2, 4, L, 4, 2), links


@pytest.mark.parametrize(
    ("address", "others"),
    [(4095, False), (4096, True), (5119, True), (5120, False), (6143, False), (6144, True),
     (8191, True), (8192, False)],
)  # fmt: skip
def test_addresses_of_peers_are_those_of_the_system_but_the_own(joined, made, address, others):
    assert gate.is_peers(joined[0], address) == others
    assert not gate.is_peers(made[0], address), "modules are no peers"


def test_shards_behind_the_last_one_are_of_peers_and_need_a_place_at_the_fabric(joined):
    of_sms, _, requests, _, links = joined
    assert not gate.is_far(of_sms, 3, 1) and gate.is_far(of_sms, 3, 2)
    for _ in range(2):
        gate.send(of_sms, requests, 1, 1, 0)
    assert not gate.can_send(of_sms, requests, 1, 1) and gate.can_send(of_sms, requests, 1, 2)
    assert gate.has_spare(of_sms, requests, 1, 2) and not gate.has_spare(of_sms, requests, 1, 1)
    sent = gate.send(of_sms, requests, 1, 2, 7)
    assert (sent.arrival, sent.source, sent.destination) == (7 + L, 1, 0)
    links.requests.credits[1, 0] = 1
    assert not gate.has_spare(of_sms, requests, 1, 2) and gate.can_send(of_sms, requests, 1, 2)
    links.requests.credits[1, 0] = 0
    assert not gate.can_send(of_sms, requests, 1, 2)
    assert requests.credits[1].tolist() == [2, 0], "those of the crossbar stay"


def test_a_reply_names_the_sm_of_a_peer_and_what_came_gives_no_credit_back(joined):
    _, of_partitions, requests, replies, links = joined
    message = gate.send(of_partitions, replies, 1, 4 + 70_000, 3)
    assert (message.source, message.destination) == (4 + 70_000, 0)
    link.open_inbox(requests, 0)
    arrive(links.to_partitions, 0, 0, 20, 1)
    link.deliver(links.to_partitions, 0, *of_owner(links.to_partitions, 0, 2), 8)
    gate.take(of_partitions, requests, 0)
    assert requests.takes.sum() == 0 and links.to_partitions.ports["count"].sum() == 0
