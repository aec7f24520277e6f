"""The table of SASS opcodes that can be executed: mnemonic, modifiers, lifting function.

An instruction with a modifier that its entry does not name is refused when the kernel is loaded,
with its name and address.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from lockstep.isa.sass.encoding.instruction import Instruction

if TYPE_CHECKING:
    from lockstep.execution.sass.lift import Lift


class SassOpcode(msgspec.Struct, frozen=True):
    """How one mnemonic is lifted, and the modifiers that it may have."""

    lift: Callable[["Lift", Instruction], None]
    modifiers: frozenset[str]


TABLE: dict[str, SassOpcode] = {}


def opcode(*mnemonics: str, modifiers: str = ""):
    """Register a lifting function for mnemonics with any of the modifiers (words)."""

    def register(lift):
        for mnemonic in mnemonics:
            own = mnemonic.split(".")[1:]
            TABLE[mnemonic] = SassOpcode(lift, frozenset(modifiers.split() + own))
        return lift

    return register


def name_of(instruction: Instruction) -> str:
    """The name of an instruction in the table: mnemonic and first modifier, else the mnemonic."""
    named = ".".join((instruction.mnemonic, *instruction.modifiers[:1]))
    return named if named in TABLE else instruction.mnemonic


def find(instruction: Instruction) -> SassOpcode | None:
    """The entry of an instruction."""
    return TABLE.get(name_of(instruction))


def problem(instruction: Instruction) -> str:
    """Why an instruction cannot be executed; empty if it can."""
    entry = find(instruction)
    if entry is None:
        return f"{instruction.opcode} is not supported"
    unknown = [m for m in instruction.modifiers if m and m not in entry.modifiers]
    unknown += [p for o in instruction.operands if "???" in (p := getattr(o, "part", ""))]
    return f"{instruction.opcode}: .{unknown[0]} is not supported" if unknown else ""


def asks_barriers(code: Sequence[Instruction]) -> bool:
    """Whether code reads the words of barrier objects itself, by plain loads: up to sm_89."""
    return any(i.mnemonic == "ATOMS" and "ARRIVE" in i.modifiers for i in code)


def polls(instruction: Instruction) -> bool:
    """Whether an instruction may read what other threads write."""
    mnemonic = instruction.mnemonic
    if mnemonic.startswith(("ATOM", "SYNCS", "RED")) and mnemonic != "REDUX":
        return True
    strong = {"STRONG", "VOLATILE"} & set(instruction.modifiers)
    return mnemonic in ("LD", "LDG", "LDS") and bool(strong)
