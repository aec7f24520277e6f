"""Where an address lies in device memory: channel, bank and row.

Orders are told as memory controllers' are, from the most significant digit to the least: with
``RoBaRaCoCh`` neighbouring bursts are in different channels, with ``ChRaBaRoCo`` in one row. There
is one rank. ``gpu`` is how the model spreads lines: channels by the hash of L2 slices, banks
within a channel by ``dram.address_map``.
"""

import re

import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline
from lockstep.caches.accesses import LINE_BYTES, SECTOR_SHIFT
from lockstep.gpus.spec import GPU
from lockstep.model.cache import slice_hash
from lockstep.model.cache.slice_hash import Hash, index_of
from lockstep.model.divisor import DIVISOR, divisor, quotient, remainder
from lockstep.model.dram import address_map
from lockstep.model.dram.address_map import BANK_BITS, MAP

OWN = "gpu"


_DIGITS = ("Ch", "Co", "Ba", "Ro", "Ra")
_CHANNEL, _, _BANK, _ROW, _ = range(len(_DIGITS))
_DIGIT = np.dtype([("kind", "i8"), ("size", DIVISOR)])
_ORDER = np.dtype(
    [
        ("own", "i8"),
        ("burst", DIVISOR),  # sectors that are moved together
        ("unit", DIVISOR),  # lines of a slice that follow each other
        ("slices", DIVISOR),
        ("channel_slices", DIVISOR),
        ("banks", MAP),
    ]
)


class PlaceFinder(Context):
    """What finds the place of a sector."""

    order: Records  # _ORDER, one
    digits: Records  # _DIGIT, from the least significant one
    slices: Hash


def problem(order: str) -> str:
    """Why addresses cannot be in an order, or nothing."""
    if order == OWN or (len(order) == 10 and sorted(_named(order)) == sorted(_DIGITS)):
        return ""
    return f"{order!r} is no order of addresses; expected {OWN}, RoBaRaCoCh, ChRaBaRoCo or alike"


def _named(order: str) -> list[str]:
    return re.findall("[A-Z][a-z]", order)


def places(gpu: GPU, order: str, burst_sectors: int) -> PlaceFinder:
    """What finds places in the memory of a GPU; ``burst_sectors`` are read together."""
    dram, l2 = gpu.dram, gpu.l2
    burst = burst_sectors << SECTOR_SHIFT
    rows = max(1, (dram.capacity << 30) // (dram.channels * dram.banks * dram.row_bytes))
    sizes = (dram.channels, max(1, dram.row_bytes // burst), dram.banks, rows, 1)
    digits = as_records(np.zeros(len(_DIGITS), _DIGIT))
    for digit, name in zip(digits, reversed(_named(order))):
        digit.kind = _DIGITS.index(name)
        digit.size = divisor(sizes[digit.kind])
    spec = as_records(np.zeros(1, _ORDER))
    s = spec[0]
    s.own = order == OWN
    slices = dram.channels * l2.slices_per_channel
    unit = max(1, l2.interleave_bytes // LINE_BYTES)
    s.burst, s.unit, s.slices = divisor(burst_sectors), divisor(unit), divisor(slices)
    s.channel_slices = divisor(l2.slices_per_channel)
    s.banks = address_map.digits(dram, LINE_BYTES)
    return PlaceFinder(spec, digits, slice_hash.build(l2.slice_hash, slices, unit * LINE_BYTES))


@force_inline
def place_of(finder, line, sector):
    """The channel of a sector of a line, and its place there, as of ``address_map.locate``."""
    order = finder.order[0]
    if order.own:
        unit = quotient(order.unit, line)
        slice_ = index_of(finder.slices, line * LINE_BYTES)
        block = quotient(order.slices, unit) * order.channel_slices.value
        block += remainder(order.channel_slices, slice_)
        local = block * order.unit.value + remainder(order.unit, line)
        return quotient(order.channel_slices, slice_), address_map.locate(order.banks, local)
    left = quotient(order.burst, line * (LINE_BYTES >> SECTOR_SHIFT) + sector)
    channel = bank = row = 0
    for k in range(finder.digits.shape[0]):
        digit = finder.digits[k]
        value = remainder(digit.size, left)
        left = quotient(digit.size, left)
        if digit.kind == _CHANNEL:
            channel = value
        elif digit.kind == _BANK:
            bank = value
        elif digit.kind == _ROW:
            row = value
    return channel, (row << BANK_BITS) | bank
