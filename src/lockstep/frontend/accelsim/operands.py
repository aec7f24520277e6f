"""The head of an instruction line, from an instruction record: the way back from ``sass.lift``.

A record has lost the zero registers that a trace names, and they shift the meaning of the
operands after them (the third source of IMAD.WIDE is a pair). So they are put back where lifting
the text gives the record again.
"""

from collections.abc import Iterator
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
)

MOST_ZEROS = 3  # zero registers among the sources of one instruction
_CONTROL = ("stall", "yields", "write_barrier", "read_barrier", "wait_mask", "reuse")
_FIELDS = tuple(f for f in INSTRUCTION.names if f not in _CONTROL and f != "text")
_OPERATION = ("pc", "op", "space", "width", "cache", "immediate", "threads")
_Numbers = list[int | None]


def operand_words(record: np.void, text: str, architecture: int) -> str:
    """``count registers opcode count registers`` of a record; control bits are not expressed.

    Where the record's own opcode does not say what it is, as those of PTX, one of SASS does. Such
    a record may have operands that machine code lacks, vectors in scattered registers: then the
    first registers stand for them.
    """
    for opcode in (text, *sass.spellings(record)):
        for destinations, sources in _candidates(record):
            if _lifts_to(record, opcode, destinations, sources, architecture):
                return f"{_words(destinations)} {opcode} {_words(sources)}"
    if not sass.is_known(text, architecture):
        for opcode in sass.spellings(record):
            destinations, sources = _first_registers(record)
            if _lifts_to(record, opcode, destinations, sources, architecture, _OPERATION):
                return f"{_words(destinations)} {opcode} {_words(sources)}"
    raise WorkloadError(
        f"the instruction at pc {record['pc']:#x} ({text}) has no form in an Accel-Sim trace"
    )


def _candidates(record: np.void) -> Iterator[tuple[_Numbers, _Numbers]]:
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


def _first_registers(record: np.void) -> tuple[_Numbers, _Numbers]:
    """One destination, and two sources at most: an address, and data."""
    destinations = [int(n) for n in record["destination"][: min(record["destinations"], 1)]]
    return destinations, [int(n) for n in record["source"][: min(record["sources"], 2)]]


def _lifts_to(
    record: np.void,
    text: str,
    destinations: _Numbers,
    sources: _Numbers,
    architecture: int,
    fields: tuple[str, ...] = _FIELDS,
) -> bool:
    """Whether an instruction's text says what the ``fields`` of a record say."""
    try:
        lifted, name = sass.lift(
            text,
            destinations,
            sources,
            pc=int(record["pc"]),
            addressed=bool(record["width"] > 0),
            immediate=sass.traced_immediate(record),
            architecture=architecture,
        )
    except LockstepError:
        return False
    return name == text and all(np.array_equal(lifted[0][f], record[f]) for f in fields)


def _words(numbers: _Numbers) -> str:
    return " ".join([str(len(numbers)), *map(register_name, numbers)])


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
