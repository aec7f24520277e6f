"""Which instructions of machine code depend on time."""

from collections.abc import Iterator, Sequence

import numpy as np

from lockstep.execution.programs import steps
from lockstep.execution.sass.graph import Block
from lockstep.execution.sass.opcodes import polls
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Name, Operand, Register

_CLOCKS = ("SR_CLOCK", "SR_GLOBALTIMER")


def steps_of(code: Sequence[Instruction], records: np.ndarray) -> set[int]:
    """Static indices at which blocks begin that are executed one by one.

    ``records``: the INSTRUCTION records of the code.
    """
    widths = records["width"].tolist()
    return steps.steps(
        (width > 0 or polls(i) or _reads_clock(i), i.guard is not None)
        for i, width in zip(code, widths, strict=True)
    )


def clock_reads(code: Sequence[Instruction], block: Block) -> Iterator[int]:
    """Static indices of the clock readings of a block whose results may be used."""
    for k in range(block.first, block.end):
        if _reads_clock(code[k]):
            results = _registers(code[k].operands[:1])
            following = code[k + 1 : block.end]
            later = {r for i in following for r in _registers(i.operands[i.results :])}
            if results & (later | block.live_out):
                yield k


def _registers(operands: Sequence[Operand]) -> set[str]:
    """The registers of operands; each may be the first of a pair."""
    named = [o for o in operands if isinstance(o, Register) and not o.is_zero]
    return {f"{o.file}{o.number + k}" for o in named for k in range(2)}


def depends_on_time(i: Instruction) -> bool:
    """Whether an instruction reads a clock or sleeps."""
    return i.mnemonic == "NANOSLEEP" or _reads_clock(i)


def _reads_clock(i: Instruction) -> bool:
    return any(isinstance(o, Name) and o.word.startswith(_CLOCKS) for o in i.operands)
