"""Elements of a fragment's registers as numbers to calculate with: f32, f64, or i32."""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.flow import Values
from lockstep.execution.lanes.formats import widen
from lockstep.execution.lanes.narrow import narrow
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    Type,
    Value,
)

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "b1": 1}
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8}


def per_register(kind: str) -> int:
    """Elements in a register; single bits are taken by words."""
    return 1 if kind == "b1" else max(32 // BITS[kind], 1)


def unpack(b: LaneBuilder, kind: str, registers: Values) -> list[Values]:
    """The numbers in each register, lowest bits first."""
    convert = _CONVERT[kind]
    return [[convert(b, r, e) for e in range(per_register(kind))] for r in registers]


def pack(b: LaneBuilder, kind: str, numbers: Values) -> Values:
    """Registers from numbers; NaNs become the canonical one."""
    if kind == "s32":
        return numbers
    if kind == "f64":
        return [b.cast(Value(n, F64, settled=False), I64).ir for n in numbers]
    if kind == "f32":
        return [b.cast(Value(n, F32, settled=False), I32).ir for n in numbers]
    halves = [_half_bits(b, n) for n in numbers]
    shift = b.constant(I32, 16).ir
    return [b.ir.or_(low, b.ir.shl(high, shift)) for low, high in zip(halves[::2], halves[1::2])]


def _half_bits(b: LaneBuilder, number: ir.Value) -> ir.Value:
    half = narrow(b, Value(number, F32, settled=False), F16, Rounding.NEAREST)
    return b.ir.zext(b.cast(half, I16).ir, b.vector(I32))


def _field(b: LaneBuilder, word: ir.Value, kind: Type, number: int) -> ir.Value:
    """The nth field of each 32-bit word."""
    moved = b.ir.lshr(word, b.constant(I32, number * kind.bits).ir) if number else word
    return b.ir.trunc(moved, b.vector(kind.integer))


def _from_float(kind: Type) -> Callable:
    def convert(b: LaneBuilder, word: ir.Value, number: int) -> ir.Value:
        return widen(b, Value(_field(b, word, kind, number), kind)).ir

    return convert


def _from_tf32(b: LaneBuilder, word: ir.Value, _: int) -> ir.Value:
    """The low 13 bits are not part of the number."""
    return b.ir.bitcast(b.ir.and_(word, b.constant(I32, 0xFFFFE000).ir), b.vector(F32))


def _from_integer(bits: int, signed: bool) -> Callable:
    def convert(b: LaneBuilder, word: ir.Value, number: int) -> ir.Value:
        left = b.ir.shl(word, b.constant(I32, 32 - bits * (number + 1)).ir)
        emit = b.ir.ashr if signed else b.ir.lshr
        return emit(left, b.constant(I32, 32 - bits).ir)

    return convert


_CONVERT: dict[str, Callable[[LaneBuilder, ir.Value, int], ir.Value]] = {
    **{kind.name: _from_float(kind) for kind in (F16, BF16, E4M3, E5M2)},
    "tf32": _from_tf32,
    "s8": _from_integer(8, signed=True),
    "u8": _from_integer(8, signed=False),
    "s4": _from_integer(4, signed=True),
    "u4": _from_integer(4, signed=False),
    "f32": lambda b, word, _: b.ir.bitcast(word, b.vector(F32)),
    "s32": lambda b, word, _: word,
    "b1": lambda b, word, _: word,
    "f64": lambda b, word, _: b.ir.bitcast(word, b.vector(F64)),
}
