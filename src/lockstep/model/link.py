"""Links: the only way in which shards talk. Bounded queues of messages with latency and credits.

A link joins ``sources`` shards to ``destinations`` shards. A source asks for room (``can_send``),
then fills the record that ``send`` returns; it lies in the source's outbox until the window ends.
``deliver`` then moves all messages of a destination to its inbox in the order (arrival, source,
sequence), which no number of threads can change. Whoever takes a message out returns its credit;
the source has it back in the next window. All messages of one link travel equally long, at
least one window, so what a window delivers arrives after everything delivered before.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, jit
from lockstep.model.records import full, records, zeros

MESSAGE = np.dtype(
    [
        ("arrival", "i8"),  # core cycle at which the destination can see it
        ("source", "i8"),
        ("destination", "i8"),
        ("kind", "i8"),  # one of KIND_*
        ("request", "i8"),  # replies: the kind of the request
        ("address", "i8"),  # of the line, line-aligned
        ("sectors", "i8"),  # bit s: sector s of the line is meant
        ("full", "i8"),  # writes: bit s: all of sector s is written; atomics: most lanes on a word
        ("flits", "i8"),  # port cycles it takes
        ("slice", "i8"),  # global L2 slice number
        ("tag", "i8"),  # the requester's, returned in the reply
        ("policy", "i8"),  # isa.CachePolicy bits
        ("issued", "i8"),  # core cycle at which the request left the SM (kept in the reply)
    ]
)

KIND_READ = 0
KIND_WRITE = 1
KIND_ATOMIC = 2  # reply carries data
KIND_REDUCTION = 3  # an atomic whose reply is only an acknowledgement
KIND_DATA = 4  # reply to a read or an atomic
KIND_ACK = 5  # reply to a write or a reduction
KIND_NACK = 6  # refused: the SM repeats the request

LINK = np.dtype(
    [("latency", "i8"), ("window", "i8"), ("sources", "i8"), ("destinations", "i8"),
     ("out_capacity", "i8"), ("in_capacity", "i8")]
)  # fmt: skip
PORT = np.dtype([("head", "i8"), ("count", "i8")])


class Link(Context):
    """State of one link; every array is shared by the shards of both ends, none by two of one."""

    spec: np.ndarray  # LINK, one
    outbox: Records  # MESSAGE, sources x out_capacity
    sent: np.ndarray  # int64, sources: messages in the outbox
    inbox: Records  # MESSAGE, destinations x in_capacity, a ring
    ports: Records  # PORT, destinations
    credits: np.ndarray  # int64, sources x destinations
    returned: np.ndarray  # int64, destinations x sources: credits freed in this window
    bins: np.ndarray  # int64, destinations x (window + 1): scratch of deliver


def build(sources: int, destinations: int, latency: int, buffer: int, sends: int) -> Link:
    """A link with ``buffer`` credits for each pair; a source sends at most ``sends`` a cycle."""
    spec = records(1, LINK)
    out_capacity = min(latency * sends, destinations * buffer)
    spec[0] = (latency, latency, sources, destinations, out_capacity, sources * buffer)
    return Link(
        spec,
        records((sources, out_capacity), MESSAGE),
        zeros(sources),
        records((destinations, sources * buffer), MESSAGE),
        records(destinations, PORT),
        full((sources, destinations), buffer),
        zeros((destinations, sources)),
        zeros((destinations, latency + 1)),
    )


@inline
def can_send(link, source, destination):
    """Whether the source has a credit for the destination."""
    return link.credits[source, destination] > 0 and (link.sent[source] < link.spec[0].out_capacity)


@inline
def send(link, source, destination, now):
    """Take a credit and return the message record to fill; it leaves at cycle ``now``."""
    link.credits[source, destination] -= 1
    message = link.outbox[source, link.sent[source]]
    link.sent[source] += 1
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
    """Remove the oldest message and return its credit to its source."""
    port = link.ports[destination]
    link.returned[destination, link.inbox[destination, port.head].source] += 1
    port.head += 1
    if port.head == link.spec[0].in_capacity:
        port.head = 0
    port.count -= 1


@jit
def deliver(link, first_destination, last_destination, window_start):
    """Move what was sent in the window from ``window_start`` on to the inboxes of some shards.

    A counting sort by arrival cycle, stable over (source, sequence). Also hands back the credits
    freed in the window. Senders empty their outboxes when they begin their next window.
    """
    spec = link.spec[0]
    earliest = window_start + spec.latency
    for d in range(first_destination, last_destination):
        link.bins[d, :] = 0
        for s in range(spec.sources):
            link.credits[s, d] += link.returned[d, s]
            link.returned[d, s] = 0
    for s in range(spec.sources):
        for k in range(link.sent[s]):
            message = link.outbox[s, k]
            if first_destination <= message.destination < last_destination:
                link.bins[message.destination, message.arrival - earliest + 1] += 1
    for d in range(first_destination, last_destination):
        for t in range(spec.window):
            link.bins[d, t + 1] += link.bins[d, t]
    for s in range(spec.sources):
        for k in range(link.sent[s]):
            message = link.outbox[s, k]
            d = message.destination
            if first_destination <= d < last_destination:
                place = link.ports[d].head + link.ports[d].count
                place += link.bins[d, message.arrival - earliest]
                link.bins[d, message.arrival - earliest] += 1
                link.inbox[d, place % spec.in_capacity] = message
    for d in range(first_destination, last_destination):
        link.ports[d].count += link.bins[d, spec.window - 1] if spec.window > 0 else 0


@jit
def next_arrival(link, first_destination, last_destination):
    """The earliest arrival among some inboxes, or a cycle later than any."""
    earliest = 1 << 60
    for d in range(first_destination, last_destination):
        if link.ports[d].count > 0:
            earliest = min(earliest, first(link, d).arrival)
    return earliest
