"""Predicates: logic, and moves between them and registers."""

from collections.abc import Iterable

from lockstep.execution.lanes import bits as lane_bits
from lockstep.execution.lanes.integer import negative
from lockstep.execution.lanes.types import I32, PRED, Value
from lockstep.execution.sass.integer import predicate_operands
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Operand, Register


@opcode("PLOP3.LUT", "UPLOP3.LUT")
def predicate_logic(lift: Lift, i: Instruction) -> None:
    """Sources may be sign bits of words, too."""
    results, _ = predicate_operands(i)
    sources = [o for o in i.operands[i.results :] if not isinstance(o, Immediate)]
    tables = [o.value for o in i.operands[i.results :] if isinstance(o, Immediate)]
    x, y, z = (_truth(lift, o) for o in sources)
    values = [lane_bits.lookup(lift.b, x, y, z, table) for table in tables]
    for target, value in zip(results, values, strict=False):
        lift.write_predicate(target, value)


def _truth(lift: Lift, operand: Operand) -> Value:
    """A predicate, or whether a word is negative."""
    if isinstance(operand, Register) and operand.file in ("P", "UP"):
        return lift.predicate(operand)
    return negative(lift.b, lift.read(operand))


ALL_PREDICATES = 0x7F  # which an instruction without a mask means


def _first_bit(words: Iterable[str]) -> int:
    """Of the byte that is meant."""
    return next((8 * int(word[1]) for word in words if word in ("B1", "B2", "B3")), 0)


@opcode("P2R", "UP2UR", modifiers="PR B1 B2 B3")
def predicates_to_register(lift: Lift, i: Instruction) -> None:
    """Pack P0 to P6 into the bits of a byte that the mask selects; others are the register's."""
    b, shift = lift.b, _first_bit(i.modifiers)
    source = next(
        o for o in i.operands[i.results :] if isinstance(o, Register) and o.file in ("R", "UR")
    )
    mask = next(o for o in i.operands if isinstance(o, Immediate)).value
    file = "UP" if i.mnemonic.startswith("U") else "P"
    packed = b.constant(I32, 0)
    for k in range(7):
        if mask >> k & 1:
            held = lift.current(f"{file}{k}", PRED)
            place = b.constant(I32, 1 << (k + shift))
            bit = b.ir.select(held.ir, place.ir, b.constant(I32, 0).ir)
            packed = Value(b.ir.or_(packed.ir, bit), I32)
    kept = b.ir.and_(lift.read(source).ir, b.constant(I32, ~(mask << shift)).ir)
    lift.write(i.operands[0], Value(b.ir.or_(packed.ir, kept), I32))


@opcode("R2P", "UR2UP", modifiers="PR B1 B2 B3")
def register_to_predicates(lift: Lift, i: Instruction) -> None:
    b = lift.b
    source = next(o for o in i.operands if isinstance(o, Register) and o.file in ("R", "UR"))
    masks = [o.value for o in i.operands if isinstance(o, Immediate)]
    mask = masks[0] if masks else ALL_PREDICATES
    file = "UP" if i.mnemonic.startswith("U") else "P"
    shift = _first_bit((*i.modifiers, source.part))
    value = lift.read(source)
    for k in range(7):
        if mask >> k & 1:
            bit = b.ir.and_(value.ir, b.constant(I32, 1 << (k + shift)).ir)
            held = b.ir.icmp_unsigned("!=", bit, b.constant(I32, 0).ir)
            lift.assign(f"{file}{k}", Value(held, PRED))
