"""Which slice has a line, and homes of pages by first touch.

Interleaved, a line's slice is one of all by a hash of its address. With first touch a page has a
home: the module whose SM first had a request for it ready to leave; the hash then chooses among
that module's slices. An SM whose oldest request, or prefetch, is for a page without a home asks for
one, which is a message, and sends nothing until the window ends. Then the CTA scheduler hears all
SMs: of those that ask for a page, the one that did so in the earliest cycle decides, and among
equals the one with the lowest number. From the next window on all know the home, which stays.
Copies by the host and kernels that are warmed touch no page: a line of theirs is at module
``page % modules`` as long as its page has no home.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.gpus.spec import GPU
from lockstep.model.cache import slice_hash
from lockstep.model.cache.slice_hash import Hash
from lockstep.model.records import records, words, zeros

PAGES = np.dtype(words("on", "shift", "mask", "modules", "slices", "sms"))
"""``shift``: of an address to its page; ``mask``: of that to its place; ``slices``, ``sms``: of a
module."""


class Pages(Context):
    """Homes of pages."""

    spec: Records  # PAGES, one
    homes: np.ndarray  # by a page's place: its home plus one, 0 = none yet


class Owners(Context):
    """What owns a line."""

    hash: Hash  # address to slice: of all, or of the home's
    pages: Pages


def build(gpu: GPU, kind: str, unit: int) -> Owners:
    """No page has a home. There are places for all of device memory, so that none has two.

    ``kind``: of the hash; ``unit``: bytes that stay together.
    """
    modules, spec = gpu.modules, records(1, PAGES)
    slices, pages = gpu.dram.channels * gpu.l2.slices_per_channel, 1
    if has_homes(gpu):
        shift = modules.page_bytes.bit_length() - 1
        pages = 1 << ((gpu.dram.capacity << 30 >> shift) - 1).bit_length()
        slices //= modules.count
        sms = gpu.sm.count // modules.count
        spec[0] = 1, shift, pages - 1, modules.count, slices, sms
    return Owners(slice_hash.build(kind, slices, unit), Pages(spec, zeros(pages)))


def has_homes(gpu: GPU) -> bool:
    """Whether pages get homes."""
    return gpu.modules.count > 1 and gpu.modules.pages == "first_touch"


@inline
def slice_of(owners, line_address, choose):
    """The global L2 slice that owns a line; ``choose`` as in ``slice_hash.slice_of``."""
    spec = owners.pages.spec[0]
    first = 0
    if spec.on:
        page = line_address >> spec.shift
        home = owners.pages.homes[page & spec.mask] - 1
        if home < 0:
            home = page % spec.modules
        first = home * spec.slices
    return first + slice_hash.slice_of(owners.hash, line_address, choose)


@inline
def is_known(owners, address):
    """Whether it is known where the page of an address is."""
    spec = owners.pages.spec[0]
    return not spec.on or owners.pages.homes[(address >> spec.shift) & spec.mask] != 0


@inline
def may_go(owners, ask, address, now):
    """Whether a request of an SM may leave; if not, a home of its page is asked for."""
    if is_known(owners, address):
        return True
    page = address >> owners.pages.spec[0].shift
    if ask.page != page + 1:
        ask.page, ask.since = page + 1, now
    return False


@inline
def settle(pages, asks):
    """Between two windows: pages that SMs asked for get homes; ``asks``: one an SM."""
    spec, n = pages.spec[0], asks.shape[0]
    for s in range(n):
        if asks[s].page != 0:
            place = (asks[s].page - 1) & spec.mask
            bid = -(asks[s].since * n + s) - 1  # the earliest is the largest, all are negative
            if pages.homes[place] == 0 or (pages.homes[place] < 0 and bid > pages.homes[place]):
                pages.homes[place] = bid
    for s in range(n):
        if asks[s].page != 0:
            place = (asks[s].page - 1) & spec.mask
            if pages.homes[place] < 0:
                pages.homes[place] = (-pages.homes[place] - 1) % n // spec.sms + 1
            asks[s].page = 0
