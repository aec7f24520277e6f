"""Who waits for whom under a coherence protocol: lines in transition, and who holds them."""

from collections.abc import Iterator

import numpy as np

from lockstep.model.cache import tags
from lockstep.model.coherence.library import load
from lockstep.model.coherence.vocabulary import LINE_BYTES
from lockstep.model.core.state import Sm
from lockstep.model.memory import Memory

MOST_LINES = 3  # that are named, of an L1 and of a slice


def of_l1(sm: Sm, s: int, protocol: str) -> str:
    """The lines that an L1 has in transition, and how many operations wait for them."""
    states, l1 = load(protocol).l1.states, sm.coherent
    held = [e for first in l1.buckets[s].tolist() for e in _chain(l1.lines[s], first)]
    named = [
        f"{int(record['line']) * LINE_BYTES:#x} in {states[int(record['state'])]}, "
        f"{int(record['waiting'])} operations wait"
        for record in (l1.lines[s, e] for e in sorted(held)[:MOST_LINES])
    ]
    more = f"; and {len(held) - MOST_LINES} more" if len(held) > MOST_LINES else ""
    text = f"{len(held)} lines in transition"
    if named:
        text += f" ({'; '.join(named)}{more})"
    cache = l1.caches[s]
    if cache.retry_count:
        again = l1.retries[s, cache.retry_head]
        text += f", {cache.retry_count} refused requests, the first for "
        text += f"{again.line * LINE_BYTES:#x} after {again.refusals} refusals"
    return text


def _chain(lines: np.ndarray, first: int) -> Iterator[int]:
    while first >= 0:
        yield first
        first = int(lines[first]["next"])


def of_homes(memory: Memory, protocol: str) -> Iterator[str]:
    """The lines that homes have locked: for whom, and which L1s have yet to answer."""
    table, l2 = load(protocol).home, memory.l2
    ways, sets = int(l2.tags.shape[0].ways), int(l2.tags.shape[0].sets)
    locked = np.argwhere(l2.tags.keys >= tags.LOCKED).tolist()
    shown: dict[int, int] = {}
    for row, way in locked:
        slice_ = row // sets
        shown[slice_] = shown.get(slice_, 0) + 1
        if shown[slice_] > MOST_LINES:
            continue
        record = memory.homes.ways[row * ways + way]
        state = table.states[int(record.state)]
        text = f"L2 slice {slice_}: {int(record.line) * LINE_BYTES:#x} locked in {state}"
        if record.awaited:
            text += f", {record.awaited} answers to come from {_sharers(int(record.sharers))}"
        yield text
    for slice_, count in shown.items():
        if count > MOST_LINES:
            yield f"... and {count - MOST_LINES} more lines of L2 slice {slice_}"


def _sharers(word: int) -> str:
    return ", ".join(f"SM {k}" for k in range(64) if word >> k & 1) or "nobody"
