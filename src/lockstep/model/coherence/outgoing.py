"""What leaves an L1 under a protocol: requests, those that were refused, and answers to forwards.

Requests leave in order; one that was refused waits its time, then goes before them. Answers have a
network of their own, and wait for no request.

``c`` is any context with ``coherent``; ``s`` is the number of the L1.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.model.clock import NEVER
from lockstep.model.records import words

OUT = np.dtype(
    words("line", "number", "mask", "tag", "ready_at", "refusals", "flits", "lanes")
)  # fmt: skip
"""A message that waits to leave; ``number``: the protocol's, ``lanes``: of an atomic, on a word."""


@inline
def room(c, s):
    """How many more requests can wait."""
    return c.coherent.spec[0].queue - c.coherent.caches[s].out_count


@inline
def fill_in(c, out, line, number, mask, tag, lanes, at):
    """Write down a message that leaves from a cycle on."""
    out.line, out.number, out.mask, out.tag, out.lanes = line, number, mask, tag, lanes
    out.flits = c.coherent.spec[0].data_flits if c.coherent.rules.forms[number].carries else 1
    out.refusals, out.ready_at = 0, at


@inline
def push(c, s, line, number, mask, tag, lanes, now):
    """Append a request; there is room."""
    cache, capacity = c.coherent.caches[s], c.coherent.queue.shape[1]
    out = c.coherent.queue[s, (cache.out_head + cache.out_count) % capacity]
    cache.out_count += 1
    fill_in(c, out, line, number, mask, tag, lanes, now + 1)


@inline
def answer(c, s, line, number, mask, now):
    """Append an answer; there is room."""
    cache, capacity = c.coherent.caches[s], c.coherent.answers.shape[1]
    out = c.coherent.answers[s, (cache.answer_head + cache.answer_count) % capacity]
    cache.answer_count += 1
    fill_in(c, out, line, number, mask, np.int64(0), np.int64(0), now + 1)


@inline
def may_answer(c, s):
    """Whether another answer can wait."""
    return c.coherent.caches[s].answer_count < c.coherent.answers.shape[1]


@inline
def repeat(c, s, line, number, mask, tag, lanes, refusals, at):
    """Send a request that was refused again, from a cycle on; they are in that order."""
    cache, capacity = c.coherent.caches[s], c.coherent.retries.shape[1]
    place = cache.retry_head + cache.retry_count
    while place > cache.retry_head and c.coherent.retries[s, (place - 1) % capacity].ready_at > at:
        c.coherent.retries[s, place % capacity] = c.coherent.retries[s, (place - 1) % capacity]
        place -= 1
    cache.retry_count += 1
    out = c.coherent.retries[s, place % capacity]
    fill_in(c, out, line, number, mask, tag, lanes, at)
    out.refusals = refusals


@inline
def refused_first(c, s, now):
    """Whether a refused request is due; it goes before the others."""
    cache = c.coherent.caches[s]
    return cache.retry_count > 0 and c.coherent.retries[s, cache.retry_head].ready_at <= now


@inline
def next_request(c, s):
    """Cycle at which a request can leave, or NEVER."""
    cache = c.coherent.caches[s]
    at = NEVER
    if cache.retry_count > 0:
        at = c.coherent.retries[s, cache.retry_head].ready_at
    if cache.out_count > 0:
        at = min(at, c.coherent.queue[s, cache.out_head].ready_at)
    return at


@inline
def next_answer(c, s):
    """Cycle at which an answer can leave, or NEVER."""
    cache = c.coherent.caches[s]
    if cache.answer_count == 0:
        return NEVER
    return c.coherent.answers[s, cache.answer_head].ready_at


@inline
def drop(c, s, refused):
    """The request that was due has left."""
    cache = c.coherent.caches[s]
    if refused:
        cache.retry_head = (cache.retry_head + 1) % c.coherent.retries.shape[1]
        cache.retry_count -= 1
    else:
        cache.out_head = (cache.out_head + 1) % c.coherent.queue.shape[1]
        cache.out_count -= 1


@inline
def drop_answer(c, s):
    """The oldest answer has left."""
    cache = c.coherent.caches[s]
    cache.answer_head = (cache.answer_head + 1) % c.coherent.answers.shape[1]
    cache.answer_count -= 1
