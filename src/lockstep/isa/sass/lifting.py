"""From one instruction of a trace (opcode and first registers) to an instruction record."""

from collections.abc import Sequence

import numpy as np

from lockstep.errors import LockstepError
from lockstep.isa.instruction import (
    MAX_DESTINATIONS,
    MAX_SOURCES,
    NAMED_BARRIERS,
    REGISTER_COUNT,
    SLOT_BITS,
    SLOT_SHIFT,
    SLOTS,
    UNIFORM_REGISTERS,
    OpClass,
    blank,
    thread_count_problem,
)
from lockstep.isa.sass.opcodes import Opcode, decode
from lockstep.isa.sass.registers import ZERO, last_register
from lockstep.isa.sass.widths import group_columns

_BARRIERS = (OpClass.BARRIER, OpClass.ARRIVE)
LAST_SLOT = 2  # of the operands of arithmetic
_ADDRESS_FIRST = {OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION}
Range = tuple[int, int]


def lift(
    opcode: str,
    destinations: Sequence[int | None],
    sources: Sequence[int | None],
    *,
    pc: int,
    addressed: bool,
    immediate: int,
    architecture: int,
    threads: int = 0,
) -> tuple[np.ndarray, str]:
    """One instruction record (an array of one) and the opcode's text; the caller sets ``text``.

    Registers are first registers in the unified numbering, in the order of the disassembly; None
    or 255 stands for a zero register and keeps the positions of those after it. ``addressed``
    says whether the instruction comes with addresses; only then is ``width`` more than 0.
    ``threads`` is the thread count of a barrier. Traces keep one immediate, the last, which
    of a barrier may be the thread count: then the barrier's number is unknown and becomes 0.
    """
    meaning = decode(opcode, architecture, addressed)
    results, operands = list(destinations), list(sources)
    if meaning.hidden_destination and not results and len(operands) >= meaning.hidden_destination:
        results.append(operands.pop(0))
    record = blank()
    row = record[0]
    row["pc"], row["op"], row["space"] = pc, meaning.op, meaning.space
    row["width"] = meaning.width if addressed else 0
    row["cache"] = meaning.cache
    row["immediate"], row["threads"] = _immediates(meaning, immediate, threads)
    if meaning.op == OpClass.GMMA:
        row["immediate"] = group_columns(opcode)
    _store(row, "destination", MAX_DESTINATIONS, _destination_ranges(meaning, results))
    _store(row, "source", MAX_SOURCES, _source_ranges(meaning, operands, results))
    return record, opcode


def slot_shifts(sources: Sequence[int | None]) -> int:
    """The bits of ``reuse`` for operands of which some are no registers: None, or the zero one.

    Arithmetic has three slots: a pair of halves is printed as two operands and takes one.
    """
    slots = [slot for slot, number in enumerate(sources[:SLOTS]) if number not in (None, ZERO)]
    slots = [min(slot, max(k, LAST_SLOT)) for k, slot in enumerate(slots)]
    shifts = ((slot - k) << SLOT_SHIFT + SLOT_BITS * k for k, slot in enumerate(slots))
    return sum(shifts)


def _immediates(meaning: Opcode, immediate: int, threads: int) -> tuple[int, int]:
    """The immediate of a record and its thread count."""
    if meaning.op not in _BARRIERS:
        return (immediate + 2**63) % 2**64 - 2**63, 0  # 64 bits, as the record's field
    if problem := thread_count_problem(threads):
        raise LockstepError(problem)
    if 0 <= immediate < NAMED_BARRIERS:
        return immediate, threads
    return 0, threads or (0 if thread_count_problem(immediate) else immediate)


def traced_immediate(row: np.void) -> int:
    """The immediate from which ``lift`` makes this record, as far as one is enough."""
    return int(row["threads"] or row["immediate"])


def _destination_ranges(meaning: Opcode, results: list[int | None]) -> list[Range]:
    return [r for r in (_range(n, meaning.destination) for n in results) if r]


def _source_ranges(meaning: Opcode, operands: list, results: list) -> list[Range]:
    widths = _positional(meaning, operands)
    if meaning.accumulates:
        widths = [meaning.destination if n in results else w for n, w in zip(operands, widths)]
    return [r for r in map(_range, operands, widths) if r]


def _positional(meaning: Opcode, operands: list[int | None]) -> list[int]:
    """The width of each source; in memory instructions the first vector register is the address."""
    table = meaning.sources
    if meaning.op not in _ADDRESS_FIRST:
        return [table[min(i, len(table) - 1)] for i in range(len(operands))]
    widths, seen = [], 0
    for number in operands:
        uniform = number is not None and number > ZERO
        widths.append(table[0] if uniform else table[min(seen, len(table) - 1)])
        seen += not uniform
    return widths


def _range(number: int | None, width: int) -> Range | None:
    """A register range inside its file, or None for a zero register. Predicates stand alone."""
    if number is None or number == ZERO:
        return None
    if not 0 <= number < REGISTER_COUNT:
        raise LockstepError(f"register number {number}; expected 0 to {REGISTER_COUNT - 1}")
    if ZERO < number < UNIFORM_REGISTERS:
        return number, 1
    return number, min(width, last_register(number) - number + 1)


def _store(row: np.void, kind: str, limit: int, ranges: list[Range]) -> None:
    if len(ranges) > limit:
        raise LockstepError(f"{len(ranges)} {kind} registers; at most {limit} are possible")
    row[kind + "s"] = len(ranges)
    for i, (first, count) in enumerate(ranges):
        row[kind][i], row[kind + "_count"][i] = first, count
