"""Floating-point arithmetic."""

from msgspec.structs import replace

from lockstep.execution.lanes import approximate, floating
from lockstep.execution.lanes.floating import Choice, Result
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import BF16, F16, F32, F64, INTEGERS, TF32, Type, Value
from lockstep.execution.ptx.lift import Lift, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction, Operand

_MODES = {
    "rn": Rounding.NEAREST,
    "rz": Rounding.ZERO,
    "rm": Rounding.DOWN,
    "rp": Rounding.UP,
    "rna": Rounding.AWAY,
}
_TYPES = {
    "f16x2": F16.times(2),
    "bf16x2": BF16.times(2),
    "f32x2": F32.times(2),
    "tf32": TF32,
}
_ROUNDING = "{rn,rz,rm,rp}"
_HALF, _BRAIN = "{f16,f16x2}", "{bf16,bf16x2}"


def rounding_of(i: Instruction) -> Rounding:
    """The rounding that an instruction names, or to nearest."""
    return next((_MODES[word] for word in i.modifiers if word in _MODES), Rounding.NEAREST)


def float_type(name: str) -> Type:
    """The type of an operand; pairs as vectors of more elements."""
    return _TYPES.get(name) or type_of(name)


def read_float(lift: Lift, operand: Operand, name: str) -> Value:
    """A floating-point operand, pairs as vectors of more elements."""
    return lift.b.cast(lift.read(operand, name), float_type(name))


def write_float(lift: Lift, operand: Operand, value: Value) -> None:
    """Write a floating-point result, put back into a word if it is a pair."""
    kind = value.type
    lift.write(operand, lift.b.cast(value, INTEGERS[8 * kind.bytes]) if kind.count > 1 else value)


def _sources(lift: Lift, i: Instruction) -> list[Value]:
    return [read_float(lift, o, i.modifiers[-1]) for o in i.operands[1:]]


def _result(i: Instruction) -> Result:
    words = i.modifiers
    return Result(rounding_of(i), "ftz" in words, "sat" in words, "relu" in words)


_OPERATIONS = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "fma": "fma",
    "mad": "fma",
    "sqrt": "sqrt",
}


@opcode(
    f"{{add,sub,mul}}[.{_ROUNDING}][.ftz][.sat].f32",
    f"{{add,sub,mul}}[.{_ROUNDING}].f64",
    f"{{fma,mad}}.{_ROUNDING}[.ftz][.sat].f32",
    f"{{fma,mad}}.{_ROUNDING}.f64",
    f"{{add,sub,mul}}[.{_ROUNDING}][.ftz].f32x2",
    f"fma.{_ROUNDING}[.ftz].f32x2",
    f"{{div,sqrt}}.{_ROUNDING}[.ftz].f32",
    f"{{div,sqrt}}.{_ROUNDING}.f64",
    f"{{add,sub,mul}}[.rn][.ftz][.sat].{_HALF}",
    f"{{add,sub,mul}}[.rn].{_BRAIN}",
    f"fma.rn[.ftz][.sat].{_HALF}",
    f"fma.rn[.ftz].relu.{_HALF}",
    f"fma.rn[.relu].{_BRAIN}",
)
def arithmetic(lift: Lift, i: Instruction) -> None:
    values = _sources(lift, i)
    operation = _OPERATIONS[i.opcode]
    write_float(lift, i.operands[0], floating.arithmetic(lift.b, operation, _result(i), *values))


@opcode(f"fma.rn.oob[.relu].{_HALF}", f"fma.rn.oob[.relu].{_BRAIN}")
def bounded(lift: Lift, i: Instruction) -> None:
    result = floating.fma_inside(lift.b, _result(i), *_sources(lift, i))
    write_float(lift, i.operands[0], result)


@opcode(
    f"{{add,sub}}[.{_ROUNDING}][.sat].f32.{{f16,bf16}}",
    f"fma.{_ROUNDING}[.sat].f32.{{f16,bf16}}",
)
def mixed(lift: Lift, i: Instruction) -> None:
    """All operands but the last are 16-bit floats."""
    *narrow, last = i.operands[1:]
    values = [floating.widen(lift.b, read_float(lift, o, i.modifiers[-1])) for o in narrow]
    values.append(lift.read(last, "f32"))
    operation = _OPERATIONS[i.opcode]
    lift.write(i.operands[0], floating.arithmetic(lift.b, operation, _result(i), *values))


