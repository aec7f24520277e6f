"""Reads that wait for an MSHR entry beside the L1, so that those behind them go on if they hit.

A read that finds no entry free takes a place in a first-in-first-out queue (Candel et al., FGCS
2018: the waiting queue). An entry that becomes free is the oldest one's, which looks the tags up
again.

``cache`` is any context with ``spec`` (``waiting``), ``caches`` (``waiting_head``,
``waiting_count``) and ``waiting``, whose first index is ``s``, the number of the cache.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.model.records import words

WAIT = np.dtype(words("line", "sectors", "full", "tag", "policy", "local"))
"""A read that waits: its request and its transaction."""


@inline
def has_room(cache, s):
    """Whether another read can wait."""
    return cache.caches[s].waiting_count < cache.spec[0].waiting


@inline
def put(cache, s, request, transaction):
    """Append a read; there is room."""
    state = cache.caches[s]
    place = cache.waiting[s, (state.waiting_head + state.waiting_count) % cache.spec[0].waiting]
    state.waiting_count += 1
    place.line = transaction.line
    place.sectors = transaction.sectors
    place.full = 0
    place.tag = request.tag
    place.policy = request.policy
    place.local = request.local


@inline
def oldest(cache, s):
    """The read that has waited longest; there is one."""
    return cache.waiting[s, cache.caches[s].waiting_head]


@inline
def drop(cache, s):
    """The oldest one has found what it waited for."""
    state = cache.caches[s]
    state.waiting_head = (state.waiting_head + 1) % cache.spec[0].waiting
    state.waiting_count -= 1
