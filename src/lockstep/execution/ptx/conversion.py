"""Conversions: cvt and cvt.pack."""

from lockstep.execution.lanes import convert, floating, formats, integer
from lockstep.execution.lanes.compare import together
from lockstep.execution.lanes.floating import Result
from lockstep.execution.lanes.rounding import Rounding, whole
from lockstep.execution.lanes.types import E4M3, E5M2, F16, F32, I32, INTEGERS, Type, Value
from lockstep.execution.ptx.floating import float_type, read_float, rounding_of, write_float
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction

_INTEGERS = "{u8,u16,u32,u64,s8,s16,s32,s64}"
_ROUNDING, _WHOLE = "{rn,rz,rm,rp}", "{rni,rzi,rmi,rpi}"
_EITHER = "[.relu][.satfinite][.relu]"
_EIGHTS = {"e4m3x2": E4M3, "e5m2x2": E5M2}
_MODES = {
    "rni": Rounding.NEAREST,
    "rzi": Rounding.ZERO,
    "rmi": Rounding.DOWN,
    "rpi": Rounding.UP,
}


def _whole_mode(i: Instruction) -> Rounding | None:
    return next((_MODES[word] for word in i.modifiers if word in _MODES), None)


def _saturating() -> list[str]:
    """Where not every number of the second type is one of the first."""
    kinds = _INTEGERS.strip("{}").split(",")
    forms = []
    for source in kinds:
        size = int(source[1:])
        targets = [
            t
            for t in kinds
            if t != source and not (int(t[1:]) > size and (source[0] == "u" or t[0] == "s"))
        ]
        forms.append(f"cvt.sat.{{{','.join(targets)}}}.{source}")
    return forms


@opcode(f"cvt.{_INTEGERS}.{_INTEGERS}", *_saturating())
def between_integers(lift: Lift, i: Instruction) -> None:
    target, source = i.modifiers[-2:]
    a, kind = lift.read(i.operands[1], source), type_of(target)
    if "sat" in i.modifiers:
        a = _saturated(lift, a, is_signed(source), integer.limits(kind.bits, is_signed(target)))
    lift.write(i.operands[0], integer.resize(lift.b, a, kind, is_signed(source)), is_signed(target))


def _saturated(lift: Lift, a: Value, signed: bool, wanted: tuple[int, int]) -> Value:
    """Clamped to a range of which the own type may have a part only."""
    low, high = integer.limits(a.type.bits, signed)
    return integer.clamp(lift.b, a, max(low, wanted[0]), min(high, wanted[1]), signed)


@opcode(
    f"cvt.{_WHOLE}[.ftz][.sat].{_INTEGERS}.f32",
    f"cvt.{_WHOLE}[.sat].{_INTEGERS}.{{f16,f64}}",
    f"cvt.{_WHOLE}.{_INTEGERS}.bf16",
)
def to_integer(lift: Lift, i: Instruction) -> None:
    """Out of range numbers are clamped, with and without .sat."""
    target, a = i.modifiers[-2], _flushed_source(lift, i)
    signed = is_signed(target)
    result = convert.to_integer(lift.b, a, type_of(target), signed, _whole_mode(i))
    lift.write(i.operands[0], result, signed)


@opcode(
    f"cvt.{_ROUNDING}[.ftz][.sat].f32.{_INTEGERS}",
    f"cvt.{_ROUNDING}[.sat].{{f16,f64}}.{_INTEGERS}",
    f"cvt.{_ROUNDING}.bf16.{_INTEGERS}",
)
def from_integer(lift: Lift, i: Instruction) -> None:
    target, source = i.modifiers[-2:]
    a, kind = lift.read(i.operands[1], source), type_of(target)
    number = convert.from_integer(lift.b, a, kind, is_signed(source), rounding_of(i))
    if "sat" in i.modifiers:
        number = floating.saturate(lift.b, formats.widen(lift.b, number))
        number = convert.to_float(lift.b, number, kind)
    lift.write(i.operands[0], number)


def _flushed_source(lift: Lift, i: Instruction) -> Value:
    """The operand; .ftz is about the f32 among the types."""
    source = i.modifiers[-1]
    a = read_float(lift, i.operands[1], source)
    return formats.flush(lift.b, a) if "ftz" in i.modifiers and source == "f32" else a


