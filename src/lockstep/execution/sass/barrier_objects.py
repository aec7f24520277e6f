"""Barriers that are objects in shared memory: words of 64 bits, as machine code knows them.

What code computes with is seen in what ptxas makes of mbarrier instructions. Up to sm_89: bits 32
to 62 are 2^31 less the arrivals that the phase misses, bit 63 is its parity, bits 0 to 29 are 2^30
less the arrivals of a phase. From sm_90 on: bits 43 to 62 are 2^20 less the missing ones, bit 63 is
the parity, bits 1 to 20 are 2^20 less those of a phase; the bytes on their way, which code does not
look at, are in bits 21 to 41 here.
"""

from llvmlite import ir

from lockstep.execution.lanes import memory
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.barrier_objects import change_words, told
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.integer import negate, resize, shift_left
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import address_of
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Name, Operand

OBJECT_BYTES = 8
PARITY = 63
AMPERE_ARRIVAL = 1 << 32
ARRIVAL, BYTE, TOTAL = 43, 21, 1  # lowest bits of sm_90's fields
_ARRIVALS, _BYTES, _TOTAL = (
    (1 << bits) - 1 << low for bits, low in ((20, ARRIVAL), (21, BYTE), (20, TOTAL))
)
_DROPS = 1  # in a change: later phases need so many fewer arrivals, too


def ampere(emit: ir.IRBuilder, old: ir.Value, more: ir.Value) -> ir.Value:
    """A word of sm_80 after arrivals."""
    word = emit.add(old, more)
    missing = emit.and_(word, ir.Constant(WORD, (1 << 31) - 1 << 32))
    over = emit.icmp_unsigned("==", missing, ir.Constant(WORD, 0))
    again = emit.add(word, emit.shl(emit.add(word, ir.Constant(WORD, 1 << 30)), _word(32)))
    return emit.select(over, again, word)


def hopper(emit: ir.IRBuilder, old: ir.Value, more: ir.Value) -> ir.Value:
    """A word of sm_90 after arrivals and bytes, each in its field of ``more``."""

    def field(mask: int, change: ir.Value) -> ir.Value:
        return emit.and_(emit.add(emit.and_(old, _word(mask)), change), _word(mask))

    arrived, came = (emit.and_(more, _word(mask)) for mask in (_ARRIVALS, _BYTES))
    drops = emit.trunc(more, ir.IntType(1))
    dropped = emit.select(drops, emit.lshr(arrived, _word(ARRIVAL - TOTAL)), _word(0))
    total = field(_TOTAL, dropped)
    missing, coming = field(_ARRIVALS, arrived), field(_BYTES, came)
    parity = emit.and_(old, _word(1 << PARITY))
    over = emit.icmp_unsigned("==", emit.or_(missing, coming), _word(0))
    again = emit.or_(emit.shl(total, _word(ARRIVAL - TOTAL)), emit.xor(parity, _word(1 << PARITY)))
    same = emit.or_(emit.or_(missing, coming), parity)
    return emit.or_(total, emit.select(over, again, same))


def _word(value: int) -> ir.Constant:
    return ir.Constant(WORD, value)


def complete_bytes(b: LaneBuilder, access: Access, count: Value) -> None:
    """Announced bytes (i32) have come."""
    wide = shift_left(b, resize(b, count, I64), BYTE)
    came = b.ir.and_(b.ir.neg(wide.ir), b.constant(I64, _BYTES).ir)
    change_words(b, access, came, hopper)


def _object(lift: Lift, i: Instruction, record: bool = True) -> Access:
    """The word; what gives none back may be in another CTA of the cluster."""
    operand = next(o for o in i.operands if isinstance(o, Address))
    window = Window.CLUSTER if "RED" in i.modifiers and lift.clustered else Window.SHARED
    address = address_of(lift, operand, window)
    if record:
        lift.record_addresses(address)
    return Access(window, address, OBJECT_BYTES, lift.site(window))


def _field(lift: Lift, count: Value, low: int) -> ir.Value:
    """A count (i32) in a field of a change."""
    return shift_left(lift.b, resize(lift.b, count, I64), low).ir


