"""Partitions whose memory another simulator models: only their ends of the links are here.

Requests leave at a window's end (``collect``), answers come then (``answer``). A request holds its
credit until it is answered: so ``interconnect.buffer`` of an SM at a partition are under way at
most, and the other side needs no flow control of its own.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, jit, popcount
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_READ,
    MESSAGE,
    OUTBOXES,
    Link,
)
from lockstep.model.records import records

FREE, ASKED, ANSWERED = 0, 1, 2


class OutsidePartitions(Context):
    """The partitions' ends of the links, and the requests that are under way outside."""

    requests: Link
    replies: Link
    flight: Records  # MESSAGE: the request of each id
    free: np.ndarray  # ids that are free, the next one last
    count: np.ndarray  # one: how many ids are free
    stages: np.ndarray  # of each id: FREE, ASKED or ANSWERED
    sizes: np.ndarray  # bytes of a sector, and of a flit of the crossbar


def build(requests: Link, replies: Link, sector_bytes: int, flit_bytes: int) -> OutsidePartitions:
    """Nothing is under way; ids are as many as there are credits."""
    ids = int(requests.credits.sum())
    return OutsidePartitions(
        requests,
        replies,
        records(ids, MESSAGE),
        np.arange(ids, dtype=np.int64)[::-1].copy(),
        np.array([ids], np.int64),
        np.zeros(ids, np.int64),
        np.array([sector_bytes, flit_bytes], np.int64),
    )


@jit
def run_linked(state, first, last, step, start, end):
    """Take partitions through a window: what came in is outside by now. The phase of a group."""
    for p in range(first, last, step):
        link.begin(state.replies, p)
        link.open_inbox(state.requests, p)
        port = state.requests.ports[p]
        port.head = (port.head + port.count) % state.requests.spec[0].in_capacity
        port.count = 0
    return NEVER


@jit
def collect(state, out):
    """Write what SMs have sent in this window to REQUEST records; how many there are."""
    requests = state.requests
    n = 0
    for s in range(requests.spec[0].sources):
        turn = requests.begun[s] % OUTBOXES
        for k in range(requests.sent[turn, s]):
            message = requests.outbox[turn, s, k]
            state.count[0] -= 1
            number = state.free[state.count[0]]
            state.flight[number] = message
            state.stages[number] = ASKED
            row = out[n]
            row.id, row.address, row.cycle = number, message.address, message.arrival
            row.sm, row.partition = s, message.destination
            row.bytes = popcount(message.sectors) * state.sizes[0]
            row.full, row.kind, row.sectors = message.full, message.kind, message.sectors
            n += 1
    return n


@inline
def _reply(state, message, cycle):
    """Answer a request at a cycle of this window."""
    reply = link.send(state.replies, message.destination, message.source, cycle)
    reads = message.kind == KIND_READ or message.kind == KIND_ATOMIC
    reply.kind = KIND_DATA if reads else KIND_ACK
    reply.request = message.kind
    reply.address, reply.tag, reply.issued = message.address, message.tag, message.issued
    reply.sectors, reply.full = message.sectors, message.full
    reply.slice, reply.policy, reply.refusals = message.slice, message.policy, message.refusals
    reply.held, reply.mask, reply.flits = 0, 0, 1
    if reads:
        last_byte = popcount(message.sectors) * state.sizes[0] + state.sizes[1] - 1
        reply.flits = last_byte // state.sizes[1]


@jit
def accept(state, answers, first, last, start, end):
    """Note answers first..last-1, each to a request under way, from ``start`` on, before ``end``.

    Returns the place of the first one that is not, or -1.
    """
    for k in range(first, last):
        number = answers[k].id
        if number < 0 or number >= len(state.stages) or state.stages[number] != ASKED:
            return k
        if answers[k].cycle < start or answers[k].cycle >= end:
            return k
        state.stages[number] = ANSWERED
    return -1


@jit
def answer(state, answers, count, start):
    """Send ``count`` answers to the SMs, no earlier than cycle ``start``.

    Those for which there is no credit remain at the beginning of ``answers``; how many these are.
    """
    left = 0
    for k in range(count):
        number, cycle = answers[k].id, answers[k].cycle
        message = state.flight[number]
        if link.can_send(state.replies, message.destination, message.source):
            _reply(state, message, max(cycle, start))
            link.note(state.requests, message.destination, message.source)
            state.stages[number] = FREE
            state.free[state.count[0]] = number
            state.count[0] += 1
        else:
            answers[left].id, answers[left].cycle = number, cycle
            left += 1
    return left


def under_way(state: OutsidePartitions) -> int:
    """How many requests are not answered."""
    return len(state.free) - int(state.count[0])
