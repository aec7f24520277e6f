"""From readable SASS, as disassemblers print it, to an instruction record.

``@!P0 LDG.E.128 R4, [R2+0x10]``, optionally after scheduling control bits in the notation
``B01----:R0:W1:Y:S04``: barriers waited for, read barrier set, write barrier set, yield, stall.
"""

import re

import msgspec
import numpy as np

from lockstep.errors import LockstepError
from lockstep.isa.instruction import (
    CONSTANT_BANK,
    NO_BARRIER,
    NO_CONSTANT,
    SLOTS,
    OpClass,
    Space,
    constant_place,
)
from lockstep.isa.sass.lifting import lift, slot_shifts
from lockstep.isa.sass.opcodes import MEMORY_CLASSES, decode
from lockstep.isa.sass.registers import register_number

_CONTROL = re.compile(
    r"\[?B(?P<wait>[0-5-]{1,6}):R(?P<read>[0-5-])-?:W(?P<write>[0-5-])-?:(?P<yields>[Y-])"
    r":S(?P<stall>\d{1,2})\]?\s+"
)
_INSTRUCTION = re.compile(
    r"(?:@(?P<not>!?)(?P<guard>U?P(?:\d|T))\s+)?(?P<opcode>[A-Z][\w.]*)(?:\s+(?P<operands>.*))?"
)
_REGISTER = re.compile(r"\b(?:U?R(?:Z|\d{1,3})|U?P(?:T|\d))\b")
_PREDICATE = re.compile(r"!?U?P(?:T|\d)")
_CONSTANT = re.compile(r"\bc\[(0x[0-9a-fA-F]+|\d+)\]\[(-?0x[0-9a-fA-F]+|\d+)\]")
_INDEXED = re.compile(r"c\[0x0*[1-9a-f][0-9a-f]*\]\[R\d")  # a place for each lane, not parameters
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+)")
_NO_RESULT = frozenset(
    {OpClass.STORE, OpClass.REDUCTION, OpClass.ASYNC_COPY, OpClass.BULK_COPY, OpClass.BRANCH}
    | {OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE}
    | {OpClass.EXIT, OpClass.BARRIER, OpClass.ARRIVE, OpClass.FENCE, OpClass.COMMIT_GROUP}
    | {OpClass.LOCAL_FENCE}
    | {OpClass.WAIT_GROUP, OpClass.NOP, OpClass.CACHE_CONTROL, OpClass.SLEEP}
    | {OpClass.CONVERGENCE, OpClass.SURFACE, OpClass.CLUSTER_ARRIVE, OpClass.CLUSTER_WAIT}
)
_PREDICATE_RESULTS = {"VOTE": 1, "VOTEU": 1, "FCHK": 1, "PSET": 0, "CSET": 0}
_MOST_PREDICATE_RESULTS = 2


class _Operands(msgspec.Struct):
    """The registers of an instruction, sorted by their part in it."""

    destinations: list[int | None] = []
    sources: list[int | None] = []
    uniform: list[int | None] = []  # of addresses and descriptors


def parse(
    text: str, architecture: int, pc: int = 0, addressed: bool | None = None
) -> tuple[np.ndarray, str]:
    """One instruction record (an array of one) and its opcode, from a line of SASS.

    Predicates and uniform registers become dependences too. Unless ``addressed`` says it, an
    instruction with a memory operand has addresses (``width`` > 0), but of constants
    only where a register has a part in them, outside of the bank of parameters. Raises
    :class:`LockstepError` for a line that is no instruction.
    """
    control = _CONTROL.match(text)
    body = text[control.end() :] if control else text
    match = _INSTRUCTION.fullmatch(body.strip().removesuffix(";").strip())
    if not match:
        raise LockstepError(f"cannot read {text[:60]!r} as SASS; expected OPCODE operand, ...")
    operands = _split(match["operands"] or "")
    opcode = match["opcode"]
    found = _sort(opcode, operands, architecture)
    if addressed is None:
        addressed = _is_addressed(opcode, operands, architecture)
    immediate, threads = _immediates(opcode, operands, architecture)
    guard = [register_number(match["guard"])] if match["guard"] else []
    record, _ = lift(
        opcode,
        found.destinations or [None],  # never guess a result among the sources
        found.sources + found.uniform + guard,
        pc=pc,
        addressed=addressed,
        immediate=immediate,
        architecture=architecture,
        threads=threads,
    )
    if control:
        set_control(record[0], **_control_bits(control))
    kept = _reuse(operands, len(found.destinations))
    record[0]["reuse"] = kept | slot_shifts(found.sources)
    if record[0]["space"] != Space.CONSTANT:  # a load has its address elsewhere
        record[0]["constant"] = _constant(match["operands"] or "")
    return record, opcode


