"""Operations on bits: shifts, fields, counting, permutation, truth tables."""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder, type_suffix
from lockstep.execution.lanes.integer import is_zero, resize, shift_right
from lockstep.execution.lanes.types import I32, I64, PRED, Value

LEFT, RIGHT, RIGHT_SIGNED = "shl", "lshr", "ashr"
ALL_ONES = -1


def shift(b: LaneBuilder, x: Value, count: Value, direction: str) -> Value:
    """Shift by an unsigned count (i32); past the size it gives zeros, or copies of the sign."""
    bits, known = x.type.bits, b.known(count)
    if known is not None and 0 <= known < bits:
        return Value(getattr(b.ir, direction)(x.ir, b.constant(x.type, known).ir), x.type)
    if direction == RIGHT_SIGNED:
        count = b.elementwise("umin", count, b.constant(I32, bits - 1))
        return Value(b.ir.ashr(x.ir, resize(b, count, x.type).ir), x.type)
    far = b.ir.icmp_unsigned(">=", count.ir, b.constant(I32, bits).ir)
    shifted = getattr(b.ir, direction)(x.ir, resize(b, count, x.type).ir)
    return b.select(Value(far, PRED), b.constant(x.type, 0), Value(shifted, x.type))


def funnel_shift(b: LaneBuilder, low: Value, high: Value, count: Value, left: bool) -> Value:
    """The upper half of ``high:low`` shifted left, or the lower half shifted right, modulo 32."""
    return b.elementwise("fshl" if left else "fshr", high, low, count)


def funnel_shift_clamped(b, low: Value, high: Value, count: Value, left: bool) -> Value:
    """The same with counts from 32 on taken as 32."""
    far = Value(b.ir.icmp_unsigned(">=", count.ir, b.constant(I32, 32).ir), PRED)
    return b.select(far, low if left else high, funnel_shift(b, low, high, count, left))


# Counting


def count_ones(b: LaneBuilder, x: Value) -> Value:
    """How many bits are set (i32)."""
    return resize(b, b.elementwise("ctpop", x), I32)


def leading_zeros(b: LaneBuilder, x: Value) -> Value:
    """How many bits lie above the highest one that is set (i32)."""
    return resize(b, _count(b, "ctlz", x), I32)


def _count(b: LaneBuilder, name: str, x: Value) -> Value:
    vector = b.vector(x.type)
    arguments = [x.ir, ir.Constant(ir.IntType(1), 0)]
    return Value(b.intrinsic(f"llvm.{name}.{type_suffix(vector)}", vector, arguments), x.type)


def find_leading(b: LaneBuilder, x: Value, signed: bool, distance: bool) -> Value:
    """Position of the highest set bit, or of the highest one unlike the sign; -1 = none (i32).

    ``distance``: how far to shift left to bring it to the top.
    """
    if signed:
        x = Value(b.ir.xor(x.ir, shift_right(b, x, x.type.bits - 1, signed=True).ir), x.type)
    zeros = leading_zeros(b, x)
    if distance:
        return b.select(is_zero(b, x), b.constant(I32, -1), zeros)
    return Value(b.ir.sub(b.constant(I32, x.type.bits - 1).ir, zeros.ir), I32)


def find_nth(b: LaneBuilder, x: Value, base: Value, n: Value) -> Value:
    """Position of the n-th set bit from ``base`` up, or down for a negative n; -1 = none.

    The first one may lie at ``base`` itself; n = 0 asks whether it does.
    """
    return b.subroutine("find_nth", I32, _find_nth, x, base, n)


def _find_nth(b: LaneBuilder, x: Value, base: Value, n: Value) -> Value:
    down = Value(b.ir.icmp_signed("<", n.ir, b.constant(I32, 0).ir), PRED)
    mirrored = Value(b.ir.sub(b.constant(I32, 31).ir, base.ir), I32)
    word = b.select(down, b.elementwise("bitreverse", x), x)
    start = b.select(down, mirrored, base)
    above = Value(b.ir.and_(word.ir, shift(b, b.constant(I32, -1), start, LEFT).ir), I32)
    here = Value(b.ir.and_(word.ir, shift(b, b.constant(I32, 1), start, LEFT).ir), I32)
    steps = b.select(down, Value(b.ir.neg(n.ir), I32), n)
    found = _clear_lowest(b, above, steps)
    found = b.select(is_zero(b, n), here, found)
    place = _count(b, "cttz", found)
    place = b.select(down, Value(b.ir.sub(b.constant(I32, 31).ir, place.ir), I32), place)
    return b.select(is_zero(b, found), b.constant(I32, -1), place)


def _clear_lowest(b: LaneBuilder, x: Value, steps: Value) -> Value:
    """Clear the lowest ``steps - 1`` set bits."""
    one = b.constant(I32, 1)
    for step in range(1, 33):
        fewer = Value(b.ir.and_(x.ir, b.ir.sub(x.ir, one.ir)), I32)
        more = b.ir.icmp_unsigned(">", steps.ir, b.constant(I32, step).ir)
        x = b.select(Value(more, PRED), fewer, x)
    return x


# Fields


def extract(b: LaneBuilder, x: Value, start: Value, length: Value, signed: bool) -> Value:
    """The field of ``length`` bits from bit ``start`` on; above the top there are signs or zeros.

    ``start`` and ``length`` are i32.
    """
    bits = x.type.bits
    field = shift(b, x, start, RIGHT_SIGNED if signed else RIGHT)
    spare = Value(
        b.ir.sub(b.constant(I32, bits).ir, b.elementwise("umin", length, b.constant(I32, bits)).ir),
        I32,
    )
    field = shift(b, field, spare, LEFT)
    return shift(b, field, spare, RIGHT_SIGNED if signed else RIGHT)


