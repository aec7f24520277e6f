"""Which instructions of machine code depend on time."""

from collections.abc import Sequence

import numpy as np

from lockstep.frontend.exec import steps
from lockstep.frontend.exec.sass.opcodes import polls
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Name

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


def _reads_clock(i: Instruction) -> bool:
    return any(isinstance(o, Name) and o.word.startswith(_CLOCKS) for o in i.operands)
