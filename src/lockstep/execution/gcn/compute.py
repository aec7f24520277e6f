"""Arithmetic: which operands an instruction has, what becomes of its results."""

from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.lift import FIRST_VECTOR, LITERAL, VECTOR_FORMATS, Lift
from lockstep.execution.gcn.modifiers import result_of, source_of
from lockstep.execution.gcn.registers import EXEC, VCC
from lockstep.execution.gcn.scalar import SCALAR
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.types import PRED, Type, Value
from lockstep.isa.gcn.instruction import Format, Instruction

_THREE = ("src0", "src1", "src2")
_WITH_LITERAL = {  # where it stands among the sources
    "v_madmk_f32": ("src0", LITERAL, "vsrc1"),
    "v_madak_f32": ("src0", "vsrc1", LITERAL),
}
_LONG = (Format.VOP3A, Format.VOP3B)


def compute(lift: Lift, i: Instruction) -> None:
    """Emit an instruction of the tables of arithmetic."""
    is_vector = i.format in VECTOR_FORMATS
    operation = (VECTOR if is_vector else SCALAR).get(i.name)
    if operation is None:
        raise lift.refuse(f"{i.name} is not supported")
    if is_vector:
        _vector(lift, i, operation)
    else:
        _scalar(lift, i, operation)


def _results(operation: Arithmetic, found: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    return found if len(operation.results) > 1 else (found,)


# Vectors


def _vector(lift: Lift, i: Instruction, operation: Arithmetic) -> None:
    """The last sources may be VCC, or what the destination held."""
    named = _named(i)
    kinds = operation.sources
    values = [_source(lift, i, k, n, kind) for k, (n, kind) in enumerate(zip(named, kinds))]
    for kind in kinds[len(values) :]:
        if kind == PRED:
            values.append(lift.mask(VCC))
        else:
            values.append(lift.vector(FIRST_VECTOR + i.fields["vdst"], kind))
    first, *others = _results(operation, operation(lift.b, *values))
    if first.type == PRED:
        _write_compared(lift, i, first)
        return
    if i.format in _LONG:
        first = result_of(lift.b, first, i.fields.get("omod", 0), i.fields.get("clamp", 0))
    for carry in others:
        lift.set_mask(i.fields.get("sdst", VCC), carry)
    lift.set_vgpr(i.fields["vdst"], first)


def _named(i: Instruction) -> list[int]:
    """The numbers of the operands that the encoding has, in the order of the assembler."""
    f = i.fields
    if i.name in _WITH_LITERAL:
        names = _WITH_LITERAL[i.name]
    elif i.format in _LONG:
        names = _THREE[:2] if i.name.startswith("v_mac") else _THREE
    elif i.format == Format.VOP1:
        names = ("src0",)
    else:
        names = ("src0", "vsrc1")
    return [FIRST_VECTOR + f[n] if n == "vsrc1" else f.get(n, n) for n in names]


def _source(lift: Lift, i: Instruction, place: int, number: int, kind: Type) -> Value:
    if kind == PRED:
        return lift.mask(number)
    value = lift.vector(number, kind)
    if i.format not in _LONG:
        return value
    absolute, negative = (i.fields.get(n, 0) >> place & 1 for n in ("abs", "neg"))
    return source_of(lift.b, value, absolute, negative)


def _write_compared(lift: Lift, i: Instruction, holds: Value) -> None:
    """Lanes for which a comparison holds: VCC or the pair that is named, and EXEC of cmpx."""
    target = i.fields["vdst"] if i.format in _LONG else VCC
    lift.set_mask(target, holds)
    if i.name.startswith("v_cmpx"):
        lift.set_mask(EXEC, holds)


# Scalars


def _scalar(lift: Lift, i: Instruction, operation: Arithmetic) -> None:
    """The last source may be SCC; what the destination held comes first where it is a source."""
    found = []
    for number, kind in zip(_scalars_named(i, len(operation.sources)), operation.sources):
        if kind == PRED:
            found.append(lift.registers.scc)
        elif number is None:
            value = i.fields["simm16"]
            found.append(lift.s.constant(kind, value - (value >> 15 << 16)))
        else:
            found.append(lift.scalar(number, kind))
    for result in _results(operation, operation(lift.s, *found)):
        if result.type == PRED:
            lift.set_scc(result)
        else:
            lift.set_sgpr(i.fields["sdst"], result)


def _scalars_named(i: Instruction, count: int) -> list[int | None]:
    """The numbers of its sources; None is the constant in the instruction."""
    f = i.fields
    if i.format == Format.SOPK:
        return [None] if count == 1 else [f["sdst"], None, 0]
    if i.format == Format.SOP1:
        return [f["ssrc0"], 0, 0]
    return [f["ssrc0"], f["ssrc1"], 0]
