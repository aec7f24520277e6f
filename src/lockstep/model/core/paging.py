"""Managed memory as SMs see it: accesses to pages that the host has wait.

An SM whose oldest request is for such a page asks for it, and sends nothing until it is answered:
when the page has come, or when the access may go over the link. Far faults stall an SM's
translations so, too, until all of them are resolved. It tries again as each window begins.

``away`` is written by the engine alone, between two windows. What an SM asks is a message, see
:mod:`lockstep.model.control`.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER
from lockstep.model.records import records, words, zeros

PAGING = np.dtype(words("shift", "mask"))  # of an address to its page; of a page to its place


class Paging(Context):
    """Which pages are not here."""

    spec: Records  # PAGING, one
    away: np.ndarray  # by a page's place: its number plus one if the host has it, else 0


def build(gpu: GPU) -> Paging:
    """All pages are here. There are places for all of device memory, so that none has two."""
    spec = records(1, PAGING)
    shift = gpu.host.migration_bytes.bit_length() - 1
    pages = 1
    if gpu.host.memory == "migrating":
        pages = 1 << ((gpu.dram.capacity << 30 >> shift) - 1).bit_length()
    spec[0].shift, spec[0].mask = shift, pages - 1
    return Paging(spec, zeros(pages))


@inline
def is_here(c, line):
    """Whether the page of a line is not the host's."""
    spec = c.paging.spec[0]
    page = (line * c.l1.spec[0].line_bytes) >> spec.shift
    return c.paging.away[page & spec.mask] != page + 1


@inline
def may_go(c, s, line, now):
    """Whether a request of an SM may leave; if not, its page is asked for."""
    if is_here(c, line):
        return True
    page = (line * c.l1.spec[0].line_bytes) >> c.paging.spec[0].shift
    ask = c.control.asks[s]
    if ask.page != page + 1:
        ask.page, ask.since, ask.until, ask.told = page + 1, now, NEVER, 0
        return False
    if ask.until <= now:
        ask.page = 0
        return True
    return False
