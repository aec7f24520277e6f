"""Arithmetic: which operands an instruction has, what becomes of its results."""

from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.lift import FIRST_VECTOR, LITERAL, VECTOR_FORMATS, Lift
from lockstep.execution.gcn.modifiers import result_of, source_of
from lockstep.execution.gcn.registers import EXEC, VCC
from lockstep.execution.gcn.scalar import READS_DESTINATION, SCALAR
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.types import PRED, Type, Value
from lockstep.isa.gcn.instruction import Format, Instruction

_THREE = ("src0", "src1", "src2")
_WITH_LITERAL = {  # where it stands among the sources
    "v_madmk_f32": ("src0", LITERAL, "vsrc1"),
    "v_madak_f32": ("src0", "vsrc1", LITERAL),
}
_LONG = (Format.VOP3A, Format.VOP3B)
_SHORT = range(256, 320)  # opcodes there of what has an encoding for two operands, too


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
    """Behind the operands may come what the destination held, then a set of lanes."""
    kinds, values = operation.sources, []
    for place, (number, kind) in enumerate(zip(_named(i), kinds)):
        values.append(_source(lift, i, place, number, kind))
    for kind in kinds[len(values) :]:
        if kind == PRED:
            values.append(lift.mask(i.fields["src2"] if _is_lengthened(i) else VCC))
        else:
            values.append(lift.vector(FIRST_VECTOR + i.fields["vdst"], kind))
    first, *others = _results(operation, operation(lift.b, *values))
    if first.type == PRED:
        _write_compared(lift, i, first)
        return
    if i.format in _LONG:
        first = result_of(lift.b, first, i.fields.get("omod", 0), bool(i.fields.get("clamp", 0)))
    for carry in others:
        lift.set_mask(i.fields.get("sdst", VCC), carry)
    lift.set_vgpr(i.fields["vdst"], first)


def _is_lengthened(i: Instruction) -> bool:
    """Whether an instruction of two operands is in the encoding for three."""
    return i.format in _LONG and i.opcode in _SHORT


def _named(i: Instruction) -> list[int]:
    """The numbers of the operands that the assembler has, in its order."""
    f = i.fields
    if i.name in _WITH_LITERAL:
        names = _WITH_LITERAL[i.name]
    elif i.format in _LONG:
        names = _THREE[:2] if _is_lengthened(i) else _THREE
    else:
        names = ("src0",) if i.format == Format.VOP1 else ("src0", "vsrc1")
    return [FIRST_VECTOR + f[n] if n == "vsrc1" else f.get(n, n) for n in names]


def _source(lift: Lift, i: Instruction, place: int, number: int, kind: Type) -> Value:
    if kind == PRED:
        return lift.mask(number)
    value = lift.vector(number, kind)
    if i.format not in _LONG:
        return value
    absolute, negative = (bool(i.fields.get(n, 0) >> place & 1) for n in ("abs", "neg"))
    return source_of(lift.b, value, absolute, negative) if absolute or negative else value


def _write_compared(lift: Lift, i: Instruction, holds: Value) -> None:
    """Lanes for which a comparison holds: VCC or the pair that is named, and EXEC of cmpx."""
    lift.set_mask(i.fields["vdst"] if i.format in _LONG else VCC, holds)
    if i.name.startswith("v_cmpx"):
        lift.set_mask(EXEC, holds)


# Scalars


def _scalar(lift: Lift, i: Instruction, operation: Arithmetic) -> None:
    """Behind the operands may come SCC."""
    values = [
        _scalar_source(lift, i, field, kind)
        for field, kind in zip(_scalars_named(i), operation.sources)
    ]
    if len(values) < len(operation.sources):
        values.append(lift.registers.scc)
    for found in _results(operation, operation(lift.s, *values)):
        if found.type == PRED:
            lift.set_scc(found)
        else:
            lift.set_sgpr(i.fields["sdst"], found)


def _scalars_named(i: Instruction) -> list[str]:
    """The fields of the operands: what the destination held, then those of the assembler."""
    before = ["sdst"] if i.name in READS_DESTINATION else []
    if i.format == Format.SOPK:
        return [*before, "simm16"]
    return [*before, "ssrc0"] if i.format == Format.SOP1 else [*before, "ssrc0", "ssrc1"]


def _scalar_source(lift: Lift, i: Instruction, field: str, kind: Type) -> Value:
    if field == "simm16":
        return lift.s.constant(kind, i.fields[field])
    return lift.scalar(i.fields[field], kind)
