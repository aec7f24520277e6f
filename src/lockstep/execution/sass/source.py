"""What a cubin says of a kernel, and the code that it may execute."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.programs.services import SERVICES
from lockstep.execution.sass.image import Section
from lockstep.isa.sass.binary import Line
from lockstep.isa.sass.encoding.instruction import Instruction

# Shared memory of Ampere and Ada ends with what CUDA reserves for itself, that of Hopper begins
# with it. Bank 0 says where that ends and where a place of it is, as ptxas 13.0 reads
# %reserved_smem_offset_end and _1 there.
RESERVED_LAST = range(80, 90)
_AMPERE, _HOPPER = (0x120, 0x124), (0x68, 0x6C)


class Decoded(NamedTuple):
    """A section's instructions, with their records and the texts that these refer to."""

    code: list[Instruction]
    records: np.ndarray
    texts: list[str]


@dataclass(frozen=True)
class Source:
    """What a cubin says of a kernel, as far as execution needs it.

    ``sections`` is the code that it may execute, as :class:`image.Image` places it; ``entries``
    the pcs of functions whose address may be taken, ``jumps`` the words of jump tables,
    ``services`` the numbers of those that it may ask the host for. ``lines`` are the rows of the
    line table by section. ``for_debuggers``: the code was not optimised. ``decoded`` is filled
    with the functions that other kernels of the module may share.
    """

    name: str
    architecture: int
    sections: tuple[Section, ...]
    file: str = ""
    entries: tuple[int, ...] = ()
    jumps: tuple[int, ...] = ()
    services: tuple[int, ...] = tuple(range(len(SERVICES)))
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    local_bytes: int = 0
    shared_bytes: int = 0
    reserved_shared: int = 0
    for_debuggers: bool = False
    decoded: dict[Section, Decoded] = field(default_factory=dict, compare=False)

    def refuse(self, instruction: Instruction, reason: str) -> LockstepError:
        """The error for an instruction that cannot be executed."""
        place = f"{self.file}: kernel {self.name}, {instruction.pc:#06x}"
        return LockstepError(f"{place} {instruction.text()}: {reason}")


def reserved_places(architecture: int) -> tuple[int, int] | None:
    """Offsets in bank 0: of the end of the shared memory that is reserved, of a place of it."""
    if architecture in RESERVED_LAST:
        return _AMPERE
    return _HOPPER if architecture >= RESERVED_LAST.stop else None
