"""Where a warp could overtake others: it writes what they may not have read yet.

The warps of a CTA run one after the other, and on a GPU side by side. A program that reads a value
after a barrier and writes it again before the next one has a race that a GPU practically never
shows: all warps have read it before one of them gets to the write. So before such a write a warp
gives way to the others (``schedule.py``).
"""

from collections.abc import Sequence
from enum import IntFlag

from lockstep.isa.instruction import OpClass, Space


class Effect(IntFlag):
    """What an instruction does that others may notice."""

    NOTHING = 0
    LOADS_SHARED = 1
    LOADS_GLOBAL = 2
    STORES_SHARED = 4
    STORES_GLOBAL = 8
    BARRIER = 16  # of the CTA, or of its cluster
    CALL = 32  # of what may load


LOADS = Effect.LOADS_SHARED | Effect.LOADS_GLOBAL
_MEMORIES = {
    Space.SHARED: Effect.LOADS_SHARED,
    Space.GLOBAL: Effect.LOADS_GLOBAL,
    Space.GENERIC: LOADS,
}
_LOADS, _BARRIER, _CALL = int(LOADS), int(Effect.BARRIER), int(Effect.CALL)
_TO_STORES = 2  # bits from what loads to what stores
_STORES = (OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION)
_FROM_GLOBAL = (OpClass.ASYNC_COPY, OpClass.BULK_COPY, OpClass.TILE_COPY)
_TO_GLOBAL = (OpClass.BULK_STORE, OpClass.TILE_STORE)
_BARRIERS = (OpClass.BARRIER, OpClass.CLUSTER_WAIT)


def effect_of(op: OpClass, space: Space, constant: bool) -> Effect:
    """The effect of an instruction; ``constant``: nobody writes what it loads."""
    if op in _BARRIERS:
        return Effect.BARRIER
    if op in _FROM_GLOBAL:
        return Effect.LOADS_GLOBAL | Effect.STORES_SHARED
    if op in _TO_GLOBAL:
        return Effect.LOADS_SHARED | Effect.STORES_GLOBAL
    memory = _MEMORIES.get(space, Effect.NOTHING)
    if op == OpClass.LOAD and not constant:
        return memory
    return Effect(memory << _TO_STORES) if op in _STORES else Effect.NOTHING


def overtaking(
    blocks: Sequence[Sequence[Effect]], following: Sequence[Sequence[int]], before: Effect
) -> list[list[int]]:
    """The places in each block of the instructions before which a warp gives way.

    ``following``: the numbers of the blocks that may come after each. ``before``: what may have
    been loaded before the first block.
    """
    # Flags as numbers, of what has an effect: large kernels go through this many times.
    told = [[(k, int(e)) for k, e in enumerate(block) if e] for block in blocks]
    loaded = [0] * len(blocks)
    loaded[0] = int(before)
    todo = list(range(len(blocks)))
    while todo:
        number = todo.pop()
        after = _through(told[number], loaded[number])[0]
        for other in following[number]:
            if after & ~loaded[other]:
                loaded[other] |= after
                todo.append(other)
    return [_through(block, start)[1] for block, start in zip(told, loaded, strict=True)]


def _through(block: Sequence[tuple[int, int]], loaded: int) -> tuple[int, list[int]]:
    """What may have been loaded since the last barrier when a block ends; where it overtakes."""
    places, fresh = [], loaded
    for place, effect in block:
        if effect & _BARRIER:
            loaded = fresh = 0
        if effect >> _TO_STORES & _LOADS & fresh:
            places.append(place)
            fresh = 0
        reads = _LOADS if effect & _CALL else effect & _LOADS
        loaded, fresh = loaded | reads, fresh | reads
    return loaded, places
