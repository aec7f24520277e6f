"""Steps of an exact division: scaling of its operands, the last product and sum, special cases.

A quotient is found with fused products from a reciprocal, of operands that ``v_div_scale`` has
moved to where nothing is subnormal; ``v_div_fmas`` moves the quotient back, and ``v_div_fixup``
puts in what is no matter of arithmetic. These are defined bit by bit, so f32 keeps subnormal
numbers here.
"""

from dataclasses import dataclass

from lockstep.execution.gcn.arithmetic import Arithmetic, Table, any_of, both
from lockstep.execution.gcn.exponents import exponent_field
from lockstep.execution.lanes.approximate import reciprocal
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.floating import INFINITE, NAN, SUBNORMAL, absolute, is_class
from lockstep.execution.lanes.flow import outlined
from lockstep.execution.lanes.formats import format_of, from_raw, keep, raw
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F32, F64, I32, PRED, Type, Value


@dataclass(frozen=True)
class Edges:
    """Where a type's quotients need care.

    ``factor`` is what operands are scaled by; a quotient is near the largest number if its exponent
    is at least ``far``, a numerator is tiny if its exponent field is at most ``tiny``, and a
    quotient is 0 if its exponent is below ``lost``.
    """

    factor: float
    far: int
    tiny: int
    lost: int


EDGES = {F32: Edges(2.0**64, 96, 23, -150), F64: Edges(2.0**128, 768, 53, -1075)}
Cases = list[tuple[Value, Value]]


def _multiply(b: LaneBuilder, x: Value, factor: float) -> Value:
    return rounded(b, "fmul", Rounding.NEAREST, x, b.constant(x.type, factor))


def _zero(b: LaneBuilder, x: Value) -> Value:
    return compare_floats(b, "eq", x, b.constant(x.type, 0.0))


def _nan(b: LaneBuilder, kind: Type, sign: int) -> Value:
    form = format_of(kind)
    quiet = form.infinity | 1 << form.fraction_bits - 1
    return b.constant(kind, quiet | (form.sign if sign else 0))


def _exponents_apart(b: LaneBuilder, x: Value, y: Value) -> Value:
    return Value(b.ir.sub(exponent_field(b, x).ir, exponent_field(b, y).ir), I32)


def _compare(b: LaneBuilder, x: Value, order: str, number: int) -> Value:
    return Value(b.ir.icmp_signed(order, x.ir, b.constant(I32, number).ir), PRED)


def _first_of(b: LaneBuilder, cases: Cases, otherwise: Value) -> Value:
    """The value of the first case that holds."""
    result = otherwise
    for holds, value in reversed(cases):
        result = b.select(holds, value, result)
    return result


def _scale(b: LaneBuilder, x: Value, y: Value, z: Value) -> tuple[Value, Value]:
    """``x``, the denominator ``y`` or the numerator ``z``, scaled, and whether the quotient is."""
    kind = x.type

    def emit(inner: LaneBuilder, *arguments) -> list:
        values = (Value(a, kind) for a in arguments)
        scaled, scales = _scaled(inner, *values)
        return [inner.settle(scaled).ir, inner.bits_of(scales)]

    results = [b.vector(kind), b.mask_type]
    name = f"gcn_div_scale_{kind.name}"
    scaled, mask = outlined(b, name, results, [b.settle(v).ir for v in (x, y, z)], emit, False)
    return Value(scaled, kind), b.lanes_of(mask)


