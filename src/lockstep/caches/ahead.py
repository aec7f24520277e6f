"""Prefetchers of caches without time: the model's functions, or a user's, over the model's tables.

What they ask for is looked up right after the access that they saw, and is there at once: nothing
is late, and nothing is dropped for lack of room. Each L1, and each slice of an L2, has a table of
its own, which is told what became of its own prefetches; what a cache lost when it was emptied
counts when its set is used again.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np

from lockstep._jit import Context, force_inline
from lockstep.gpus.choices import L1Prefetcher, L2Prefetcher
from lockstep.model.cache.prefetch import state, stream, stride, table
from lockstep.model.cache.prefetch.state import HERE, MOST_ADDRESS, Prefetcher
from lockstep.model.cache.tags import Tags
from lockstep.model.records import records, zeros

NAMES = tuple(dict.fromkeys((*get_args(L1Prefetcher), *get_args(L2Prefetcher), "user")))
MOST = table.MOST
ISSUED, USEFUL, USELESS, REDUNDANT = range(4)
FATES = ("prefetches", "prefetch_useful", "prefetch_useless", "prefetch_redundant")
"""What became of prefetches: sent to the level below; of these, lines that were used, or left
unused; and not sent, because the line was there."""


class Prefetching(NamedTuple):
    """A prefetcher of a level: one of its names, its parameters, and a user's function."""

    name: str = "none"
    degree: int = 1
    distance: int = 1
    window: int = 16
    function: Callable | None = None

    @property
    def most(self) -> int:
        """Lines that it asks for at a time."""
        return {"none": 0, "user": MOST}.get(self.name, self.degree)


class Ahead(Context):
    """What the compiled side has of prefetchers, of one cache or one slice each."""

    state: Prefetcher  # its queues stay empty
    fates: np.ndarray  # int64 [tables, 4]: ISSUED, USEFUL, USELESS, REDUNDANT
    l1: object  # the function of an L1
    l2: object  # ... of an L2 slice


def build(how: Prefetching, tags: Tags, tables: int, line_bytes: int, l2: bool) -> Ahead:
    """``tables`` prefetchers that have learned nothing, of caches with these tags."""
    on = how.name != "none"
    made = table.build(tables if on else 1, how.degree, how.distance, how.window)
    given = state.build(tags, MOST_ADDRESS // line_bytes, made) if on else state.absent()
    out = records((tables if on else 1, table.MOST), table.OUT)
    return Ahead(
        given._replace(tables=made, out=out),
        zeros((tables, 4)),
        _compile_l1(how.function if how.function and not l2 else stride.stride),
        _compile_l2(how.function if how.function and l2 else stream.stream),
    )


_compile_l1 = functools.cache(table.compile_l1)  # a hundred passes have the same
_compile_l2 = functools.cache(table.compile_l2)


@force_inline
def use(ahead, t, row, way):
    """Somebody uses a way: 1 if it is the first use of what was prefetched."""
    first = state.leave(ahead.state, row, way)
    ahead.fates[t, USEFUL] += first
    return first


@force_inline
def lose(ahead, t, row, way):
    """A line goes out of a way, or is given up."""
    ahead.fates[t, USELESS] += state.leave(ahead.state, row, way)


@force_inline
def mark(ahead, t, row, way):
    """A line that was asked for is here."""
    ahead.fates[t, ISSUED] += 1
    ahead.state.marks[row, way] = HERE


@force_inline
def tell(ahead, t):
    """Let a policy know what became of its prefetches."""
    fates = ahead.fates
    state.tell(ahead.state, t, fates[t, ISSUED], fates[t, USEFUL], 0, fates[t, USELESS])


@force_inline
def is_line(ahead, line):
    """Whether there may be such a line."""
    return 0 <= line <= ahead.state.spec[0].last_line
