"""Arithmetic: the operands that an instruction has, and where its results go."""

from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.float_mode import mode_of
from lockstep.execution.gcn.lift import FIRST_VECTOR, LITERAL, VECTOR_FORMATS, Lift
from lockstep.execution.gcn.modifiers import result_of, source_of
from lockstep.execution.gcn.registers import EXEC, VCC
from lockstep.execution.gcn.scalar import SCALAR
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import PRED, Type, Value
from lockstep.isa.gcn.instruction import Format, Instruction
from lockstep.isa.gcn.operations import OPERATIONS, OperandField, Operation

_SIGNED = {"src0": 0, "src1": 1, "src2": 2}  # sources of VOP3, by their bits of abs and neg
_REGISTERS = ("vdst", "vsrc1")  # fields of 8 bits that number vector registers
_TO_NEAREST = ("v_div_fmas_f32", "v_div_fmas_f64", "v_ldexp_f64")  # in all float modes
_LONG = (Format.VOP3A, Format.VOP3B)


def compute(lift: Lift, i: Instruction) -> None:
    """Emit an instruction of the tables of arithmetic."""
    is_vector = i.format in VECTOR_FORMATS
    arithmetic = (VECTOR if is_vector else SCALAR).get(i.name)
    if arithmetic is None:
        raise lift.refuse(f"{i.name} is not supported")
    operation = OPERATIONS[i.format, i.opcode]
    if i.name in _TO_NEAREST:
        rounding = mode_of(lift.b).rounding(arithmetic.results[0])
        if rounding != Rounding.NEAREST:
            raise lift.refuse(
                f"it rounds to nearest here, but the float mode of the kernel says {rounding.name}"
            )
    if is_vector:
        _vector(lift, i, operation, arithmetic)
    else:
        _scalar(lift, i, operation, arithmetic)


def _results(found: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    return found if isinstance(found, tuple) else (found,)


def _vector(lift: Lift, i: Instruction, operation: Operation, arithmetic: Arithmetic) -> None:
    values = [
        _source(lift, i, operand, kind)
        for operand, kind in zip(operation.sources, arithmetic.sources)
    ]
    if "vcc" in operation.reads:
        values.append(lift.mask(VCC))
    found = _results(arithmetic(lift.b, *values))
    for operand, value in zip(operation.results, found, strict=True):
        if value.type == PRED:
            lift.set_mask(VCC if operand.field == "vcc" else i.fields[operand.field], value)
        else:
            if i.format in _LONG:
                omod, clamp = i.fields["omod"], bool(i.fields.get("clamp", 0))
                value = result_of(lift.b, value, omod, clamp)
            lift.set_vgpr(i.fields["vdst"], value)
    if "exec" in operation.writes:
        lift.set_mask(EXEC, found[0])


def _source(lift: Lift, i: Instruction, operand: OperandField, kind: Type) -> Value:
    """A source in every lane, its sign changed as VOP3 says."""
    if operand.field == "vcc":
        return lift.mask(VCC)
    if operand.field == "literal":
        return lift.vector(LITERAL, kind)
    number = i.fields[operand.field]
    if kind == PRED:
        return lift.mask(number)
    if operand.field in _REGISTERS:
        number += FIRST_VECTOR
    value = lift.vector(number, kind)
    if i.format in _LONG and operand.field in _SIGNED:
        place = _SIGNED[operand.field]
        absolute, negative = (bool(i.fields.get(f, 0) >> place & 1) for f in ("abs", "neg"))
        if absolute or negative:
            return source_of(lift.b, value, absolute, negative)
    return value


def _scalar(lift: Lift, i: Instruction, operation: Operation, arithmetic: Arithmetic) -> None:
    values = []
    for operand, kind in zip(operation.sources, arithmetic.sources):
        number = i.fields[operand.field]
        constant = operand.field == "simm16"
        values.append(lift.s.constant(kind, number) if constant else lift.scalar(number, kind))
    if "scc" in operation.reads:
        values.append(lift.registers.scc)
    for found in _results(arithmetic(lift.s, *values)):
        if found.type == PRED:
            lift.set_scc(found)
        else:
            lift.set_sgpr(i.fields["sdst"], found)
