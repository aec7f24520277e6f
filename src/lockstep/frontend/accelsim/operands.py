"""The head of an instruction line, from an instruction record: the way back from ``sass.lift``.

A record has lost the zero registers that a trace names, and they shift the meaning of the
operands after them (the third source of IMAD.WIDE is a pair). So they are put back where lifting
the text gives the record again.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from lockstep.errors import LockstepError, WorkloadError
from lockstep.isa import sass
from lockstep.isa.instruction import (
    INSTRUCTION,
    MAX_SOURCES,
    PREDICATES,
    UNIFORM_PREDICATES,
    UNIFORM_REGISTERS,
    CachePolicy,
    OpClass,
)

_ORDERED = int(CachePolicy.ACQUIRE | CachePolicy.RELEASE)
MOST_ZEROS = 3  # zero registers among the sources of one instruction
_CONTROL = ("stall", "yields", "write_barrier", "read_barrier", "wait_mask", "reuse")
_UNSAID = ("text", "constant", *_CONTROL)  # what a trace does not say, or not in a record's way
_FIELDS = tuple(f for f in INSTRUCTION.names or () if f not in _UNSAID)
_OPERATION = ("pc", "op", "space", "width", "cache", "immediate", "threads")
_PLACES = (*_OPERATION, "destinations", "destination", "sources", "source")
_Numbers = list[int | None]
_Operands = tuple[_Numbers, _Numbers]  # destinations, sources


def operand_words(record: np.void, text: str, architecture: int) -> str:
    """``count registers opcode count registers`` of a record.

    Neither its control bits nor the place of a constant operand are expressed, nor what an access
    orders: machine code has fences beside it.

    Where the record's own opcode does not say what it is, as those of PTX, one of SASS does. Such
    a record may have operands that machine code lacks, as vectors in scattered registers: then
    arithmetic lists all registers one by one. Where they are too many, and in memory accesses,
    where the place of an operand says what it is, the first registers stand for all. So do those
    of a record that names fewer registers than its opcode has, as those of proxies.
    """
    record = record.copy()
    record["cache"] &= ~_ORDERED
    if record["op"] == OpClass.LOCAL_FENCE:
        record["cache"] &= ~CachePolicy.OF_CTA  # its class says so
    for opcode in (text, *sass.spellings(record)):
        for operands in _candidates(record):
            if _agree(_lifted(record, opcode, operands, architecture), record, _FIELDS):
                return _words(opcode, operands)
    if not sass.is_known(text, architecture):
        return _shortened(record, text, sass.spellings(record), architecture)
    if not _names_fewer(record, text, architecture):
        raise _no_form(record, text)
    return _shortened(record, text, (text, *sass.spellings(record)), architecture)


def vector_registers(record: np.void) -> np.void:
    """The record with its vector registers alone, as tracers up to version 5 see it."""
    own = record.copy()
    for kind in ("destination", "source"):
        listed = zip(record[kind][: record[kind + "s"]], record[kind + "_count"])
        ranges = [(first, count) for first, count in listed if first < PREDICATES]
        own[kind], own[kind + "_count"], own[kind + "s"] = 0, 0, len(ranges)
        for k, (first, count) in enumerate(ranges):
            own[kind][k], own[kind + "_count"][k] = first, count
    return own


def _names_fewer(record: np.void, text: str, architecture: int) -> bool:
    """Whether the opcode has all operands of the record, some of more registers."""
    firsts = next(_candidates(record))
    lifted = _lifted(record, text, firsts, architecture)
    if lifted is None or not _agree(lifted, record, _PLACES):
        return False
    counts = "destination_count", "source_count"
    return all(bool((lifted[kind] >= record[kind]).all()) for kind in counts)


def _shortened(record: np.void, text: str, opcodes: Iterable[str], architecture: int) -> str:
    """The words of a record whose operands no opcode has, with one of some opcodes."""
    opcodes = tuple(opcodes)
    listed = _registers(record, "destination"), _registers(record, "source")
    for opcode in opcodes:
        lifted = _lifted(record, opcode, listed, architecture)
        same = record["width"] == 0 and _agree(lifted, record, _OPERATION)
        if same and (_registers(lifted, "destination"), _registers(lifted, "source")) == listed:
            return _words(opcode, listed)
    first = _first_registers(record)
    for opcode in opcodes:
        if _agree(_lifted(record, opcode, first, architecture), record, _OPERATION):
            return _words(opcode, first)
    raise _no_form(record, text)


def _no_form(record: np.void, text: str) -> WorkloadError:
    return WorkloadError(
        f"the instruction at pc {record['pc']:#x} ({text}) has no form in an Accel-Sim trace"
    )


def _registers(record: np.void, kind: str) -> _Numbers:
    """All registers of the destinations or sources, one by one."""
    ranges = zip(record[kind][: record[kind + "s"]], record[kind + "_count"])
    return [int(first) + k for first, count in ranges for k in range(count)]


def _candidates(record: np.void) -> Iterator[_Operands]:
    """Operand lists that may stand for the record, the plain one first."""
    destinations: _Numbers = [int(n) for n in record["destination"][: record["destinations"]]]
    sources: _Numbers = [int(n) for n in record["source"][: record["sources"]]]
    for zeros in range(min(MOST_ZEROS, MAX_SOURCES - len(sources)) + 1):
        for places in combinations(range(len(sources) + zeros), zeros):
            padded = list(sources)
            for place in places:
                padded.insert(place, None)
            yield destinations, padded
            if not destinations:
                yield [None], padded


def _first_registers(record: np.void) -> _Operands:
    """One destination, and two sources at most: an address, and data."""
    destinations: _Numbers = [
        int(n) for n in record["destination"][: min(record["destinations"], 1)]
    ]
    return destinations, [int(n) for n in record["source"][: min(record["sources"], 2)]]


def _lifted(record: np.void, text: str, operands: _Operands, architecture: int) -> np.void | None:
    """The record that an instruction's text is lifted to, or None if it has no meaning."""
    try:
        lifted, name = sass.lift(
            text,
            *operands,
            pc=int(record["pc"]),
            addressed=bool(record["width"] > 0),
            immediate=sass.traced_immediate(record),
            architecture=architecture,
        )
    except LockstepError:
        return None
    return lifted[0] if name == text else None


def _agree(lifted: np.void | None, record: np.void, fields: tuple[str, ...]) -> bool:
    return lifted is not None and all(np.array_equal(lifted[f], record[f]) for f in fields)


def _words(opcode: str, operands: _Operands) -> str:
    """``count registers opcode count registers``."""
    lists = (" ".join([str(len(o)), *map(register_name, o)]) for o in operands)
    return f" {opcode} ".join(lists)


def register_name(number: int | None) -> str:
    """The name that ``sass.register_number`` maps to ``number``."""
    if number is None:
        return "R255"
    for prefix, first in (
        ("UP", UNIFORM_PREDICATES),
        ("UR", UNIFORM_REGISTERS),
        ("P", PREDICATES),
    ):
        if number >= first:
            return f"{prefix}{number - first}"
    return f"R{number}"
