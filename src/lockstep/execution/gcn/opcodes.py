"""The table of instructions that are more than arithmetic: mnemonic, lifting function."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lockstep.isa.gcn.instruction import Instruction

if TYPE_CHECKING:
    from lockstep.execution.gcn.lift import Lift

TABLE: dict[str, Callable[["Lift", Instruction], None]] = {}


def opcode(*mnemonics: str):
    """Register a lifting function for mnemonics."""

    def register(lift):
        for mnemonic in mnemonics:
            TABLE[mnemonic] = lift
        return lift

    return register
