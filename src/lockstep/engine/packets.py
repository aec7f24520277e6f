"""Packets: what machines of one GPU tell each other at a window's end.

Each machine runs a part of each group of shards, and has room for what the others send: the
outboxes, notes and messages of their shards lie at the same places as if they ran here. So what
follows a window, the delivery of messages, the return of credits and the CTA scheduler, is the same
code on the same bytes wherever a shard runs.

A packet is an array of words: the sender's next event and how many messages ENDED it has, those and
its messages ARRIVED and ASK by SM, then for each link the messages to the receiver's shards by
source, and whose messages its own shards have taken. Lists begin with their lengths.
"""

import numpy as np

from lockstep._jit import Record, inline, jit
from lockstep.engine.groups import SCHEDULED
from lockstep.model.control import Control
from lockstep.model.link import OUTBOXES, Link

HEADER = 3  # next event, messages ENDED, what the machine wants of all: bits, see part.py
MESSAGE_WORDS = 8
WORD_BYTES = 8  # of a field of messages between SMs and CTA scheduler, too
_LOW = (1 << 32) - 1


def room(links: tuple[Link, ...], ends: np.ndarray, control: Control, shards: list[int]) -> int:
    """Words of the longest packet of a machine that has so many shards of each group."""
    told = control.ended[0].nbytes + control.arrived[0].nbytes + control.asks[:1].nbytes
    words = HEADER + shards[SCHEDULED] * (2 + told // WORD_BYTES)
    for link, (sources, destinations) in zip(links, ends.tolist()):
        words += shards[sources] * (1 + link.outbox.shape[2] * MESSAGE_WORDS)
        words += shards[destinations] * (1 + link.taken.shape[2])
    return words


@inline
def _put_message(packet: np.ndarray, n: int, message: Record) -> None:
    packet[n] = message.arrival
    packet[n + 1] = message.address
    packet[n + 2] = message.tag
    packet[n + 3] = message.issued
    packet[n + 4] = message.source << 32 | message.destination
    packet[n + 5] = message.slice << 32 | message.held << 16 | message.flits
    low = message.sectors << 16 | message.kind << 8 | message.request
    high = message.refusals << 55 | message.policy << 40
    packet[n + 6] = high | message.full << 24 | low
    packet[n + 7] = message.mask


@inline
def _get_message(packet: np.ndarray, n: int, message: Record) -> None:
    message.arrival = packet[n]
    message.address = packet[n + 1]
    message.tag = packet[n + 2]
    message.issued = packet[n + 3]
    message.source = packet[n + 4] >> 32
    message.destination = packet[n + 4] & _LOW
    message.slice = packet[n + 5] >> 32
    message.flits = packet[n + 5] & 0xFFFF
    message.held = (packet[n + 5] >> 16) & 0xFFFF
    small = packet[n + 6]
    message.refusals = small >> 55
    message.policy = (small >> 40) & 0x7FFF
    message.full = (small >> 24) & 0xFFFF
    message.sectors = (small >> 16) & 0xFF
    message.kind = (small >> 8) & 0xFF
    message.request = small & 0xFF
    message.mask = packet[n + 7]


@inline
def _put_link(
    packet: np.ndarray,
    n: int,
    link: Link,
    window: int,
    sources: np.ndarray,
    mine: int,
    destinations: np.ndarray,
    other: int,
) -> int:
    """What sources of one owner have sent to destinations of another one, given owners of both."""
    turn = window % OUTBOXES
    for s in range(link.spec[0].sources):
        if sources[s] != mine:
            continue
        start = n
        n += 1
        for k in range(link.sent[turn, s]):
            message = link.outbox[turn, s, k]
            if destinations[message.destination] == other:
                _put_message(packet, n, message)
                n += MESSAGE_WORDS
        packet[start] = (n - start - 1) // MESSAGE_WORDS
    return n


@inline
def _get_link(
    packet: np.ndarray, n: int, link: Link, window: int, sources: np.ndarray, other: int
) -> int:
    turn = window % OUTBOXES
    for s in range(link.spec[0].sources):
        if sources[s] != other:
            continue
        count = packet[n]
        n += 1
        link.sent[turn, s] = count
        for k in range(count):
            _get_message(packet, n, link.outbox[turn, s, k])
            n += MESSAGE_WORDS
    return n


@inline
def _put_taken(
    packet: np.ndarray,
    n: int,
    link: Link,
    window: int,
    destinations: np.ndarray,
    mine: int,
    sources: np.ndarray,
    other: int,
) -> int:
    """Whose messages destinations of one owner have taken, of sources of another one."""
    turn = window & (link.spec[0].notes - 1)
    for d in range(link.spec[0].destinations):
        if destinations[d] != mine:
            continue
        start = n
        n += 1
        for k in range(link.takes[turn, d]):
            source = link.taken[turn, d, k]
            if sources[source] == other:
                packet[n] = source
                n += 1
        packet[start] = n - start - 1
    return n


@inline
def _get_taken(
    packet: np.ndarray, n: int, link: Link, window: int, destinations: np.ndarray, other: int
) -> int:
    turn = window & (link.spec[0].notes - 1)
    for d in range(link.spec[0].destinations):
        if destinations[d] != other:
            continue
        count = packet[n]
        n += 1
        link.takes[turn, d] = count
        for k in range(count):
            link.taken[turn, d, k] = packet[n]
            n += 1
    return n


@inline
def _put_told(packet: np.ndarray, n: int, control: Control, owners: np.ndarray, mine: int) -> int:
    """What the SMs of an owner tell the CTA scheduler."""
    for s in range(len(control.n_ended)):
        if owners[s] != mine:
            continue
        packet[n] = control.n_ended[s]
        n += 1
        for k in range(control.n_ended[s]):
            note = control.ended[s, k]
            packet[n], packet[n + 1], packet[n + 2] = note.kernel, note.cta, note.start
            packet[n + 3], packet[n + 4], packet[n + 5] = note.end, note.left, note.lasted
            n += 6
        packet[n] = control.n_arrived[s]
        n += 1
        for k in range(control.n_arrived[s]):
            told = control.arrived[s, k]
            packet[n], packet[n + 1], packet[n + 2] = told.cluster, told.rank, told.slot
            packet[n + 3], packet[n + 4] = told.came, told.awaited
            packet[n + 5], packet[n + 6] = told.last, told.ended
            n += 7
        packet[n], packet[n + 1] = control.asks[s].page, control.asks[s].since
        n += 2
    return n


@inline
def _get_told(packet: np.ndarray, n: int, control: Control, owners: np.ndarray, other: int) -> int:
    for s in range(len(control.n_ended)):
        if owners[s] != other:
            continue
        control.n_ended[s] = packet[n]
        n += 1
        for k in range(control.n_ended[s]):
            note = control.ended[s, k]
            note.kernel, note.cta, note.start = packet[n], packet[n + 1], packet[n + 2]
            note.end, note.left, note.lasted = packet[n + 3], packet[n + 4], packet[n + 5]
            n += 6
        control.n_arrived[s] = packet[n]
        n += 1
        for k in range(control.n_arrived[s]):
            told = control.arrived[s, k]
            told.cluster, told.rank, told.slot = packet[n], packet[n + 1], packet[n + 2]
            told.came, told.awaited = packet[n + 3], packet[n + 4]
            told.last, told.ended = packet[n + 5], packet[n + 6]
            n += 7
        control.asks[s].page, control.asks[s].since = packet[n], packet[n + 1]
        n += 2
    return n


@inline
def _window(links: tuple[Link, ...], owners: np.ndarray, mine: int) -> int:
    """The number of the window, as the shards of a part count."""
    for s in range(links[0].spec[0].sources):
        if owners[SCHEDULED, s] == mine:
            return links[0].begun[s]
    return 0


@jit
def pack(
    packet: np.ndarray,
    owners: np.ndarray,
    mine: int,
    other: int,
    links: tuple[Link, ...],
    ends: np.ndarray,
    control: Control,
    header: np.ndarray,
) -> int:
    """Write what part ``mine`` tells part ``other``; returns how many words that takes.

    ``owners``: of each group the part of each shard; ``ends``: of each link the groups of its
    sources and destinations; ``header``: the first words.
    """
    window = _window(links, owners, mine)
    for k in range(HEADER):
        packet[k] = header[k]
    n = _put_told(packet, HEADER, control, owners[SCHEDULED], mine)
    for k in range(len(links)):
        sources, destinations = owners[ends[k, 0]], owners[ends[k, 1]]
        n = _put_link(packet, n, links[k], window, sources, mine, destinations, other)
        n = _put_taken(packet, n, links[k], window, destinations, mine, sources, other)
    return n


@jit
def unpack(
    packet: np.ndarray,
    owners: np.ndarray,
    mine: int,
    other: int,
    links: tuple[Link, ...],
    ends: np.ndarray,
    control: Control,
) -> int:
    """Put what part ``other`` told where it would lie if it ran here; how many words that were."""
    window = _window(links, owners, mine)
    n = _get_told(packet, HEADER, control, owners[SCHEDULED], other)
    for k in range(len(links)):
        n = _get_link(packet, n, links[k], window, owners[ends[k, 0]], other)
        n = _get_taken(packet, n, links[k], window, owners[ends[k, 1]], other)
    return n
