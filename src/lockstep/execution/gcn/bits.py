"""Operations on bits of the vector unit: logic, shifts, fields, counting, funnels, choice.

Shifts take the low five bits of a count, six of one for 64 bits.
"""

from functools import partial

from lockstep.execution.gcn.arithmetic import (
    One,
    Table,
    both,
    family,
    instruction,
    low_bits,
    no,
    reverse,
)
from lockstep.execution.gcn.integer import add
from lockstep.execution.lanes.bits import (
    LEFT,
    RIGHT,
    RIGHT_SIGNED,
    count_ones,
    extract,
    find_leading,
    funnel_shift,
    shift,
)
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import shift_left
from lockstep.execution.lanes.types import I32, I64, PRED, Value


def shift_by(direction: str) -> One:
    """A shift of 32 or 64 bits by as many low bits of a count (i32) as it needs."""

    def emit(b: LaneBuilder, x: Value, count: Value) -> Value:
        return shift(b, x, low_bits(b, count, x.type.bits.bit_length() - 1), direction)

    return emit


left, right, right_signed = (shift_by(way) for way in (LEFT, RIGHT, RIGHT_SIGNED))


def ones(b: LaneBuilder, length: Value, start: Value, kind=I32) -> Value:
    """Ones from bit ``start`` on, fewer than the type has bits."""
    one = left(b, b.constant(kind, 1), length)
    return left(b, add(b, one, b.constant(kind, -1)), start)


def lowest_one(b: LaneBuilder, x: Value) -> Value:
    """Position of the lowest set bit, -1 if there is none (i32)."""
    mirrored = b.elementwise("bitreverse", x)
    return find_leading(b, mirrored, signed=False, distance=True)


def leading_unlike_sign(b: LaneBuilder, x: Value) -> Value:
    """How far below the top the first bit unlike the sign is, -1 if there is none (i32)."""
    return find_leading(b, x, signed=True, distance=True)


def leading_one(b: LaneBuilder, x: Value) -> Value:
    """How far below the top the highest set bit is, -1 if there is none (i32)."""
    return find_leading(b, x, signed=False, distance=True)


def _field(b: LaneBuilder, x: Value, start: Value, length: Value, signed: bool) -> Value:
    return extract(b, x, low_bits(b, start, 5), low_bits(b, length, 5), signed)


def _merge(b: LaneBuilder, chosen: Value, x: Value, y: Value) -> Value:
    change = both(b, Value(b.ir.xor(x.ir, y.ir), I32), chosen)
    return Value(b.ir.xor(y.ir, change.ir), I32)


def _align_bits(b: LaneBuilder, high: Value, low: Value, count: Value) -> Value:
    return funnel_shift(b, low, high, count, left=False)


def _align_bytes(b: LaneBuilder, high: Value, low: Value, count: Value) -> Value:
    return _align_bits(b, high, low, shift_left(b, low_bits(b, count, 2), 3))


def _count_add(b: LaneBuilder, x: Value, total: Value) -> Value:
    return add(b, count_ones(b, x), total)


def _count_below(b: LaneBuilder, mask: Value, total: Value, first: int) -> Value:
    """Bits of a half of a mask that belong to lower lanes; the half begins at lane ``first``."""
    lanes = [min(max(lane - first, 0), 32) for lane in range(b.lanes)]
    lower = b.each(I32, [(1 << count) - 1 for count in lanes])
    return _count_add(b, both(b, mask, lower), total)


def _choose(b: LaneBuilder, x: Value, y: Value, mask: Value) -> Value:
    return b.select(mask, y, x)


_logic = {"v_and_b32": "and_", "v_or_b32": "or_", "v_xor_b32": "xor"}

BITS: Table = {
    **family(I32, (I32, I32), **{name: instruction(word) for name, word in _logic.items()}),
    **family(
        I32,
        (I32, I32),
        v_lshl_b32=left,
        v_lshr_b32=right,
        v_ashr_i32=right_signed,
        v_lshlrev_b32=reverse(left),
        v_lshrrev_b32=reverse(right),
        v_ashrrev_i32=reverse(right_signed),
        v_bfm_b32=ones,
        v_bcnt_u32_b32=_count_add,
        v_mbcnt_lo_u32_b32=partial(_count_below, first=0),
        v_mbcnt_hi_u32_b32=partial(_count_below, first=32),
    ),
    **family(I64, (I64, I32), v_lshl_b64=left, v_lshr_b64=right, v_ashr_i64=right_signed),
    **family(
        I32,
        (I32,),
        v_mov_b32=lambda b, x: x,
        v_not_b32=no,
        v_bfrev_b32=lambda b, x: b.elementwise("bitreverse", x),
        v_ffbh_u32=leading_one,
        v_ffbh_i32=leading_unlike_sign,
        v_ffbl_b32=lowest_one,
    ),
    **family(
        I32,
        (I32, I32, I32),
        v_bfe_u32=partial(_field, signed=False),
        v_bfe_i32=partial(_field, signed=True),
        v_bfi_b32=_merge,
        v_alignbit_b32=_align_bits,
        v_alignbyte_b32=_align_bytes,
    ),
    **family(I32, (I32, I32, PRED), v_cndmask_b32=_choose),
}
