"""What caches of whole lines have asked the level below for: a few lines at a time.

An entry is taken from the miss until all of its line is here. Which cache a line is for is a number
of the owner's; who waits for it is the owner's business. Requests leave as those of an L1 do, see
``miss_queue.py``; their tags are beyond those of its MSHR entries, so that one port serves both.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.gpus import spec as gpu_spec
from lockstep.model.cache import miss_queue
from lockstep.model.link import KIND_ACK, KIND_READ
from lockstep.model.records import records, words

FIRST_TAG = 1 << 32

SPEC = np.dtype(words("queue", "line_bytes", "sectors"))
CACHE = np.dtype(words("queue_head", "queue_count", "retry_head", "retry_count", "used"))
ENTRY = np.dtype(words("line", "cache", "missing"))
"""A line on its way. ``missing``: its sectors that are not here; 0 = the entry is free."""


class LineMisses(Context):
    """Misses of all owners; first index: the owner."""

    spec: Records  # SPEC, one
    caches: Records  # CACHE
    queue: Records  # miss_queue.MISS, owners x entries
    retries: Records  # miss_queue.MISS, owners x entries
    entries: Records  # ENTRY, owners x entries


def build(owners: int, entries: int, l1: gpu_spec.L1) -> LineMisses:
    """No misses; ``entries`` of an owner at most. Lines have the size that those of an L1 have."""
    spec = records(1, SPEC)
    spec[0] = entries, l1.line_bytes, l1.line_bytes // l1.sector_bytes
    return LineMisses(
        spec,
        records(owners, CACHE),
        records((owners, entries), miss_queue.MISS),
        records((owners, entries), miss_queue.MISS),
        records((owners, entries), ENTRY),
    )


@inline
def room(misses, s):
    """How many more lines an owner can ask for."""
    return misses.spec[0].queue - misses.caches[s].used


@inline
def ask(misses, s, cache, line, address, now):
    """Ask for a line of a cache, the one at an address; there is room."""
    spec = misses.spec[0]
    e = 0
    while misses.entries[s, e].missing != 0:
        e += 1
    entry = misses.entries[s, e]
    entry.line, entry.cache = line, cache
    entry.missing = (1 << spec.sectors) - 1
    misses.caches[s].used += 1
    request = miss_queue.push(
        misses, s, address // spec.line_bytes, entry.missing, np.int64(KIND_READ), now
    )
    request.tag = FIRST_TAG + e
    request.policy = 0


@inline
def is_answer(message):
    """Whether a reply is one to a request for a line."""
    return message.kind != KIND_ACK and message.tag >= FIRST_TAG


@inline
def receive(misses, s, message):
    """Sectors of a line are here: its entry, which is free again, or -1: more are on their way."""
    e = message.tag - FIRST_TAG
    entry = misses.entries[s, e]
    entry.missing &= ~np.int64(message.sectors)
    if entry.missing != 0:
        return np.int64(-1)
    misses.caches[s].used -= 1
    return e
