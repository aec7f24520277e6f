"""Barriers of a CTA: the scheduler counts; here is what it is told."""

from lockstep.execution.lanes import barrier_numbers
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import result_word
from lockstep.isa.instruction import NAMED_BARRIERS, THREADS_SHIFT
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Operand, Register


def numbers(i: Instruction) -> list[Operand]:
    """The operands with the number of the barrier and the count of threads, if there is one."""
    return [o for o in i.operands if not (isinstance(o, Register) and o.file in ("P", "UP"))]


def are_computed(i: Instruction) -> bool:
    """Whether a register holds the number of the barrier or the count of threads."""
    return not all(isinstance(o, Immediate) for o in numbers(i))


@opcode("BAR", modifiers="SYNC ARV RED SYNCALL DEFER_BLOCKING POPC AND OR")
def barrier(lift: Lift, i: Instruction) -> None:
    b = lift.b
    told = barrier_numbers.tell(b, *_number_and_threads(lift, numbers(i)))
    if lift.stream is not None and are_computed(i):
        lift.stream.addresses(lift.number, told)
    for operand in i.operands:
        if isinstance(operand, Register) and operand.file == "P":
            bits = b.ir.zext(b.bits_of(lift.predicate(operand)), WORD)
            b.set_field("barrier_lanes", bits)


def _number_and_threads(lift: Lift, operands: list[Operand]) -> tuple[Value, Value]:
    """Of two registers, which are one, the lower half is the number and the upper one the count.

    So seen in code that ptxas makes of barriers with both computed.
    """
    b = lift.b
    number, threads, *_ = [lift.read(o) for o in operands] + [b.constant(I32, 0)] * 2
    if len(operands) == 2 and all(isinstance(o, Register) for o in operands):
        threads = Value(b.ir.lshr(number.ir, b.constant(I32, THREADS_SHIFT).ir), I32)
        number = Value(b.ir.and_(number.ir, b.constant(I32, NAMED_BARRIERS - 1).ir), I32)
    return number, threads


@opcode("B2R", modifiers="RESULT")
def barrier_result(lift: Lift, i: Instruction) -> None:
    """What the last reduction over a barrier gave: a count, and whether any or all were true."""
    b = lift.b
    word = resize(b, b.load_vector(b.offset(b.scratch(), 8 * result_word(b.lanes)), I64), I32)
    for target in (o for o in i.operands[: i.results] if o.file == "R"):
        lift.write(target, Value(b.ir.lshr(word.ir, b.constant(I32, 2).ir), I32))
    asked = 2 if "OR" in _last_reduction(lift) else 1
    for target in (o for o in i.operands[: i.results] if o.file == "P"):
        bit = b.ir.and_(word.ir, b.constant(I32, asked).ir)
        held = b.ir.icmp_unsigned("!=", bit, b.constant(I32, 0).ir)
        lift.write_predicate(target, Value(held, PRED))


def _last_reduction(lift: Lift) -> tuple[str, ...]:
    """Modifiers of the reducing barrier before this instruction."""
    before = reversed(lift.code[: lift.number])
    return next((i.modifiers for i in before if i.mnemonic == "BAR" and "RED" in i.modifiers), ())