def set_control(
    row: np.void,
    *,
    stall: int = 1,
    yields: int = 0,
    write_barrier: int = NO_BARRIER,
    read_barrier: int = NO_BARRIER,
    wait_mask: int = 0,
) -> None:
    """Write the scheduling control bits of one record."""
    row["stall"], row["yields"], row["wait_mask"] = stall, yields, wait_mask
    row["write_barrier"], row["read_barrier"] = write_barrier, read_barrier


def _control_bits(match: re.Match) -> dict[str, int]:
    stall = int(match["stall"])
    if stall > 15:
        raise LockstepError(f"stall count {stall}; expected 0 to 15")
    return {
        "stall": stall,
        "yields": int(match["yields"] == "Y"),
        "write_barrier": _barrier(match["write"]),
        "read_barrier": _barrier(match["read"]),
        "wait_mask": sum(1 << int(b) for b in set(match["wait"]) - {"-"}),
    }


def _barrier(text: str) -> int:
    return NO_BARRIER if text == "-" else int(text)


def _split(text: str) -> list[str]:
    """Operands at the commas outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def _sort(opcode: str, operands: list[str], architecture: int) -> _Operands:
    found = _Operands()
    results = _result_count(opcode, operands, architecture)
    found.destinations = [_first(operand) for operand in operands[:results]]
    for operand in operands[results:]:
        if "[" in operand:
            _sort_address(operand, found)
        else:
            found.sources.append(_first(operand))
    return found


def _sort_address(operand: str, found: _Operands) -> None:
    """The vector register of an address keeps its position; uniform ones only carry dependences."""
    names = _REGISTER.findall(operand)
    vector = [n for n in names if n.startswith("R")]
    found.uniform += [register_number(n) for n in names if n.startswith("U")]
    found.sources.append(register_number(vector[0]) if vector else None)


def _first(operand: str) -> int | None:
    """The register of an operand such as -R2.reuse; None for constants and special registers."""
    match = _REGISTER.search(operand)
    return register_number(match[0]) if match else None


def _result_count(opcode: str, operands: list[str], architecture: int) -> int:
    """How many leading operands are results: a register, predicates beside it, or predicates."""
    base = opcode.partition(".")[0]
    op = decode(opcode, architecture, False).op
    if not operands or "[" in operands[0] or (op in _NO_RESULT and base != "BMOV"):
        return 0
    if not _REGISTER.match(operands[0]):
        return 0
    predicates = [bool(_PREDICATE.fullmatch(operand)) for operand in operands]
    limit = _PREDICATE_RESULTS.get(base, _MOST_PREDICATE_RESULTS)
    if not predicates[0]:
        return 1 + _leading(predicates[1:], limit)
    if base.endswith(("SETP", "SETP2", "PLOP3")) or base == "FCHK":
        return _leading(predicates, limit)
    return min(2, len(operands))  # SHFL PT, R5; ATOMG PT, R2; LOP3.LUT P0, RZ


def _leading(flags: list[bool], limit: int) -> int:
    count = 0
    while count < min(limit, len(flags)) and flags[count]:
        count += 1
    return count


def _is_addressed(opcode: str, operands: list[str], architecture: int) -> bool:
    op = decode(opcode, architecture, False).op
    brackets = any("[" in o and not o.startswith(("c[", "-c[", "cx[")) for o in operands)
    return (brackets or any(map(_INDEXED.match, operands))) and op in MEMORY_CLASSES


def _immediates(opcode: str, operands: list[str], architecture: int) -> tuple[int, int]:
    """The first immediate and, of a barrier, its thread count; 0 where a register holds it."""
    numbers = [int(o, 0) if _INTEGER.fullmatch(o) else None for o in operands]
    if decode(opcode, architecture, False).op not in (OpClass.BARRIER, OpClass.ARRIVE):
        return next((n for n in numbers if n is not None), 0), 0
    number, threads = (n or 0 for n in [*numbers, None, None][:2])
    return number, threads


def _constant(operands: str) -> int:
    """The place of an operand in constant memory; NO_CONSTANT where a register has a part in it."""
    match = _CONSTANT.search(operands)
    if match is None:
        return NO_CONSTANT
    offset = int(match[2], 0)  # the disassembler prints those of the upper half with a sign
    return constant_place(int(match[1], 0), offset + CONSTANT_BANK if offset < 0 else offset)


def _reuse(operands: list[str], results: int) -> int:
    flags = [".reuse" in o for o in operands[results : results + SLOTS]]
    return sum(1 << slot for slot, flag in enumerate(flags) if flag)