@opcode(f"rcp.{_ROUNDING}[.ftz].f32", f"rcp.{_ROUNDING}[.ftz].f64")
def reciprocal(lift: Lift, i: Instruction) -> None:
    """An .ftz of f64 means nothing: ptxas makes the same code of both."""
    (a,) = _sources(lift, i)
    one = lift.b.constant(a.type, 1.0)
    how = _result(i)
    if a.type == F64:
        how = replace(how, flush=False)
    lift.write(i.operands[0], floating.arithmetic(lift.b, "fdiv", how, one, a))


@opcode(
    "{abs,neg}[.ftz].f32",
    "{abs,neg}.f64",
    f"{{abs,neg}}[.ftz].{_HALF}",
    f"{{abs,neg}}.{_BRAIN}",
)
def sign(lift: Lift, i: Instruction) -> None:
    (a,) = _sources(lift, i)
    emit = floating.absolute if i.opcode == "abs" else floating.negate
    write_float(lift, i.operands[0], floating.finish(lift.b, emit(lift.b, a), _result(i)))


@opcode(
    "{min,max}[.ftz][.NaN][.xorsign.abs].f32",
    "{min,max}[.ftz][.NaN].abs.f32",
    "{min,max}.f64",
    f"{{min,max}}[.ftz][.NaN][.xorsign.abs].{_HALF}",
    f"{{min,max}}[.NaN][.xorsign.abs].{_BRAIN}",
)
def choose(lift: Lift, i: Instruction) -> None:
    words = i.modifiers
    how = Choice("ftz" in words, "NaN" in words, "abs" in words, "xorsign" in words)
    result = floating.choose(lift.b, i.opcode == "max", how, *_sources(lift, i))
    write_float(lift, i.operands[0], result)


@opcode("copysign.{f32,f64}")
def copy_sign(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], floating.copy_sign(lift.b, *_sources(lift, i)))


@opcode("testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}")
def test_property(lift: Lift, i: Instruction) -> None:
    (a,) = _sources(lift, i)
    lift.write(i.operands[0], floating.is_class(lift.b, a, i.modifiers[0]))


# Approximations


def _function(lift: Lift, i: Instruction, function) -> None:
    """A function of an f32 for operands of any type, rounded to theirs."""
    b, how = lift.b, _result(i)
    values = _sources(lift, i)
    kind = values[0].type.scalar
    if how.flush:
        values = [floating.flush(b, v) for v in values]
    result = function(b, *(floating.widen(b, v) for v in values))
    result = floating.to_float(b, result, kind)
    write_float(lift, i.operands[0], floating.finish(b, result, how))


_FUNCTIONS = {
    "rcp": approximate.reciprocal,
    "sqrt": approximate.square_root,
    "rsqrt": approximate.reciprocal_root,
    "lg2": approximate.lg2,
    "ex2": approximate.ex2,
    "sin": approximate.sin,
    "cos": approximate.cos,
    "tanh": approximate.tanh,
}


@opcode(
    "{rcp,sqrt,rsqrt,lg2,ex2,sin,cos}.approx[.ftz].f32",
    "rsqrt.approx.f64",
    "tanh.approx.{f32,f16,f16x2,bf16,bf16x2}",
    f"ex2.approx.{_HALF}",
    f"ex2.approx.ftz.{_BRAIN}",
)
def approximate_function(lift: Lift, i: Instruction) -> None:
    _function(lift, i, _FUNCTIONS[i.opcode])


@opcode("div.approx[.ftz].f32")
def divide_approximately(lift: Lift, i: Instruction) -> None:
    _function(lift, i, approximate.quotient)


@opcode("div.full[.ftz].f32")
def divide_fully(lift: Lift, i: Instruction) -> None:
    values = _sources(lift, i)
    lift.write(i.operands[0], floating.arithmetic(lift.b, "fdiv", _result(i), *values))


@opcode("{rcp,rsqrt}.approx.ftz.f64")
def coarse_function(lift: Lift, i: Instruction) -> None:
    (a,) = _sources(lift, i)
    result = approximate.coarse(lift.b, _FUNCTIONS[i.opcode], a)
    lift.write(i.operands[0], result)
