"""Barriers of a CTA: which one lanes arrive at, and how many threads it waits for."""

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I64, Value
from lockstep.isa.instruction import NAMED_BARRIERS, THREADS_SHIFT


def tell(b: LaneBuilder, number: Value, threads: Value) -> Value:
    """Tell the scheduler each lane's number and count of threads (i32; 0 = all of the CTA).

    Returns the word (i64) that a stream keeps in place of an address.
    """
    words = [resize(b, value, I64) for value in (number, threads)]
    for k, word in enumerate(words):
        b.store_vector(b.offset(b.scratch(), 8 * b.lanes * k), word)
    within = b.ir.and_(words[0].ir, b.constant(I64, NAMED_BARRIERS - 1).ir)
    count = b.ir.shl(words[1].ir, b.constant(I64, THREADS_SHIFT).ir)
    return Value(b.ir.or_(within, count), I64)
