"""What a cubin says of a kernel, and the code that it may execute."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lockstep.errors import LockstepError
from lockstep.frontend.exec.program import Ending
from lockstep.frontend.exec.sass import instructions  # noqa: F401 (fills the table)
from lockstep.frontend.exec.sass.graph import address_in, ending_of, jumps_anywhere
from lockstep.frontend.exec.sass.image import Section
from lockstep.frontend.exec.sass.opcodes import problem
from lockstep.frontend.exec.sass.statics import static_code
from lockstep.isa.sass.binary import Line
from lockstep.isa.sass.encoding.decoder import disassemble
from lockstep.isa.sass.encoding.instruction import Instruction


class Decoded(NamedTuple):
    """A section's instructions, with their records and the texts that these refer to."""

    code: list[Instruction]
    records: np.ndarray
    texts: list[str]


@dataclass(frozen=True)
class Source:
    """What a cubin says of a kernel, as far as execution needs it.

    ``sections`` is the code that it may execute, as :class:`image.Image` places it; ``entries``
    the pcs of functions whose address may be taken, ``jumps`` the words of jump tables. ``lines``
    are the rows of the line table by section. ``decoded`` is filled with the functions that other
    kernels of the module may share.
    """

    name: str
    architecture: int
    sections: tuple[Section, ...]
    file: str = ""
    entries: tuple[int, ...] = ()
    jumps: tuple[int, ...] = ()
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    local_bytes: int = 0
    shared_bytes: int = 0
    reserved_shared: int = 0
    decoded: dict[Section, Decoded] = field(default_factory=dict, compare=False)

    def reached(self) -> list[tuple[Section, Decoded]]:
        """The sections that a kernel may enter, decoded, in the order of their places.

        Where a register tells what is called, it may be any.
        """
        own, *others = self.sections
        if not own.code:
            raise LockstepError(f"{self.file}: kernel {self.name} has no code")
        todo, reached = [own], {}
        while todo:
            section = todo.pop()
            if section in reached:
                continue
            reached[section] = self._decoded(section)
            code = reached[section].code
            if any(i.mnemonic == "CALL" and jumps_anywhere(i) for i in code):
                todo += others
            pcs = {address_in(i) for i in code if ending_of(i) == Ending.BRANCH} - {None}
            todo += [s for s in others if any(map(s.holds, pcs))]
        return [(s, reached[s]) for s in self.sections if s in reached]

    def _decoded(self, section: Section) -> Decoded:
        known = self.decoded.get(section)
        if known is not None:
            return known
        code = self._decode(section)
        found = Decoded(code, *static_code(code, self.architecture))
        if section is not self.sections[0]:
            self.decoded[section] = found
        return found

    def _decode(self, section: Section) -> list[Instruction]:
        code = list(disassemble(section.code, self.architecture, section.start))
        for instruction in code:
            reason = problem(instruction)
            if reason:
                raise self.refuse(instruction, reason)
        return code

    def refuse(self, instruction: Instruction, reason: str) -> LockstepError:
        """The error for an instruction that cannot be executed."""
        place = f"{self.file}: kernel {self.name}, {instruction.pc:#06x}"
        return LockstepError(f"{place} {instruction.text()}: {reason}")
