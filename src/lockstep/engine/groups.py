"""What a machine is made of: groups of shards, and the links that join them.

A *group* is all shards of one kind, say all SMs, with what takes a block of them through a window.
A *wire* is a link between two groups, which may be the same one. The loop over windows, threads,
parts and packets know nothing else of shards, but that CTAs are sent to those of the first group.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from lockstep._jit import Context
from lockstep.engine.threads import blocks
from lockstep.model.link import Link

SCHEDULED = 0  # the group whose shards the CTA scheduler knows
SMS, PARTITIONS = SCHEDULED, 1  # the groups of a GPU
MODULES = 2  # ... and its third one, if it has several modules


class Group(msgspec.Struct, frozen=True):
    """Shards of one kind.

    ``run(state, first, last, step, start, end)`` takes every ``step``-th of shards first..last-1
    through the cycles of a window and returns the earliest cycle from ``end`` on at which one of
    them has something to do by itself or has got a message, or NEVER. Where ``starts`` says what
    is not parted, ``step`` is 1.
    """

    shards: int
    run: Callable[..., int]
    state: Context
    starts: tuple[int, ...] = ()  # shards before which a block may begin; empty = any


class Wire(msgspec.Struct, frozen=True):
    """A link, and the numbers of the groups that its sources and its destinations are."""

    link: Link
    sources: int
    destinations: int


def ends(wires: Sequence[Wire]) -> np.ndarray:
    """Groups of sources and destinations: links x 2."""
    return np.array([(wire.sources, wire.destinations) for wire in wires], np.int64)


def share_out(
    shards: np.ndarray, count: int, starts: Sequence[int] = (), turns: bool = False
) -> np.ndarray:
    """Which of ``count`` owners has each of some shards, given in ascending order.

    ``starts`` as in a Group: what is not parted counts as one. Owners have blocks in a row, of
    nearly equal size, or with ``turns`` each the next one: the last ones may have none.
    """
    if count == 1:
        return np.zeros(len(shards), np.int64)
    place = np.arange(len(shards))
    if starts:
        part = np.searchsorted(starts, shards, "right")
        place = np.cumsum(np.diff(part, prepend=part[:1]) > 0)
    if turns:
        return place % count
    cuts = [last for _, last in blocks(int(place.max(initial=-1)) + 1, count)]
    return np.searchsorted(cuts, place, "right")


def in_rows(shards: np.ndarray, close: bool = False) -> list[tuple[int, int, int]]:
    """Shards, in ascending order, as rows: the first one, the one behind the last, and the step.

    All in one if they are equally far from each other; ``close``: only with step 1.
    """
    steps = np.diff(shards)
    if len(steps) and not close and (steps == steps[0]).all():
        return [(int(shards[0]), int(shards[-1]) + 1, int(steps[0]))]
    rows = np.split(shards, np.flatnonzero(steps != 1) + 1)
    return [(int(row[0]), int(row[-1]) + 1, 1) for row in rows if len(row)]
