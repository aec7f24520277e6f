"""What a prefetcher is given: the table that it keeps, and the lines that it asks for.

A prefetcher is a plain function. That of an L1 is called for each line that a load looks up there:

    l1_prefetcher(site, line, warp, hit, state, out) -> n

``site`` is the number of the load in its kernel's code, ``line`` the address divided by the size of
a line, ``warp`` the number of the warp in its grid. That of an L2 slice is called for each read:

    l2_prefetcher(line, hit, state, out) -> n

``line`` counts the lines of the slice, without gaps: see ``l2_lines.py``. ``hit`` says what the
access met: MISS, HIT (here or on its way, all of it) or FIRST_USE of a line that was prefetched.
The function writes the lines that it wants to ``out[0].line`` to ``out[n - 1].line`` and returns
how many, 16 at most.

``state`` are ROWS records, those of one cache, zero at first. The function may write the fields of
``KEPT`` of all rows, with any meaning. Row 0 has besides, in ``GIVEN``, the parameters of the GPU
and what became of the prefetches so far: of the L1, or of all slices of the memory channel.
"""

import numpy as np

from lockstep._jit import Records, record_array
from lockstep.model.policy import compile_policy
from lockstep.model.records import records, words

ROWS = 64
MOST = 16  # lines that are asked for at a time

MISS = 0
HIT = 1
FIRST_USE = 2

KEPT = ("key", "last", "stride", "count", "used", "mark")
GIVEN = ("degree", "distance", "window", "issued", "useful", "late", "useless")
STATE = np.dtype(words(*KEPT, *GIVEN))
OUT = np.dtype(words("line"))

_TABLES = (record_array(STATE), record_array(OUT))
_WRITTEN = (*KEPT, *(OUT.names or ()))


def compile_l1(function):
    """An L1's prefetcher, ready to be passed to the model."""
    usage = "l1_prefetcher(site, line, warp, hit, state, out)"
    return compile_policy(function, usage, *["int64"] * 4, *_TABLES, writes=_WRITTEN)


def compile_l2(function):
    """An L2 slice's prefetcher, ready to be passed to the model."""
    usage = "l2_prefetcher(line, hit, state, out)"
    return compile_policy(function, usage, *["int64"] * 2, *_TABLES, writes=_WRITTEN)


def nothing_of_l1(site, line, warp, hit, state, out):
    """The policy that stands in where there is none; never called then."""
    return 0


def nothing_of_l2(line, hit, state, out):
    """The same of an L2 slice."""
    return 0


def build(caches: int, degree: int, distance: int, window: int = 0) -> Records:
    """Tables of some caches, caches x ROWS, with these parameters and nothing learned."""
    tables = records((caches, ROWS), STATE)
    tables["degree"][:, 0] = degree
    tables["distance"][:, 0] = distance
    tables["window"][:, 0] = window
    return tables
