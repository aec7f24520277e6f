"""The SM's ports at the crossbar: flits, credits, refused requests, replies."""

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.model import link
from lockstep.model.cache import l1, miss_queue
from lockstep.model.cache.prefetch import state
from lockstep.model.cache.tags import NO_LINE
from lockstep.model.clock import NEVER
from lockstep.model.core import accounting, port
from lockstep.model.core.state import DONE_ACCESS, DONE_ACKNOWLEDGED
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)
from model.owned import of_owner

pytestmark = pytest.mark.plain
LATENCY = 60


class Port:
    """SM 0 with both links; tests put requests into its miss queue and replies into its inbox."""

    def __init__(self, c, gpu):
        self.c, self.gpu, self.now = c, gpu, 0
        channels = gpu.dram.channels
        self.requests = link.build(1, channels, LATENCY, gpu.interconnect.buffer, 1)
        self.replies = link.build(channels, 1, LATENCY, 32, 2)

    def want(self, line, flits=1, kind=KIND_READ, tag=0, sectors=1, now=-1):
        miss = miss_queue.push(self.c.l1, 0, line, sectors, kind, now)
        miss.tag, miss.policy, miss.flits = tag, 0, flits

    def tick(self, now):
        """One cycle; the lines that left in it."""
        before = int(link.sent_by(self.requests, 0))
        port.tick(self.c, self.requests, self.replies, 0, now)
        turn = self.requests.begun[0] % link.OUTBOXES
        sent = self.requests.outbox[turn, 0, before : link.sent_by(self.requests, 0)]
        return [int(m.address) // 128 for m in sent]

    def reply(self, kind, tag, sectors=1, flits=1, sent=0, **fields):
        message = link.send(self.replies, 0, 0, sent)
        values = {"kind": kind, "tag": tag, "sectors": sectors, "flits": flits, "address": 0}
        values |= {"request": KIND_READ, "full": 0, "policy": 0, "issued": 0, "slice": 0} | fields
        for name, value in values.items():
            message[name] = value

    def deliver(self, window_start):
        one = of_owner(self.replies, 0, 1)
        link.deliver(self.replies, int(self.replies.begun[0]), *one, window_start)
        for partition in range(len(self.replies.begun)):
            link.begin(self.replies, partition)

    @property
    def notes(self):
        done = self.c.done[0, : self.c.n_done[0]]
        return [(d.kind, d.index, d.cycle) for d in done]


@pytest.fixture(scope="session")
def ports(tiny, idle_sms):
    def make(**changes):
        gpu = tiny(**changes)
        return Port(idle_sms(gpu), gpu)

    return make


def test_requests_leave_in_order_one_a_cycle(ports):
    p = ports()
    for line in (5, 3, 9):
        p.want(line)
    assert [p.tick(t) for t in range(4)] == [[5], [3], [9], []]
    assert p.requests.outbox[0, 0, :3].arrival.tolist() == [LATENCY, LATENCY + 1, LATENCY + 2]
    assert p.c.counters[0].noc_requests == p.c.counters[0].noc_request_flits == 3


def test_a_request_is_ready_a_cycle_after_the_miss(ports):
    p = ports()
    p.want(5, now=10)
    assert miss_queue.next_ready(p.c.l1, 0) == 11
    assert [p.tick(10), p.tick(11)] == [[], [5]]


@pytest.mark.parametrize("mhz, cycles", [(1132.0, 4), (566.0, 8), (2264.0, 2)])
def test_data_keeps_the_port_for_its_flits(ports, mhz, cycles):
    p = ports(interconnect__clock_mhz=mhz)
    p.want(5, flits=4, kind=KIND_WRITE)
    p.want(6)
    assert p.tick(0) == [5]
    assert all(p.tick(t) == [] for t in range(1, cycles))
    assert p.tick(cycles) == [6]


def test_a_slow_port_keeps_time_in_fractions_of_a_cycle(ports):
    p = ports(interconnect__clock_mhz=1132.0 / 1.5)
    for line in range(5):
        p.want(line)
    sent = [t for t in range(10) if p.tick(t)]
    assert sent == [0, 1, 3, 4, 6], "one in one and a half cycles"


def test_a_request_without_a_credit_may_hold_up_those_to_its_partition_alone(ports):
    p = ports(dram__channels=2, interconnect__buffer=2, interconnect__order="partition")
    near, far = 0, 4
    for line in (near, near, near, far, near + 1, far + 1):
        p.want(line)
    sent = [p.tick(t) for t in range(5)]
    assert sent == [[near], [near], [far], [far + 1], []], "those to a partition keep their order"
    assert p.c.l1.caches[0].queue_count == 2
    assert [int(miss_queue.at(p.c.l1, 0, k).line) for k in range(2)] == [near, near + 1]
    assert port.next_event(p.c, p.replies, 0, 4, LATENCY) == LATENCY


def test_one_that_comes_behind_a_request_without_a_credit_is_not_slept_through(ports):
    p = ports(dram__channels=2, interconnect__buffer=1, interconnect__order="partition")
    p.want(0)
    p.want(0)
    assert [p.tick(t) for t in range(2)] == [[0], []]
    p.want(4, now=1)
    assert port.next_event(p.c, p.replies, 0, 1, LATENCY) == 2
    assert p.tick(2) == [4]


def test_each_partition_gives_credits_of_its_own(ports):
    p = ports(dram__channels=2, interconnect__buffer=2)
    near, far = 0, 4  # lines of 128 bytes in slices of 256; two slices a channel
    for line in (near, near, near, far):
        p.want(line)
    assert [p.tick(t) for t in range(4)] == [[near], [near], [], []], "in order: all wait"
    assert p.c.sms[0].no_credit == 3
    assert port.next_event(p.c, p.replies, 0, 3, LATENCY) == LATENCY
    accounting.account_no_credit(p.c, 0, LATENCY)  # as the next window does
    assert p.c.counters[0].noc_request_stalls == LATENCY - 2
    link.deliver(p.requests, 0, *of_owner(p.requests, 0, 2), 0)
    link.take(p.requests, 0)
    link.give_back(p.requests, 0, *of_owner(p.requests, 0, 1))
    link.begin(p.requests, 0)
    assert [p.tick(t) for t in (70, 71)] == [[near], [far]]


def test_requests_name_the_slice_and_partition_that_own_them(ports):
    p = ports(dram__channels=2)
    for line in range(0, 8, 2):
        p.want(line, tag=line + 10, kind=KIND_ATOMIC, sectors=0b11)
    for t in range(4):
        p.tick(t)
    sent = p.requests.outbox[0, 0, :4]
    assert sent.slice.tolist() == [0, 1, 2, 3]
    assert sent.destination.tolist() == [0, 0, 1, 1]
    assert sent.tag.tolist() == [10, 12, 14, 16]
    assert (sent.kind == KIND_ATOMIC).all() and (sent.sectors == 0b11).all()
    assert sent.issued.tolist() == [0, 1, 2, 3]


def test_a_refused_request_goes_again_later_and_first(ports):
    p = ports(l2__mshr_full="nack")
    wait = p.gpu.l2.nack_retry
    p.reply(KIND_NACK, tag=-5, sectors=0b10, flits=1, address=7 * 128, request=KIND_ATOMIC, full=3)
    p.deliver(0)
    p.tick(LATENCY)
    assert p.c.counters[0].nacks == 1
    due = LATENCY + wait
    assert miss_queue.next_ready(p.c.l1, 0) == due
    p.want(9, now=due - 1)
    assert p.tick(due - 1) == []
    assert [p.tick(due), p.tick(due + 1)] == [[7], [9]]
    again = p.requests.outbox[0, 0, 0]
    assert (again.kind, again.tag, again.sectors, again.full) == (KIND_ATOMIC, -5, 0b10, 3)


def test_refused_requests_wait_by_lot_and_go_as_they_are_due(ports):
    p = ports(l2__mshr_full="nack", l2__nack_spread=40)
    retry, c = p.gpu.l2.nack_retry, p.c
    lots = [port.pause(c.spec[0], 0, nth) - retry for nth in range(1, 9)]
    assert min(lots) >= 0 and max(lots) <= 40 and lots != sorted(lots)
    for nth in range(8):
        p.reply(KIND_NACK, tag=nth, address=nth * 128, sent=nth)
    p.deliver(0)
    for t in range(LATENCY, LATENCY + 8):
        p.tick(t)
    due = [LATENCY + nth + retry + lot for nth, lot in enumerate(lots)]
    order = c.l1.retries[0, :8]
    assert order.ready_at.tolist() == sorted(due)
    assert [int(line) for line in order.line] == sorted(range(8), key=lambda n: (due[n], n))
    assert (order.refusals == 1).all()


@given(st.integers(0, 100), st.integers(1, 5000))
def test_lots_fall_everywhere_in_their_spread(s, first):
    spec = SimpleNamespace(nack_retry=10, nack_spread=9)
    fallen = Counter(port.pause(spec, s, first + n) - 10 for n in range(400))
    assert set(fallen) == set(range(10)) and max(fallen.values()) < 100


def test_requests_pass_one_that_waits_to_be_repeated(ports):
    p = ports(l2__mshr_full="nack")
    p.reply(KIND_NACK, tag=0, address=7 * 128)
    p.deliver(0)
    p.tick(LATENCY)
    p.want(9, now=LATENCY)
    assert p.tick(LATENCY + 1) == [9]


def test_a_reply_is_taken_when_it_arrives_and_the_port_is_free(ports):
    p = ports()
    p.reply(KIND_ACK, tag=3, flits=4, sent=5)
    p.reply(KIND_ACK, tag=1, sent=6)
    p.deliver(0)
    for t in range(80):
        p.tick(t)
    first = LATENCY + 5
    assert p.notes == [(DONE_ACKNOWLEDGED, 3, first), (DONE_ACKNOWLEDGED, 1, first + 4)]
    assert (p.c.counters[0].noc_replies, p.c.counters[0].noc_reply_flits) == (2, 5)
    assert p.replies.takes[0, 0] == 2, "their places are free again"


def test_data_past_the_l1_goes_to_its_access(ports):
    p = ports()
    p.c.accesses[0, 6].remaining = 3
    p.reply(KIND_DATA, tag=-7, sectors=0b0011, sent=0, issued=2)
    p.reply(KIND_DATA, tag=-7, sectors=0b0100, sent=9, issued=2)
    p.deliver(0)
    p.tick(LATENCY)
    assert p.notes == [] and p.c.accesses[0, 6].remaining == 1
    p.tick(LATENCY + 9)
    fill = p.c.spec[0].fill_cycles
    assert p.notes == [(DONE_ACCESS, 6, LATENCY + 9 + fill)]
    assert p.c.counters[0].miss_latency == LATENCY - 2 + LATENCY + 9 - 2


def test_data_of_a_miss_goes_to_all_that_wait(ports):
    p = ports()
    c = p.c
    for a in (2, 3):
        access = c.accesses[0, a]
        access.remaining = 0
        transaction = SimpleNamespace(line=8, sectors=0b1, full=0)
        request = SimpleNamespace(kind=KIND_READ, policy=0, local=0, tag=a)
        coming, hits = l1.access(c.l1, 0, c.counters[0], request, transaction, 0)
        assert (coming, hits) == (1, 0)
        access.remaining += coming
    p.reply(KIND_DATA, tag=0, sectors=0b1)
    p.deliver(0)
    p.tick(LATENCY)
    assert sorted(n[1] for n in p.notes) == [2, 3]


def test_the_next_event_of_idle_and_waiting_ports(ports):
    p = ports()
    assert port.next_event(p.c, p.replies, 0, 0, LATENCY) == NEVER
    p.reply(KIND_ACK, tag=0, sent=4)
    p.deliver(0)
    assert port.next_event(p.c, p.replies, 0, 0, LATENCY) == LATENCY + 4
    p.want(5, now=19)
    assert port.next_event(p.c, p.replies, 0, 0, LATENCY) == 20
    assert port.next_event(p.c, p.replies, 0, 30, LATENCY) == 31


@pytest.mark.parametrize("kind", [KIND_ATOMIC, KIND_REDUCTION])
@pytest.mark.parametrize(
    "sectors, lanes, cycles", [(1, 1, 1), (0b1111, 1, 7), (1, 8, 8), (0b11, 8, 8), (0b11, 1, 3)]
)
def test_atomics_keep_the_port_for_sectors_and_for_lanes_on_a_word(
    ports, kind, sectors, lanes, cycles
):
    p = ports(interconnect__atomic_sector_interval=2.0, interconnect__atomic_word_interval=1.0)
    p.want(5, kind=kind, sectors=sectors)
    p.c.l1.queue[0, p.c.l1.caches[0].queue_head].full = lanes
    p.want(6)
    sent = [t for t in range(20) if p.tick(t)]
    assert sent == [0, cycles]


@pytest.mark.parametrize("interval, lanes, cycles", [(0.0, 32, 0), (2.0, 1, 0), (2.0, 32, 62)])
def test_results_of_lanes_on_one_word_come_one_by_one(ports, interval, lanes, cycles):
    p = ports(interconnect__atomic_result_interval=interval)
    p.c.accesses[0, 3].remaining = 1
    p.reply(KIND_DATA, tag=-4, request=KIND_ATOMIC, full=lanes)
    p.deliver(0)
    p.tick(LATENCY)
    ((kind, index, cycle),) = p.notes
    assert (kind, index, cycle) == (DONE_ACCESS, 3, LATENCY + p.c.spec[0].fill_cycles + cycles)


def ask(p, *lines):
    """Have lines in the queue of the L1's prefetcher."""
    for k, line in enumerate(lines):
        p.c.l1.prefetch.out[0, k].line = line
    state.push(p.c.l1.prefetch, 0, len(lines))


def test_prefetches_leave_when_no_request_does(ports):
    p = ports(l1__prefetcher="stride")
    ask(p, 20, 21)
    p.want(5, now=-1)
    p.want(6, now=1)
    assert [p.tick(t) for t in range(5)] == [[5], [20], [6], [21], []]
    assert p.c.counters[0].l1_prefetches == 2 and p.c.counters[0].noc_requests == 4


def test_a_port_that_is_taken_sends_no_prefetch(ports):
    p = ports(l1__prefetcher="stride", interconnect__clock_mhz=566.0)
    ask(p, 20)
    p.want(5)
    assert [p.tick(t) for t in range(4)] == [[5], [], [20], []]


def test_half_of_the_credits_are_left_to_demand(ports):
    p = ports(l1__prefetcher="stride", dram__channels=1, interconnect__buffer=4)
    ask(p, 20, 21, 22)
    assert [p.tick(t) for t in range(3)] == [[20], [21], []]
    assert p.c.l1.prefetch.queues[0].blocked == 2
    for line in (5, 6, 7):
        p.want(line, now=2)
    assert [p.tick(t) for t in range(3, 6)] == [[5], [6], []]
    assert p.c.sms[0].no_credit == 5, "demand took the last"


def test_demand_gets_the_only_credit(ports):
    p = ports(l1__prefetcher="stride", dram__channels=1, interconnect__buffer=1)
    ask(p, 20)
    assert p.tick(0) == []
    p.want(5, now=0)
    assert p.tick(1) == [5]


def test_the_next_event_of_a_prefetch_that_waits(ports):
    p = ports(l1__prefetcher="stride", dram__channels=1, interconnect__buffer=4)
    ask(p, 20)
    assert port.next_event(p.c, p.replies, 0, 7, LATENCY) == 8
    ask(p, 21, 22)
    for t in (7, 8, 9):
        p.tick(t)
    assert port.next_event(p.c, p.replies, 0, 9, LATENCY) == LATENCY, "credits come with the window"
    assert port.next_event(p.c, p.replies, 0, 10, LATENCY) == 11


def test_data_of_a_prefetch_is_for_no_access(ports):
    p = ports(l1__prefetcher="stride")
    ask(p, 20)
    p.tick(0)
    entry = int(p.requests.outbox[0, 0, 0].tag)
    assert entry == p.gpu.l1.mshr_entries
    p.reply(KIND_DATA, tag=entry, sectors=0b1111)
    p.deliver(0)
    p.tick(LATENCY)
    assert p.notes == [] and p.c.counters[0].miss_latency == 0
    assert (p.c.l1.tags.lines == 20 ^ NO_LINE).any()


def test_a_prefetch_that_the_l2_refuses_does_not_come_again(ports):
    p = ports(l1__prefetcher="stride", l2__mshr_full="nack")
    ask(p, 20)
    p.tick(0)
    entry = int(p.requests.outbox[0, 0, 0].tag)
    p.reply(KIND_NACK, tag=entry, sectors=0b1111, address=20 * 128)
    p.deliver(0)
    p.tick(LATENCY)
    assert miss_queue.next_ready(p.c.l1, 0) == NEVER
    assert (p.c.counters[0].nacks, p.c.counters[0].l1_prefetch_useless) == (1, 1)