@opcode("ATOMS.ARRIVE", modifiers="64")
def arrive_by_atomic(lift: Lift, i: Instruction) -> None:
    change = lift.b.constant(I64, AMPERE_ARRIVAL).ir
    lift.write(i.operands[0], change_words(lift.b, _object(lift, i), change, ampere))


@opcode("ARRIVES.LDGSTSBAR", modifiers="64 ARVCNT TRANSCNT")
def arrive_after_copies(lift: Lift, i: Instruction) -> None:
    """The copies are complete already: an arrival, or a byte that stood for them has come."""
    change, step = AMPERE_ARRIVAL, ampere
    if "ARVCNT" in i.modifiers:
        change, step = 1 << ARRIVAL, hopper
    elif "TRANSCNT" in i.modifiers:
        change, step = -1 << BYTE & _BYTES, hopper
    change_words(lift.b, _object(lift, i), lift.b.constant(I64, change).ir, step)


@opcode("SYNCS.EXCH", modifiers="64")
def initialise(lift: Lift, i: Instruction) -> None:
    """A word of the uniform registers."""
    target, _, source = i.operands
    if not target.is_zero:
        raise lift.refuse("the word before is not supported")
    memory.store(lift.b, _object(lift, i), [lift.join(lift.words(source, 2))])


@opcode("SYNCS.CCTL", modifiers="IV")
def invalidate(lift: Lift, i: Instruction) -> None:
    """The memory may be used for something else."""
    _object(lift, i)


@opcode("SYNCS.ARRIVE", modifiers="TRANS64 RED TMASK OPTOUT A1T0 A0T1 A0TR A0TX ART0")
def arrive(lift: Lift, i: Instruction) -> None:
    """Arrivals and bytes: none, one, or as R, a register, says; X: these have come. Else A1TR.

    TMASK gives a mask of the lanes that arrived together, with whose counts code corrects the one
    word before them all. Here they arrive one after the other, and the mask is empty.
    """
    b = lift.b
    given = lift.read(i.operands[-1])
    counts = {"0": b.constant(I32, 0), "1": b.constant(I32, 1), "R": given, "X": negate(b, given)}
    action = next((m for m in i.modifiers if m[:1] == "A" and m[2:3] == "T"), "A1TR")
    change = b.ir.or_(
        _field(lift, counts[action[1]], ARRIVAL),
        b.ir.and_(_field(lift, counts[action[3]], BYTE), b.constant(I64, _BYTES).ir),
    )
    if "OPTOUT" in i.modifiers:
        change = b.ir.or_(change, b.constant(I64, _DROPS).ir)
    before = change_words(b, _object(lift, i), change, hopper)
    if "TMASK" in i.modifiers:
        before = Value(b.ir.and_(before.ir, b.constant(I64, -1 << 32).ir), I64)
    lift.write(i.operands[0], before)


@opcode("SYNCS.PHASECHK", modifiers="TRANS64 TRYWAIT")
def has_completed(lift: Lift, i: Instruction) -> None:
    """Whether the phase is over whose parity is in bit 31 of a register; nobody waits here."""
    b, place = lift.b, _object(lift, i, record=False)
    word = memory.load(b, place, I64)[0]
    now = resize(b, Value(b.ir.lshr(word.ir, b.constant(I64, 32).ir), I64), I32)
    other = b.ir.xor(now.ir, lift.read(i.operands[-1]).ir)
    over = Value(b.ir.icmp_signed("<", other, b.constant(I32, 0).ir), PRED)
    lift.write_predicate(i.operands[0], over)
    if lift.stream is not None:
        lift.stream.addresses(lift.number, told(b, place, over), waits=True)


@opcode("RPCMOV.32")
def move_pair(lift: Lift, i: Instruction) -> None:
    """Between a general register and a half of Rpc, a pair of registers of its own."""
    target, source = i.operands
    value = lift.current(_half(source), I32) if isinstance(source, Name) else lift.read(source)
    if isinstance(target, Name):
        lift.assign(_half(target), value)
    else:
        lift.write(target, value)


def _half(operand: Operand) -> str:
    return "RPC1" if operand.word.endswith("HI") else "RPC0"