def _converted(lift: Lift, i: Instruction, a: Value, kind: Type) -> Value:
    """A float rounded as the modifiers say, in another format."""
    b, words = lift.b, i.modifiers
    whole_mode = _whole_mode(i)
    if whole_mode is not None:
        a = whole(b, formats.widen(b, a), whole_mode)
    if "sat" in words or "relu" in words:
        how = Result(saturate="sat" in words, rectify="relu" in words)
        a = floating.finish(b, formats.widen(b, a), how)
    a = convert.to_float(b, a, kind, rounding_of(i), "satfinite" in words)
    return formats.flush(b, a) if "ftz" in words and kind.scalar == F32 else a


@opcode(
    f"cvt[.{_WHOLE}][.ftz][.sat].f32.f32",
    f"cvt[.{_WHOLE}][.sat].f64.f64",
    f"cvt[.{_WHOLE}][.sat].f16.f16",
    f"cvt[.{_WHOLE}].bf16.bf16",
    "cvt[.ftz][.sat].f32.f16",
    f"cvt[.{_ROUNDING}][.ftz].f32.bf16",
    "cvt[.sat].f64.f16",
    f"cvt[.{_ROUNDING}].f64.bf16",
    "cvt[.ftz][.sat].f64.f32",
    f"cvt.{_ROUNDING}[.ftz][.sat].f32.f64",
    f"cvt.{_ROUNDING}[.ftz][.sat].f16.f32",
    f"cvt.{_ROUNDING}[.sat].f16.f64",
    f"cvt.{_ROUNDING}[.ftz].bf16.f32",
    f"cvt.{_ROUNDING}.bf16.f64",
    f"cvt[.{_ROUNDING}].{{f16.bf16,bf16.f16}}",
    f"cvt.{{rn,rz}}{_EITHER}.{{f16,bf16,tf32}}.f32",
    "cvt.rna[.satfinite].tf32.f32",
)
def between_floats(lift: Lift, i: Instruction) -> None:
    a = _flushed_source(lift, i)
    lift.write(i.operands[0], _converted(lift, i, a, float_type(i.modifiers[-2])))


@opcode(f"cvt.{{rn,rz}}{_EITHER}.{{f16x2,bf16x2}}.f32")
def to_pair(lift: Lift, i: Instruction) -> None:
    """The first operand goes into the upper half."""
    kind = float_type(i.modifiers[-2]).scalar
    _write_halves(lift, i, _two_sources(lift, i, kind))


@opcode("cvt.rn[.relu].satfinite[.relu].{e4m3x2,e5m2x2}.f32")
def to_eights(lift: Lift, i: Instruction) -> None:
    _write_halves(lift, i, _two_sources(lift, i, _EIGHTS[i.modifiers[-2]]))


def _two_sources(lift: Lift, i: Instruction, kind: Type) -> list[Value]:
    high, low = (lift.read(o, "f32") for o in i.operands[1:])
    return [_converted(lift, i, a, kind) for a in (low, high)]


def _write_halves(lift: Lift, i: Instruction, halves: list[Value]) -> None:
    pair = together(lift.b, *halves)
    lift.write(i.operands[0], lift.b.cast(pair, INTEGERS[2 * halves[0].type.bits]))


@opcode("cvt.rn[.relu].satfinite[.relu].{e4m3x2,e5m2x2}.f16x2")
def pair_to_eights(lift: Lift, i: Instruction) -> None:
    a = read_float(lift, i.operands[1], "f16x2")
    result = _converted(lift, i, a, _EIGHTS[i.modifiers[-2]])
    lift.write(i.operands[0], lift.b.cast(result, INTEGERS[16]))


@opcode("cvt.rn[.relu].f16x2.{e4m3x2,e5m2x2}")
def eights_to_pair(lift: Lift, i: Instruction) -> None:
    eights = _EIGHTS[i.modifiers[-1]].times(2)
    a = lift.b.cast(lift.read(i.operands[1], "b16"), eights)
    write_float(lift, i.operands[0], _converted(lift, i, a, F16))


_PACKED = "{u16,s16}"


@opcode(f"cvt.pack.sat.{_PACKED}.s32", "cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32")
def pack(lift: Lift, i: Instruction) -> None:
    """Two numbers, clamped, above the shifted third operand."""
    b, target = lift.b, i.modifiers[2]
    bits = int(target[1:])
    low, high = integer.limits(bits, is_signed(target))
    parts = (integer.clamp(b, lift.read(o, "s32"), low, high, True) for o in i.operands[1:3])
    upper, lower = (formats.keep(b, p, (1 << bits) - 1) for p in parts)
    result = b.ir.or_(integer.shift_left(b, upper, bits).ir, lower.ir)
    if len(i.operands) == 4:
        rest = integer.shift_left(b, lift.read(i.operands[3], "b32"), 2 * bits)
        result = b.ir.or_(result, rest.ir)
    lift.write(i.operands[0], Value(result, I32))
