"""Along one axis of an image: the elements that a coordinate means, and what is outside.

How a sampler wraps is a number (AMD, Southern Islands 3D register reference, SQ_TEX_CLAMP): 0 wrap,
1 mirror, 2 the last element, 4 half of the border, 6 the border; 3, 5 and 7 mirror once before
they do as the even one below. Filters have steps of 1/256 of an element, as Vulkan's drivers
tell of this hardware (subTexelPrecisionBits 8).
"""

from llvmlite import ir

from lockstep.execution.lanes.builder import BIT, HALF, LaneBuilder
from lockstep.execution.lanes.flow import Values
from lockstep.execution.lanes.types import F32, I32, Value

STEPS = 256  # of a filter, in an element
_STEP_BITS = 8
_FAR = float(1 << 22)  # beyond it no filter is exact
_WRAP, _MIRROR, _LAST, _HALF_BORDER, _BORDER, _ONCE = 0, 1, 2, 4, 6, 1
NOWHERE = -1  # an element of the border


def along(
    b: LaneBuilder,
    word: ir.Value,
    offset: ir.Value,
    size: ir.Value,
    mode: ir.Value,
    plain: ir.Value,
    linear: ir.Value,
) -> Values:
    """Both neighbours (i32) of a coordinate (f32 bits), and how far it is to the second.

    Without a filter (``linear``) both are the element in which it is. ``plain``: coordinates count
    elements, else they are from 0 to 1. ``offset``: so many elements further.
    """
    e, sizes = b.ir, b.splat(size, I32).ir
    single, extent = b.vector(F32), e.sitofp(sizes, b.vector(F32))
    x = e.bitcast(word, single)
    x = e.select(plain, x, e.fmul(x, extent))
    x = e.select(e.fcmp_unordered("uno", x, x), b.constant(F32, 0.0).ir, x)
    odd = b.splat(e.fneg(e.sitofp(size, ir.FloatType())), F32).ir
    low = e.select(_is_odd(b, mode), odd, b.constant(F32, 0.0).ir)
    half = e.icmp_unsigned("==", _even(b, mode), ir.Constant(HALF, _HALF_BORDER))
    x = e.select(half, _clamped(b, x, low, extent), x)
    far = b.constant(F32, _FAR).ir
    steps = e.fmul(_clamped(b, x, e.fneg(far), far), b.constant(F32, float(STEPS)).ir)
    nearest = _floor(b, e.fadd(steps, b.constant(F32, 0.5).ir))
    left = e.sub(nearest, b.constant(I32, STEPS // 2).ir)
    first = e.ashr(left, b.constant(I32, _STEP_BITS).ir)
    rest = e.sitofp(e.and_(left, b.constant(I32, STEPS - 1).ir), single)
    rest = e.fmul(rest, b.constant(F32, 1 / STEPS).ir)
    first = e.add(e.select(linear, first, _floor(b, x)), offset)
    second = e.select(linear, e.add(first, b.constant(I32, 1).ir), first)
    rest = e.select(linear, rest, b.constant(F32, 0.0).ir)
    return [*(_wrapped(b, at, sizes, mode, linear) for at in (first, second)), rest]


def _even(b: LaneBuilder, mode: ir.Value) -> ir.Value:
    return b.ir.and_(mode, ir.Constant(HALF, ~_ONCE & 7))


def _is_odd(b: LaneBuilder, mode: ir.Value) -> ir.Value:
    return b.ir.trunc(mode, BIT)


def _clamped(b: LaneBuilder, x: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    below = b.elementwise("minnum", Value(x, F32), Value(high, F32))
    return b.elementwise("maxnum", below, Value(low, F32)).ir


def _floor(b: LaneBuilder, x: ir.Value) -> ir.Value:
    whole = b.elementwise("floor", Value(x, F32)).ir
    return b.intrinsic(f"llvm.fptosi.sat.v{b.lanes}i32.v{b.lanes}f32", b.vector(I32), [whole])


def _wrapped(
    b: LaneBuilder, at: ir.Value, size: ir.Value, mode: ir.Value, linear: ir.Value
) -> ir.Value:
    """An element (i32) that exists, or ``NOWHERE``."""
    e, zero = b.ir, b.constant(I32, 0).ir
    odd = _is_odd(b, mode)
    mirrors = e.and_(odd, e.icmp_unsigned("!=", mode, ir.Constant(HALF, _MIRROR)))
    once = e.select(e.icmp_signed("<", at, zero), e.not_(at), at)
    once = e.select(mirrors, once, at)
    last = Value(e.sub(size, b.constant(I32, 1).ir), I32)
    nearest = b.elementwise("smax", Value(once, I32), b.constant(I32, 0))
    nearest = b.elementwise("smin", nearest, last)
    outside = e.icmp_unsigned(">=", once, size)
    bordered = e.select(outside, b.constant(I32, NOWHERE).ir, once)
    found = {
        _LAST: nearest.ir,
        _HALF_BORDER: e.select(linear, bordered, nearest.ir),
        _BORDER: bordered,
    }
    result = e.select(odd, _mirrored(b, at, size), _modulo(b, at, size))
    for kind, value in found.items():
        here = e.icmp_unsigned("==", _even(b, mode), ir.Constant(HALF, kind))
        result = e.select(here, value, result)
    return result


def _modulo(b: LaneBuilder, x: ir.Value, size: ir.Value) -> ir.Value:
    rest = b.ir.srem(x, size)
    below = b.ir.icmp_signed("<", rest, b.constant(I32, 0).ir)
    return b.ir.select(below, b.ir.add(rest, size), rest)


def _mirrored(b: LaneBuilder, x: ir.Value, size: ir.Value) -> ir.Value:
    """Every second repetition backwards."""
    e, twice = b.ir, b.ir.add(size, size)
    place = _modulo(b, x, twice)
    back = e.sub(e.sub(twice, b.constant(I32, 1).ir), place)
    return e.select(e.icmp_unsigned("<", place, size), place, back)