def insert(b: LaneBuilder, x: Value, into: Value, start: Value, length: Value) -> Value:
    """``into`` with ``length`` bits from bit ``start`` on replaced by the low bits of ``x``."""
    ones = b.constant(x.type, ALL_ONES)
    beyond = shift(b, ones, length, LEFT)
    field = shift(b, Value(b.ir.not_(beyond.ir), x.type), start, LEFT).ir
    moved = shift(b, x, start, LEFT).ir
    return Value(b.ir.or_(b.ir.and_(moved, field), b.ir.and_(into.ir, b.ir.not_(field))), x.type)


def ones_from(b: LaneBuilder, start: Value, length: Value) -> Value:
    """A word with ``length`` ones from bit ``start`` on (all i32)."""
    ones = b.constant(I32, ALL_ONES)
    low = Value(b.ir.not_(shift(b, ones, length, LEFT).ir), I32)
    return shift(b, low, start, LEFT)


# Truth tables


def lookup(b: LaneBuilder, x: Value, y: Value, z: Value, table: int) -> Value:
    """Each bit from a table of eight, whose index is made of the bits of x (4), y (2), z (1)."""
    low, high = table & 0xF, table >> 4
    without = _lookup_two(b, y, z, low)
    change = _lookup_two(b, y, z, low ^ high)  # what a bit of x that is set inverts
    return Value(b.ir.xor(without.ir, b.ir.and_(x.ir, change.ir)), x.type)


def _lookup_two(b: LaneBuilder, y: Value, z: Value, table: int) -> Value:
    if table & 1:
        return Value(b.ir.not_(_lookup_two(b, y, z, table ^ 0xF).ir), y.type)
    return Value(_TABLES[table](b, y.ir, z.ir), y.type)


_TABLES: dict[int, Callable] = {
    0x0: lambda b, y, z: b.ir.xor(y, y),
    0x2: lambda b, y, z: b.ir.and_(b.ir.not_(y), z),
    0x4: lambda b, y, z: b.ir.and_(y, b.ir.not_(z)),
    0x6: lambda b, y, z: b.ir.xor(y, z),
    0x8: lambda b, y, z: b.ir.and_(y, z),
    0xA: lambda b, y, z: z,
    0xC: lambda b, y, z: y,
    0xE: lambda b, y, z: b.ir.or_(y, z),
}


# Bytes


def permute_fixed(b: LaneBuilder, x: Value, y: Value, picks: list[int]) -> Value:
    """Four bytes, lowest first: 0 to 3 of ``x``, 4 to 7 of ``y``; 8 more repeats the sign."""
    total = b.constant(I32, 0)
    for place, pick in enumerate(picks):
        source = y if pick & 4 else x
        top = Value(b.ir.shl(source.ir, b.constant(I32, 24 - 8 * (pick & 3)).ir), I32)
        if pick & 8:
            top = shift_right(b, top, 31, signed=True)
        byte = shift_right(b, top, 24)
        total = Value(b.ir.or_(total.ir, b.ir.shl(byte.ir, b.constant(I32, 8 * place).ir)), I32)
    return total


def choose(b: LaneBuilder, index: Value, table: tuple[int, ...]) -> Value:
    """An entry of a table of four words by the low two bits of ``index`` (i32)."""
    index = Value(b.ir.and_(index.ir, b.constant(I32, 3).ir), I32)
    result = b.constant(I32, table[0])
    for number, word in enumerate(table[1:], 1):
        here = b.ir.icmp_unsigned("==", index.ir, b.constant(I32, number).ir)
        result = b.select(Value(here, PRED), b.constant(I32, word), result)
    return result


def permute(b: LaneBuilder, x: Value, y: Value, selector: Value) -> Value:
    """The same with the four picks in the nibbles of ``selector``."""
    return b.subroutine("permute", I32, _permute, x, y, selector)


# The picks of each byte, lowest first, for selectors 0 to 3.
_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def permute_in_mode(b: LaneBuilder, x: Value, y: Value, selector: Value, mode: str) -> Value:
    """The same with the picks that a mode of PTX's ``prmt`` has for the selector's low two bits."""
    return permute(b, x, y, choose(b, selector, _MODES[mode]))


def _permute(b: LaneBuilder, x: Value, y: Value, selector: Value) -> Value:
    low, high = (resize(b, v, I64) for v in (x, y))
    both = b.ir.or_(low.ir, b.ir.shl(high.ir, b.constant(I64, 32).ir))
    total = b.constant(I32, 0)
    for place in range(4):
        nibble = shift_right(b, selector, 4 * place)
        eight = b.ir.shl(b.ir.and_(nibble.ir, b.constant(I32, 7).ir), b.constant(I32, 3).ir)
        moved = Value(b.ir.lshr(both, resize(b, Value(eight, I32), I64).ir), I64)
        byte = Value(b.ir.and_(resize(b, moved, I32).ir, b.constant(I32, 0xFF).ir), I32)
        repeats = b.ir.icmp_unsigned(
            "!=", b.ir.and_(nibble.ir, b.constant(I32, 8).ir), b.constant(I32, 0).ir
        )
        byte = b.select(Value(repeats, PRED), _sign_of_byte(b, byte), byte)
        total = Value(b.ir.or_(total.ir, b.ir.shl(byte.ir, b.constant(I32, 8 * place).ir)), I32)
    return total


def _sign_of_byte(b: LaneBuilder, byte: Value) -> Value:
    top = b.ir.icmp_unsigned(">", byte.ir, b.constant(I32, 0x7F).ir)
    return b.select(Value(top, PRED), b.constant(I32, 0xFF), b.constant(I32, 0))
