"""Links: the only way in which shards talk. Bounded queues of messages with latency and credits.

A link joins ``sources`` shards to ``destinations`` shards. A source asks for room (``can_send``),
then fills the record that ``send`` returns; it lies in the source's outbox until the window ends.
``deliver`` then moves all messages of a destination to its inbox in the order (arrival, source,
sequence), which no number of threads can change. Whoever takes a message out notes it, and
``give_back`` returns the credits of a source: ``credit_windows`` windows later it can use them.
All messages of one link travel equally long, at least one window, so what a window delivers
arrives after everything delivered before.

Threads meet once a window, between the last message of a window and ``deliver``. Whoever is done
with that begins the next window while others still read what was sent: so outboxes are two in
turn, and notes of what was taken more than the windows until credits come back: a power of two,
by which dividing is quick.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, jit
from lockstep.model.clock import NEVER
from lockstep.model.records import full, nothing, records, zeros

MESSAGE = np.dtype(
    [
        ("arrival", "i8"),  # core cycle at which the destination can see it
        ("address", "i8"),  # of the line, line-aligned
        ("tag", "i8"),  # the requester's, returned in the reply
        ("issued", "i8"),  # core cycle at which the request left the SM (kept in the reply)
        ("mask", "i8"),  # bit a byte of what it brings; with a coherence protocol alone
        ("source", "i4"),
        ("destination", "i4"),
        ("slice", "i4"),  # global L2 slice number
        ("flits", "i2"),  # port cycles it takes
        ("held", "i2"),  # data: 1 = the L2 had it when it was asked
        ("policy", "i2"),  # isa.CachePolicy bits
        ("full", "i2"),  # writes: bit s: all of sector s is written; atomics: most lanes on a word
        ("sectors", "u1"),  # bit s: sector s of the line is meant
        ("kind", "u1"),  # one of KIND_*
        ("request", "u1"),  # replies: the kind of the request
        ("refusals", "u1"),  # how often the request was refused before
    ]
)

KIND_READ = 0
KIND_WRITE = 1
KIND_ATOMIC = 2  # reply carries data
KIND_REDUCTION = 3  # an atomic whose reply is only an acknowledgement
KIND_DATA = 4  # reply to a read or an atomic
KIND_ACK = 5  # reply to a write or a reduction
KIND_NACK = 6  # refused: the SM repeats the request
# From 16 on: the messages of a coherence protocol, see model/coherence/rules.py.

LINK = np.dtype(
    [("latency", "i8"), ("window", "i8"), ("sources", "i8"), ("destinations", "i8"),
     ("out_capacity", "i8"), ("in_capacity", "i8"), ("credit_windows", "i8"), ("notes", "i8")]
)  # fmt: skip
PORT = np.dtype([("head", "i8"), ("count", "i8")])
OUTBOXES = 2
LEAST_NOTES = 4


class Link(Context):
    """State of one link; every array is shared by the shards of both ends, none by two of one."""

    spec: np.ndarray  # LINK, one
    begun: np.ndarray  # int64, sources: windows in which they have sent, or could have
    outbox: Records  # MESSAGE, OUTBOXES x sources x out_capacity
    sent: np.ndarray  # int64, OUTBOXES x sources: messages in the outbox
    credits: np.ndarray  # int64, sources x destinations
    opened: np.ndarray  # int64, destinations: windows in which they have taken, or could have
    inbox: Records  # MESSAGE, destinations x in_capacity, a ring
    ports: Records  # PORT, destinations
    taken: np.ndarray  # int16, notes x destinations x in_capacity: sources of messages taken
    takes: np.ndarray  # int64, notes x destinations: how many
    bins: np.ndarray  # int64, destinations x (window + 1): scratch of deliver


def build(
    sources: int, destinations: int, latency: int, buffer: int, sends: int, credit_windows: int = 1
) -> Link:
    """A link with ``buffer`` credits for each pair; a source sends at most ``sends`` a cycle."""
    spec = records(1, LINK)
    out_capacity = min(latency * sends, destinations * buffer)
    in_capacity = sources * buffer
    notes = max(LEAST_NOTES, 1 << credit_windows.bit_length())
    sizes = out_capacity, in_capacity, credit_windows, notes
    spec[0] = latency, latency, sources, destinations, *sizes
    return Link(
        spec,
        zeros(sources),
        records((OUTBOXES, sources, out_capacity), MESSAGE),
        zeros((OUTBOXES, sources)),
        full((sources, destinations), buffer),
        zeros(destinations),
        records((destinations, in_capacity), MESSAGE),
        records(destinations, PORT),
        zeros((notes, destinations, in_capacity), np.int16),
        zeros((notes, destinations)),
        zeros((destinations, latency + 1)),
    )


@nothing
def absent() -> Link:
    """In the place of a network that a GPU has not: no shard is at it."""
    return build(0, 0, 0, 0, 0)


@inline
def begin(link, source):
    """A source begins a window, with an empty outbox."""
    link.begun[source] += 1
    link.sent[link.begun[source] % OUTBOXES, source] = 0


@inline
def open_inbox(link, destination):
    """A destination begins a window, in which it has taken nothing."""
    link.opened[destination] += 1
    link.takes[link.opened[destination] & (link.spec[0].notes - 1), destination] = 0


@inline
def sent_by(link, source):
    """Messages that a source has sent in this window."""
    return link.sent[link.begun[source] % OUTBOXES, source]


@inline
def any_sent(link):
    """Whether any source has sent in this window."""
    sent = 0
    for s in range(link.spec[0].sources):
        sent += sent_by(link, s)
    return sent > 0


@inline
def can_send(link, source, destination):
    """Whether the source has a credit for the destination, and room."""
    return (
        link.credits[source, destination] > 0 and sent_by(link, source) < link.spec[0].out_capacity
    )


@inline
def send(link, source, destination, now):
    """Take a credit and return the message record to fill; it leaves at cycle ``now``."""
    link.credits[source, destination] -= 1
    return put(link, source, destination, now)


@inline
def has_room(link, source):
    """Whether a source has room for a message that needs no credit."""
    return sent_by(link, source) < link.spec[0].out_capacity


@inline
def put(link, source, destination, now):
    """Return the message record to fill; it leaves at cycle ``now``."""
    turn = link.begun[source] % OUTBOXES
    message = link.outbox[turn, source, link.sent[turn, source]]
    link.sent[turn, source] += 1
    message.arrival = now + link.spec[0].latency
    message.source = source
    message.destination = destination
    return message


@inline
def waiting(link, destination, now):
    """Whether the destination has a message that arrived by cycle ``now``."""
    port = link.ports[destination]
    return port.count > 0 and link.inbox[destination, port.head].arrival <= now


@inline
def first(link, destination):
    """The oldest message of a destination; valid only while its count is positive."""
    return link.inbox[destination, link.ports[destination].head]


@inline
def take(link, destination):
    """Remove the oldest message, and note that its source gets a credit."""
    note(link, destination, first(link, destination).source)
    drop(link, destination)


@inline
def note(link, destination, source):
    """Note that a source gets a credit for a destination."""
    turn = link.opened[destination] & (link.spec[0].notes - 1)
    link.taken[turn, destination, link.takes[turn, destination]] = source
    link.takes[turn, destination] += 1


@inline
def drop(link, destination):
    """Remove the oldest message."""
    port = link.ports[destination]
    port.head += 1
    if port.head == link.spec[0].in_capacity:
        port.head = 0
    port.count -= 1


@inline
def _begin_anew(link, destination, count):
    """Move what waits to the front of an inbox that will hold ``count`` messages, if it is past it.

    So the memory that is touched follows what waits, not what may: 40 MB of an H100's networks. A
    message is moved once at most for each that was taken.
    """
    port = link.ports[destination]
    if port.head <= count or port.head + port.count > link.spec[0].in_capacity:
        return
    for k in range(port.count):
        link.inbox[destination, k] = link.inbox[destination, port.head + k]
    port.head = 0


@jit
def deliver(link, window, owners, owner, start):
    """Move what was sent in a window, which began at ``start``, to the inboxes of an owner.

    ``window`` is its number, as sources count; ``owners``: of each destination. A counting sort by
    arrival cycle, stable over (source, sequence).
    """
    spec = link.spec[0]
    turn = window % OUTBOXES
    earliest = start + spec.latency
    any_sent = 0
    for s in range(spec.sources):
        any_sent += link.sent[turn, s]
    if any_sent == 0:
        return
    for d in range(spec.destinations):
        if owners[d] == owner:
            link.bins[d, :] = 0
    for s in range(spec.sources):
        for k in range(link.sent[turn, s]):
            message = link.outbox[turn, s, k]
            if owners[message.destination] == owner:
                link.bins[message.destination, message.arrival - earliest + 1] += 1
    for d in range(spec.destinations):
        if owners[d] == owner:
            for t in range(spec.window):
                link.bins[d, t + 1] += link.bins[d, t]
            _begin_anew(link, d, link.ports[d].count + link.bins[d, spec.window])
    for s in range(spec.sources):
        for k in range(link.sent[turn, s]):
            message = link.outbox[turn, s, k]
            d = message.destination
            if owners[d] == owner:
                place = link.ports[d].head + link.ports[d].count
                place += link.bins[d, message.arrival - earliest]
                link.bins[d, message.arrival - earliest] += 1
                link.inbox[d, place % spec.in_capacity] = message
    for d in range(spec.destinations):
        if owners[d] == owner:
            link.ports[d].count += link.bins[d, spec.window - 1]


@jit
def give_back(link, window, owners, owner):
    """Return an owner's sources the credits that are due at the end of a window."""
    spec = link.spec[0]
    turn = (window - spec.credit_windows + 1) & (spec.notes - 1)
    for d in range(spec.destinations):
        for k in range(link.takes[turn, d]):
            source = link.taken[turn, d, k]
            if owners[source] == owner:
                link.credits[source, d] += 1


@jit
def next_arrival(link, first_destination, last_destination, step):
    """The earliest arrival among some inboxes, or a cycle later than any."""
    earliest = NEVER
    for d in range(first_destination, last_destination, step):
        if link.ports[d].count > 0:
            earliest = min(earliest, first(link, d).arrival)
    return earliest


@jit
def next_sent(link, owners, owner):
    """The earliest arrival of what an owner's sources have sent in this window, or ``NEVER``."""
    earliest = NEVER
    for s in range(link.spec[0].sources):
        if owners[s] == owner and sent_by(link, s) > 0:
            earliest = min(earliest, link.outbox[link.begun[s] % OUTBOXES, s, 0].arrival)
    return earliest
