"""Addresses to residuals and back: one walk over a chunk's records for both directions.

What a memory instruction will access is predicted from what the walk has already seen, and only
the difference is stored. Writer and reader run the same function, so that they cannot disagree.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import force_inline, jit
from lockstep.frontend.tracefile import grid
from lockstep.frontend.tracefile.rows import LANES, NONE, ORIGIN, REFERENCE
from lockstep.frontend.tracefile.shapes import lanes_of


class Walk(NamedTuple):
    """Everything the walk over a chunk's records touches."""

    rows: np.ndarray  # ROW
    residuals: np.ndarray  # the streams of all rows, as ``place_streams`` lays them out
    addresses: np.ndarray  # ADDRESS of all CTAs
    pool: np.ndarray  # their lists, in record order
    pool_first: np.ndarray  # where each CTA's lists begin, and the end; filled by the walk
    next: np.ndarray  # at [r]: the next record of the same row in the same warp, or NONE
    slots: np.ndarray  # SLOT
    slot_first: np.ndarray  # where the slots of each warp shape begin, and the end
    warps: np.ndarray  # shape of each warp: one line a CTA shape
    shape: np.ndarray  # CTA shape of each CTA
    index: np.ndarray  # linear index of each CTA


def decode(w: Walk) -> bool:
    """Fill the addresses from the residuals; False if they do not fit each other."""
    return bool(_walk(w, True))


def encode(w: Walk) -> None:
    """Fill the residuals from the addresses."""
    _walk(w, False)


@jit
def _walk(w, decoding):
    record, warp, at = np.int64(0), np.int64(0), np.int64(0)
    for cta in range(len(w.shape)):
        w.pool_first[cta] = at
        for slot in range(w.warps.shape[1]):
            s = w.warps[w.shape[cta], slot]
            for k in range(w.slot_first[s], w.slot_first[s + 1]):
                at = _record(w, (record, warp, cta, slot), w.slots[k], at, decoding)
                if at < 0:
                    return False
                record += 1
            warp += 1
    w.pool_first[len(w.shape)] = at
    return True


@force_inline
def _record(w, place, slot, at, decoding):
    """One address record; returns where in the pool the next list goes, or NONE if bad."""
    record, warp, cta, _ = place
    row, mask = w.rows[slot.row], slot.mask
    if max(row.at_list, row.at_first) >= len(w.residuals):
        return NONE
    target = w.addresses[record]
    listed = _code(w, row.at_list, 0, np.int64(target["pool"] >= 0), decoding)
    row.at_list += 1
    first = lowest(mask)
    expected = _expect_first(w, row, place, first)
    actual = _code(w, row.at_first, expected, target["first"], decoding)
    row.at_first += 1
    target["first"] = actual
    _learn_first(w, row, place, first, actual)
    if row.referred != 0 and row.lane_warp != warp:
        row.lane_warp, row.lane_mask = warp, 0
    if listed == 0:
        target["pool"] = NONE
        return at if _strided(w, row, target, mask, decoding) else NONE
    if listed != 1 or at + lanes_of(mask) > len(w.pool):
        return NONE
    target["pool"] = at - w.pool_first[cta]
    target["stride"] = 0
    w.pool[at] = actual
    return _list(w, row, (warp, mask, first), at, decoding)


@force_inline
def _code(w, at, expected, value, decoding):
    """The value at ``at``: read as a difference to ``expected``, or written as one."""
    if decoding:
        return expected + w.residuals[at]
    w.residuals[at] = value - expected
    return value


@force_inline
def _expect_first(w, row, place, first):
    """The predicted address of the first active lane."""
    if row.kind == ORIGIN:
        return row.origin
    grid.enter(w, row, place)
    if row.offset_known != 0 and _refers(w, row, place[1], first):
        return _scaled(w, row, first) + row.offset
    return grid.expect(w, row)


@force_inline
def _learn_first(w, row, place, first, actual):
    if row.kind == ORIGIN:
        return
    grid.learn(w, row, place[0], actual)
    if _refers(w, row, place[1], first):
        _learn_offset(w, row, first, actual)


@force_inline
def _strided(w, row, target, mask, decoding):
    """The stride of a record that is no list; False if it is none."""
    if row.at_stride >= len(w.residuals):
        return False
    stride = _code(w, row.at_stride, row.stride, np.int64(target["stride"]), decoding)
    row.at_stride += 1
    if stride < -(1 << 31) or stride >= 1 << 31:
        return False
    target["stride"] = row.stride = stride
    if row.referred != 0:
        actual = target["first"]
        for lane in range(LANES):
            if (mask >> lane) & 1:
                row.lane[lane] = actual
                actual += stride
        row.lane_mask |= mask
    return True


@force_inline
def _list(w, row, active, at, decoding):
    """The further addresses of a list; returns the place behind it, or NONE if bad."""
    warp, mask, before = active
    if row.at_lane + lanes_of(mask) - 1 > len(w.residuals):
        return NONE
    actual = w.pool[at]
    if row.referred != 0:
        row.lane[before] = actual
    for lane in range(before + 1, LANES):
        if (mask >> lane) & 1 == 0:
            continue
        at += 1
        refers = _refers(w, row, warp, lane)
        if refers and row.offset_known != 0:
            expected = _scaled(w, row, lane) + row.offset
        elif row.kind == ORIGIN:
            expected = row.origin
        else:
            expected = actual + row.gap * (lane - before)
        actual = _code(w, row.at_lane, expected, w.pool[at], decoding)
        row.at_lane += 1
        w.pool[at] = actual
        if refers:
            _learn_offset(w, row, lane, actual)
        if row.referred != 0:
            row.lane[lane] = actual
        before = lane
    row.lane_mask |= mask
    return at + 1


@force_inline
def _refers(w, row, warp, lane):
    """Whether the instruction that ``row`` refers to has an address for this lane."""
    if row.kind != REFERENCE:
        return False
    other = w.rows[row.reference]
    return other.lane_warp == warp and (other.lane_mask >> lane) & 1 != 0


@force_inline
def _scaled(w, row, lane):
    """What ``row`` refers to, scaled."""
    other = w.rows[row.reference].lane[lane]
    return other << row.scale if row.scale >= 0 else other >> -row.scale


@force_inline
def _learn_offset(w, row, lane, actual):
    row.offset, row.offset_known = actual - _scaled(w, row, lane), 1


@force_inline
def lowest(mask):
    """Index of the lowest set bit."""
    lane = 0
    while (mask >> lane) & 1 == 0:
        lane += 1
    return lane
