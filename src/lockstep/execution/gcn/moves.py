"""Moves between lanes and scalars, and between registers whose number M0 tells."""

from llvmlite import ir

from lockstep.execution.gcn.lift import FIRST_VECTOR, Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.gcn.registers import M0, WORD_BYTES
from lockstep.execution.lanes.scalars import first_lane
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.isa.gcn.instruction import Instruction

_FILE = 104  # scalar registers that an index may reach


@opcode("v_readfirstlane_b32")
def read_first_lane(lift: Lift, i: Instruction) -> None:
    """The value of the first lane of EXEC, of lane 0 if there is none."""
    b = lift.b
    everyone, b.active = b.active, lift.exec
    value = first_lane(b, lift.vector(i.fields["src0"], I32))
    b.active = everyone
    lift.set_sgpr(i.fields["vdst"], value)


@opcode("v_readlane_b32")
def read_lane(lift: Lift, i: Instruction) -> None:
    """The value of a lane, whether it is in EXEC or not."""
    value = lift.vector(i.fields["src0"], I32)
    lane = _lane(lift, i)
    lift.set_sgpr(i.fields["vdst"], Value(lift.b.ir.extract_element(value.ir, lane), I32))


@opcode("v_writelane_b32")
def write_lane(lift: Lift, i: Instruction) -> None:
    """A scalar into one lane, whether it is in EXEC or not."""
    value, number = lift.scalar(i.fields["src0"], I32), i.fields["vdst"]
    old = lift.registers.vector(number)
    new = lift.b.ir.insert_element(old.ir, value.ir, _lane(lift, i))
    lift.registers.set_vector(number, Value(new, I32), None)


def _lane(lift: Lift, i: Instruction) -> ir.Value:
    """The number of a lane, from a scalar operand."""
    number = i.fields["src1"] if "src1" in i.fields else i.fields["vsrc1"]
    lane = lift.scalar(number, I32).ir
    return lift.b.ir.and_(lane, ir.Constant(lane.type, lift.b.lanes - 1))


@opcode("v_movrels_b32", "v_movreld_b32", "v_movrelsd_b32")
def move_indexed(lift: Lift, i: Instruction) -> None:
    """M0 counts from the register of the source (s), of the result (d), or of both."""
    b, registers, count = lift.b, lift.registers, lift.source.vectors
    source, target = i.fields["src0"], i.fields["vdst"]
    index, which = registers.scalar(M0).ir, i.name.split("_")[1].removeprefix("movrel")
    if "s" in which:
        place = registers.place("v", source - FIRST_VECTOR, count, index)
        value = b.load_vector(place, I32)
    else:
        value = lift.vector(source, I32)
    if "d" not in which:
        lift.set_vgpr(target, value)
        return
    place = registers.place("v", target, count, index)
    b.store_vector(place, value, None if lift.whole else b.active)
    registers.forget("v", target, count)


@opcode("s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64")
def move_scalar_indexed(lift: Lift, i: Instruction) -> None:
    """The same of scalar registers, or pairs of them."""
    registers, kind = lift.registers, I64 if i.name.endswith("b64") else I32
    index = registers.scalar(M0).ir
    last = _FILE - kind.bytes // WORD_BYTES + 1
    if i.name.startswith("s_movrels"):
        place = registers.place("s", i.fields["ssrc0"], last, index)
        lift.set_sgpr(i.fields["sdst"], lift.s.load(place, kind))
        return
    value = lift.scalar(i.fields["ssrc0"], kind)
    place = registers.place("s", i.fields["sdst"], last, index)
    lift.s.store(place, value)
    registers.forget("s", i.fields["sdst"], _FILE)
