"""Managed memory as SMs see it: accesses to pages that the host has wait.

An SM whose oldest request is for such a page asks for it, and sends nothing until it is answered:
when the page has come, or when the access may go over the link. Far faults stall an SM's
translations so, too, until all of them are resolved. It tries again as a window begins.

``away`` is written by the engine alone, between two windows. What an SM asks is a message, see
:mod:`lockstep.model.control`.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER
from lockstep.model.modules.legs import legs
from lockstep.model.records import records, words, zeros

PAGING = np.dtype(words("shift", "mask", "window"))
"""Of an address to its page; of a page to its place; the cycles of a window."""


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
    spec[0].shift, spec[0].mask, spec[0].window = shift, pages - 1, legs(gpu).window
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
    elif ask.until <= now:
        ask.page = 0
        return True
    ask.tried = now + 1
    return False


@inline
def resumes(c, s, line):
    """The cycle from which on a request may leave that ``may_go`` has just refused, or let pass.

    NEVER: nobody has said yet; the engine brings the page, or says so. 0: its page is here.
    """
    return 0 if is_here(c, line) else c.control.asks[s].until


@inline
def windows_left_out(c, s, start):
    """How many windows there would have been since an SM last tried, if none had been left out."""
    if c.paging.spec[0].mask == 0:
        return 0
    ask = c.control.asks[s]
    left_out = (start - ask.tried) // c.paging.spec[0].window if ask.tried > 0 else 0
    ask.tried = 0
    return left_out
