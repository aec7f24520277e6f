"""The addresses of an instruction line: a list, a stride, or differences."""

import numpy as np

from lockstep._jit import inline
from lockstep.frontend.accelsim.parser import (
    BAD_ADDRESS,
    BAD_DELTA,
    BAD_MODE,
    BAD_STRIDE,
    MORE,
    SPLIT_STRIDE,
)
from lockstep.frontend.accelsim.scan import GAP, address, decimal, hexadecimal, popcount, skip

MODE_LIST, MODE_STRIDE, MODE_DELTAS, MODE_BULK_LIST, MODE_BULK_DELTAS = range(5)
STRIDE_LIMIT = 1 << 31  # strides are stored in 32 bits


@inline
def lane_addresses(buffer, c, s, p, mask, entry):
    """Fill ``entry`` (and the pool behind ``s.pool``); ``(position, end of pool, outcome)``."""
    mode, stop = decimal(buffer, p)
    if stop < 0 or not GAP[buffer[stop]] or not MODE_LIST <= mode <= MODE_DELTAS:
        return p, s.pool, BAD_MODE
    s.fault = p = skip(buffer, stop)
    lanes = popcount(mask)
    if mode == MODE_STRIDE:
        p, outcome = _stride(buffer, s, p, mask, entry)
        return p, s.pool, outcome
    count = max(lanes, 1) if mode == MODE_DELTAS else lanes
    value = np.int64(0)
    for k in range(count):
        if k == 0 or mode == MODE_LIST:
            value, stop = address(buffer, p)
        else:
            delta, stop = decimal(buffer, p)
            value += delta
        if stop < 0 or not GAP[buffer[stop]]:
            return p, s.pool, BAD_ADDRESS if k == 0 or mode == MODE_LIST else BAD_DELTA
        c.pool[s.pool + k] = value
        s.fault = p = skip(buffer, stop)
    return p, _shortest(c, s, lanes, entry), MORE


@inline
def _stride(buffer, s, p, mask, entry):
    """``base stride``: the active lanes must be neighbours. Without any, both are undefined."""
    base, stop = address(buffer, p)
    if stop < 0:
        return p, BAD_ADDRESS
    s.fault = p = skip(buffer, stop)
    stride, stop = decimal(buffer, p)
    if stop < 0 or not GAP[buffer[stop]] or not -STRIDE_LIMIT <= stride < STRIDE_LIMIT:
        return p, BAD_STRIDE
    lowest = mask & -mask
    if (mask + lowest) & mask != 0:
        return p, SPLIT_STRIDE
    entry.first, entry.pool = base, -1
    entry.stride = stride if mask != lowest else 0
    return skip(buffer, stop), MORE


@inline
def _shortest(c, s, lanes, entry):
    """Describe the pool's last ``lanes`` addresses by a stride if one fits; end of the pool."""
    entry.first, entry.stride, entry.pool = c.pool[s.pool], 0, -1
    if lanes < 2:
        return s.pool
    stride = c.pool[s.pool + 1] - c.pool[s.pool]
    even = -STRIDE_LIMIT <= stride < STRIDE_LIMIT
    for k in range(2, lanes):
        even = even and c.pool[s.pool + k] - c.pool[s.pool + k - 1] == stride
    if even:
        entry.stride = stride
        return s.pool
    entry.pool = s.pool
    return s.pool + lanes


@inline
def bulk_copy(buffer, s, p, entry):
    """Bulk copy (version 6): ``(bytes, position)``; of its transfers only the first is kept."""
    entry.first, entry.stride, entry.pool = 0, 0, -1
    _, p = next_hexadecimal(buffer, s, p)
    multicast, p = next_decimal(buffer, s, p)
    if multicast != 0:
        _, p = next_hexadecimal(buffer, s, p)
    size, p = next_decimal(buffer, s, p)
    _, p = next_decimal(buffer, s, p)
    mode, p = next_decimal(buffer, s, p)
    base = np.int64(0)
    if mode == MODE_BULK_DELTAS:
        base, p = next_hexadecimal(buffer, s, p)
    elif mode != MODE_BULK_LIST:
        return size, -1
    count, p = next_decimal(buffer, s, p)
    for k in range(count if p >= 0 else 0):
        if mode == MODE_BULK_LIST:
            value, p = next_hexadecimal(buffer, s, p)
            base = value if k == 0 else base
        elif k > 0:
            value, p = next_decimal(buffer, s, p)
        if p < 0:
            break
    entry.first = base
    return size, p if size >= 0 and count >= 0 else -1


@inline
def next_decimal(buffer, s, p):
    """The decimal word at ``p`` and the position of the next word; passes a failure on."""
    value = np.int64(0)
    if p >= 0:
        s.fault = p
        value, p = decimal(buffer, p)
        if p >= 0:
            p = skip(buffer, p) if GAP[buffer[p]] else -1
    return value, p


@inline
def next_hexadecimal(buffer, s, p):
    """As :func:`next_decimal`, for hex digits with or without 0x."""
    value = np.int64(0)
    if p >= 0:
        s.fault = p
        prefixed = buffer[p] == 48 and (buffer[p + 1] | 32) == 120
        value, p = hexadecimal(buffer, p + 2 if prefixed else p, 16)
        if p >= 0:
            p = skip(buffer, p)
    return value, p
