"""What the decoder returns: one instruction, with typed operands and scheduling control bits."""

import msgspec

from lockstep.isa.instruction import NO_BARRIER
from lockstep.isa.sass.encoding.operand import Operand, Register
from lockstep.isa.sass.opcodes import UNKNOWN

BYTES = 16  # of an instruction, Volta to Hopper


class Control(msgspec.Struct, frozen=True):
    """Scheduling control bits 105 to 125: what the compiler promises to the issue logic.

    Barriers are 0 to 5, or 7 for none; ``wait_mask`` and ``reuse`` have a bit for each barrier
    and each source slot. The encoding has the yield bit inverted: 0 asks for another warp next.
    """

    stall: int = 1
    yields: bool = False
    write_barrier: int = NO_BARRIER
    read_barrier: int = NO_BARRIER
    wait_mask: int = 0
    reuse: int = 0

    def text(self) -> str:
        """``B01----:R0:W1:Y:S04``, as ``lockstep.isa.sass.assembly.parse`` reads it."""
        wait = "".join(str(b) if self.wait_mask >> b & 1 else "-" for b in range(6))
        return (
            f"B{wait}:R{_barrier(self.read_barrier)}:W{_barrier(self.write_barrier)}"
            f":{'Y' if self.yields else '-'}:S{self.stall:02}"
        )


class Instruction(msgspec.Struct, frozen=True):
    """One decoded instruction.

    ``mnemonic`` is the base opcode, ``modifiers`` the words after its dots in the order of the
    disassembly. ``results`` is how many of the operands, from the first, are written. ``guard``
    is None where the instruction always runs. ``word`` is the encoding, 128 bits.
    """

    pc: int
    mnemonic: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    control: Control
    word: int
    results: int = 0

    @property
    def opcode(self) -> str:
        """Mnemonic and modifiers: ``LDG.E.128``."""
        return ".".join((self.mnemonic, *self.modifiers))

    @property
    def is_known(self) -> bool:
        """Whether the tables describe the instruction."""
        return self.mnemonic != UNKNOWN

    def text(self) -> str:
        """The instruction as the disassembler prints it, without control bits."""
        guard = f"@{self.guard.text()} " if self.guard is not None else ""
        operands = ", ".join([o.text() for o in self.operands])
        return f"{guard}{self.opcode} {operands}" if operands else guard + self.opcode


def _barrier(number: int) -> str:
    return "-" if number == NO_BARRIER else str(number)
