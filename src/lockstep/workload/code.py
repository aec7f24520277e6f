"""Code: the static instructions of a kernel, and where they come from."""

from collections.abc import Sequence

import msgspec
import numpy as np

from lockstep.isa.instruction import INSTRUCTION


class Origin(msgspec.Struct, frozen=True):
    """Where a static instruction comes from."""

    function: str
    line: int  # of the text; 0 = there is none: machine code
    sources: tuple[tuple[str, int], ...] = ()  # file and line that it was made from, inlined first
    text: str = ""  # machine code in full


class Code:
    """The static instructions of a kernel; a trace reader may append while CTAs are served.

    ``instructions`` is an array of :data:`~lockstep.isa.instruction.INSTRUCTION`; records never
    move or change once appended. ``texts`` holds the display text of each opcode, ``origins`` of
    each instruction where it comes from, if that is known, and ``file`` the name of their text.
    """

    def __init__(
        self,
        instructions: np.ndarray | None = None,
        texts: list[str] | None = None,
        origins: Sequence[Origin] = (),
        file: str = "",
    ):
        self._records = np.zeros(64, INSTRUCTION)
        self._count = 0
        self.texts: list[str] = list(texts or ())
        self._origins, self.file = origins, file
        if instructions is not None:
            self.extend(instructions)

    def __len__(self) -> int:
        return self._count

    def text_of(self, static: int) -> str:
        """An instruction in full, where that is known, else its opcode."""
        full = self._origins[static].text if static < len(self._origins) else ""
        return full or self.texts[int(self._records[static]["text"])]

    def places_of(self, static: int) -> tuple[tuple[str, int], ...]:
        """File and line of an instruction, then of the calls that it was inlined at; or none."""
        if static >= len(self._origins):
            return ()
        origin = self._origins[static]
        return origin.sources or (((self.file, origin.line),) if origin.line else ())

    @property
    def instructions(self) -> np.ndarray:
        """A view of the records so far."""
        return self._records[: self._count]

    def extend(self, records: np.ndarray) -> int:
        """Append records; returns the static index of the first."""
        first, need = self._count, self._count + len(records)
        if need > len(self._records):
            grown = np.zeros(max(need, 2 * len(self._records)), INSTRUCTION)
            grown[:first] = self._records[:first]
            self._records = grown
        self._records[first:need] = records
        self._count = need
        return first
