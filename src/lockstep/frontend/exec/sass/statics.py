"""The static instruction records of machine code, with the compiler's scheduling control bits."""

from collections.abc import Sequence

import numpy as np

from lockstep.frontend.exec.sass.texture import SAMPLERS, channels_of
from lockstep.isa.sass.encoding import Instruction, to_record


def static_code(code: Sequence[Instruction], architecture: int) -> tuple[np.ndarray, list[str]]:
    """INSTRUCTION records, one an instruction, and the display texts that they refer to."""
    numbers: dict[str, int] = {}
    records = []
    for instruction in code:
        record = to_record(instruction, architecture)
        if instruction.mnemonic in SAMPLERS:  # traces have no addresses of these; here they do
            record["width"] = 4 * channels_of(instruction).bit_count()
        record["text"] = numbers.setdefault(instruction.opcode, len(numbers))
        records.append(record)
    return np.concatenate(records), list(numbers)