def _scaled(b: LaneBuilder, x: Value, y: Value, z: Value) -> tuple[Value, Value]:
    edges = EDGES[x.type]
    up, down = _multiply(b, x, edges.factor), _multiply(b, x, 1 / edges.factor)
    is_denominator = compare_floats(b, "eq", x, y)
    denominator = b.select(is_denominator, up, x)
    smaller = b.select(is_denominator, down, x)
    numerator = b.select(compare_floats(b, "eq", x, z), up, x)
    vast = is_class(b, reciprocal(b, y), SUBNORMAL)
    small = is_class(b, rounded(b, "fdiv", Rounding.NEAREST, z, y), SUBNORMAL)
    apart = _exponents_apart(b, z, y)
    none, every = b.constant(PRED, 0), b.constant(PRED, 1)
    cases = [
        (any_of(b, _zero(b, y), _zero(b, z)), _nan(b, x.type, 0), none),
        (_compare(b, apart, ">=", edges.far), denominator, every),
        (is_class(b, y, SUBNORMAL), up, none),
        # AMD's text scales up here, too: then the denominator is infinite and no quotient right.
        (both(b, vast, small), smaller, every),
        (vast, down, none),
        (small, numerator, every),
        (_compare(b, exponent_field(b, z), "<=", edges.tiny), up, none),
    ]
    value = _first_of(b, [(holds, value) for holds, value, _ in cases], x)
    flag = _first_of(b, [(holds, flag) for holds, _, flag in cases], none)
    return value, flag


def _last_step(b: LaneBuilder, x: Value, y: Value, z: Value, scales: Value) -> Value:
    """A fused product and sum, moved back: up if ``z``, the quotient so far, is 2 or more."""
    edges, total = EDGES[x.type], rounded(b, "fma", Rounding.NEAREST, x, y, z)
    bias = 1 - format_of(x.type).minimum_exponent
    large = _compare(b, exponent_field(b, b.settle(z)), ">", bias)
    factor = b.select(large, b.constant(x.type, edges.factor), b.constant(x.type, 1 / edges.factor))
    return b.select(scales, rounded(b, "fmul", Rounding.NEAREST, total, factor), total)


def _fix(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    """The quotient ``x`` of the denominator ``y`` and the numerator ``z``, or what replaces it."""
    name = f"gcn_div_fixup_{x.type.name}"
    return b.subroutine(name, x.type, _fixed, *(b.settle(v) for v in (x, y, z)))


def _fixed(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    x, y, z = (Value(v.ir, v.type) for v in (x, y, z))
    kind, form = x.type, format_of(x.type)
    sign = keep(b, Value(b.ir.xor(raw(b, y).ir, raw(b, z).ir), kind.integer), form.sign)

    def signed(number: Value) -> Value:
        return from_raw(b, any_of(b, raw(b, number), sign), kind)

    nothing, infinity = (signed(b.constant(kind, n)) for n in (0, form.infinity))
    y_zero, z_zero = _zero(b, y), _zero(b, z)
    y_infinite, z_infinite = is_class(b, y, INFINITE), is_class(b, z, INFINITE)
    invalid = any_of(b, both(b, y_zero, z_zero), both(b, y_infinite, z_infinite))
    cases = [
        (is_class(b, z, NAN), _quiet(b, z)),
        (is_class(b, y, NAN), _quiet(b, y)),
        (invalid, _nan(b, kind, 1)),
        (any_of(b, y_zero, z_infinite), infinity),
        (any_of(b, y_infinite, z_zero), nothing),
        (_compare(b, _exponents_apart(b, z, y), "<", EDGES[kind].lost), nothing),
        (is_class(b, x, NAN), infinity),  # products of the steps had no room for the quotient
    ]
    return _first_of(b, cases, signed(absolute(b, x)))


def _quiet(b: LaneBuilder, x: Value) -> Value:
    form, bits = format_of(x.type), raw(b, x)
    quiet = b.constant(bits.type, 1 << form.fraction_bits - 1)
    return from_raw(b, any_of(b, bits, quiet), x.type)


DIVISION: Table = {}
for _kind in (F32, F64):
    _three = (_kind, _kind, _kind)
    DIVISION |= {
        f"v_div_scale_{_kind.name}": Arithmetic(_scale, _three, (_kind, PRED)),
        f"v_div_fmas_{_kind.name}": Arithmetic(_last_step, (*_three, PRED), (_kind,)),
        f"v_div_fixup_{_kind.name}": Arithmetic(_fix, _three, (_kind,)),
    }
