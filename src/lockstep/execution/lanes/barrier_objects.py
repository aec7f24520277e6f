"""Barrier objects in memory (mbarrier): a 64-bit word of counters.

From bit 0: arrivals that the current phase still misses (20 bits), arrivals of a whole phase (20),
the phase's parity (1), and the bytes that were announced and have not come yet (23, signed).
"""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.lanes import races, written
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, element, lanes_in_order, outlined, spill
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.memory import load, store
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.state import WAITED

COUNT_BITS = 20
PHASE_BIT = 2 * COUNT_BITS
BYTES_SHIFT = PHASE_BIT + 1
COUNT_MASK = (1 << COUNT_BITS) - 1
Step = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
"""From a word and what changes it to the word after it."""


def initialise(b: LaneBuilder, access: Access, count: Value) -> None:
    """A barrier whose phases end after ``count`` (i32) arrivals."""
    wide = _wide(b, count)
    store(b, access, [Value(b.ir.or_(wide, _shifted(b, wide, COUNT_BITS)), I64)])


def arrive(
    b: LaneBuilder,
    access: Access,
    count: Value | None = None,
    expected_bytes: Value | None = None,
    drop: bool = False,
) -> Value:
    """Count arrivals (one, if None), after announcing bytes; the word as it was before.

    ``drop``: later phases need so many fewer.
    """
    one = b.constant(I64, 1).ir
    arrivals = one if count is None else _wide(b, count)
    zero = b.constant(I64, 0).ir
    announced = zero if expected_bytes is None else _bytes(b, expected_bytes)
    change = b.ir.sub(announced, arrivals)
    if drop:
        change = b.ir.sub(change, _shifted(b, arrivals, COUNT_BITS))
    return _change(b, access, change)


def expect_bytes(b: LaneBuilder, access: Access, count: Value) -> None:
    """Announce bytes (i32) that the current phase waits for."""
    _change(b, access, _bytes(b, count), settles=False)


def complete_bytes(b: LaneBuilder, access: Access, count: Value) -> None:
    """Announced bytes (i32) have come."""
    _change(b, access, b.ir.neg(_bytes(b, count)))


def has_completed(b: LaneBuilder, access: Access, parity: Value) -> Value:
    """Whether the phase of this parity (bit 0 of an i32) is over."""
    word = load(b, access, I64)[0]
    now = b.ir.trunc(_right(b, word.ir, PHASE_BIT), b.vector(PRED))
    return Value(b.ir.xor(now, b.ir.trunc(parity.ir, b.vector(PRED))), PRED)


def told(b: LaneBuilder, place: Access, over: Value) -> Value:
    """What the stream says of a wait: the address in shared memory, and whether it is over."""
    offset = b.ir.and_(resize(b, place.address, I64).ir, b.constant(I64, (1 << 32) - 1).ir)
    said = b.ir.or_(offset, b.constant(I64, WAITED).ir)
    return Value(b.ir.select(over.ir, said, offset), I64)


def parity_of(b: LaneBuilder, state: Value) -> Value:
    """The parity (i32) of the phase in which an arrival gave this state."""
    return Value(b.ir.trunc(_right(b, state.ir, PHASE_BIT), b.vector(I32)), I32)


def pending_count(b: LaneBuilder, state: Value) -> Value:
    """Arrivals (i32) that were missing before the one that gave this state."""
    count = b.ir.and_(state.ir, b.constant(I64, COUNT_MASK).ir)
    return Value(b.ir.trunc(count, b.vector(I32)), I32)


def _wide(b: LaneBuilder, count: Value) -> ir.Value:
    return b.ir.zext(count.ir, b.vector(I64))


def _shifted(b: LaneBuilder, vector: ir.Value, bits: int) -> ir.Value:
    return b.ir.shl(vector, b.constant(I64, bits).ir)


def _right(b: LaneBuilder, vector: ir.Value, bits: int) -> ir.Value:
    return b.ir.lshr(vector, b.constant(I64, bits).ir)


def _bytes(b: LaneBuilder, count: Value) -> ir.Value:
    return _shifted(b, _wide(b, count), BYTES_SHIFT)


def _change(b: LaneBuilder, access: Access, change: ir.Value, settles: bool = True) -> Value:
    """Add to the words; a phase ends when nothing is missing."""
    return change_words(b, access, change, _settled if settles else ir.IRBuilder.add)


def change_words(b: LaneBuilder, access: Access, change: ir.Value, step: Step) -> Value:
    """Change the words, lane by lane; each as it was before."""

    def emit(inner: LaneBuilder, address: ir.Value, site: ir.Value, add: ir.Value) -> Values:
        place = access.inside(address, site)
        checked = host_addresses(inner, place)
        written.read(inner, place, checked)
        races.arrive(inner, checked)
        host = spill(inner, checked.ir)
        changes, before = spill(inner, add), spill(inner, inner.constant(I64, 0).ir)
        with lanes_in_order(inner) as lane:
            place = inner.ir.load(element(inner, host, WORD, lane), typ=WORD)
            place = inner.ir.inttoptr(place, POINTER)
            old = inner.ir.load(place, typ=WORD, align=8)
            inner.ir.store(old, element(inner, before, WORD, lane))
            more = inner.ir.load(element(inner, changes, WORD, lane), typ=WORD)
            inner.ir.store(step(inner.ir, old, more), place, align=8)
        return [inner.load_vector(before, I64).ir]

    name = f"barrier_{step.__name__}_{access.name}"
    vector = b.vector(I64)
    arguments = [access.address.ir, access.site, change]
    return Value(outlined(b, name, [vector], arguments, emit)[0], I64)


def _settled(emit: ir.IRBuilder, old: ir.Value, more: ir.Value) -> ir.Value:
    """The sum; the next phase, if this one is over."""
    word = emit.add(old, more)
    waiting = ir.Constant(WORD, -1 << BYTES_SHIFT | COUNT_MASK)
    over = emit.icmp_unsigned("==", emit.and_(word, waiting), ir.Constant(WORD, 0))
    count = emit.and_(emit.lshr(word, ir.Constant(WORD, COUNT_BITS)), ir.Constant(WORD, COUNT_MASK))
    again = emit.or_(emit.xor(word, ir.Constant(WORD, 1 << PHASE_BIT)), count)
    return emit.select(over, again, word)
