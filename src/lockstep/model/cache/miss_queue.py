"""What leaves a cache for the level below: the miss queue, and requests that were refused there.

Misses leave in order. A refused request waits its time, then goes out again before the queue.

``cache`` is any context with ``spec`` (``queue``, ``line_bytes``), ``caches`` (``queue_head``,
``queue_count``, ``retry_head``, ``retry_count``), ``queue`` and ``retries``; their first index is
``s``, the number of the cache.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.model.clock import NEVER

MISS = np.dtype(
    [
        ("line", "i8"),
        ("tag", "i8"),
        ("ready_at", "i8"),
        ("flits", "i2"),
        ("refusals", "u1"),  # how often it was refused
        ("unused", "u1"),
        ("full", "u1"),
        ("sectors", "u1"),
        ("kind", "u1"),
        ("policy", "u1"),
    ]
)
"""A request on its way out. ``tag`` comes back with the answer: MSHR entry; -1 - waiter of reads
past the cache and of atomics; of writes and reductions, what their owner gave."""


@inline
def is_full(cache, s):
    """Whether the miss queue is full."""
    return cache.caches[s].queue_count >= cache.spec[0].queue


@inline
def push(cache, s, line, sectors, kind, now):
    """Append a request of one flit to the queue, which has room; its record, for the rest."""
    state = cache.caches[s]
    miss = cache.queue[s, (state.queue_head + state.queue_count) % cache.spec[0].queue]
    state.queue_count += 1
    miss.line = line
    miss.sectors = sectors
    miss.full = 0
    miss.refusals = 0
    miss.kind = kind
    miss.flits = 1
    miss.ready_at = now + 1
    return miss


@inline
def refused_first(cache, s, now):
    """Whether a refused request is due; it goes before the queue."""
    state = cache.caches[s]
    return state.retry_count > 0 and cache.retries[s, state.retry_head].ready_at <= now


@inline
def next_ready(cache, s):
    """Cycle at which the oldest request is ready to leave, or NEVER."""
    state = cache.caches[s]
    at = NEVER
    if state.retry_count > 0:
        at = cache.retries[s, state.retry_head].ready_at
    if state.queue_count > 0:
        at = min(at, cache.queue[s, state.queue_head].ready_at)
    return at


@inline
def at(cache, s, k):
    """The ``k``-th request of the queue, 0 the oldest."""
    return cache.queue[s, (cache.caches[s].queue_head + k) % cache.spec[0].queue]


@inline
def take_out(cache, s, k):
    """Take away the ``k``-th request of the queue, which was sent before older ones."""
    state = cache.caches[s]
    room = cache.spec[0].queue
    for n in range(k, state.queue_count - 1):
        place = state.queue_head + n
        cache.queue[s, place % room] = cache.queue[s, (place + 1) % room]
    state.queue_count -= 1


@inline
def drop(cache, s, refused):
    """Take away the request that was sent: of those that were refused, or of the queue."""
    state = cache.caches[s]
    if refused:
        state.retry_head = (state.retry_head + 1) % cache.retries.shape[1]
        state.retry_count -= 1
    else:
        state.queue_head = (state.queue_head + 1) % cache.spec[0].queue
        state.queue_count -= 1


@inline
def repeat(cache, s, message, at):
    """Send a refused request again from cycle ``at`` on; they are in the order of these cycles."""
    state = cache.caches[s]
    room = cache.retries.shape[1]
    place = state.retry_head + state.retry_count
    while place > state.retry_head and cache.retries[s, (place - 1) % room].ready_at > at:
        cache.retries[s, place % room] = cache.retries[s, (place - 1) % room]
        place -= 1
    again = cache.retries[s, place % room]
    state.retry_count += 1
    again.line = message.address // cache.spec[0].line_bytes
    again.sectors = message.sectors
    again.full = message.full
    again.kind = message.request
    again.tag = message.tag
    again.policy = message.policy
    again.flits = message.flits
    again.refusals = message.refusals + 1
    again.ready_at = at
