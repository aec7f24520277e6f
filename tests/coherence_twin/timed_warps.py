"""What warps of litmus tests in time execute: lines of a test, pauses, and what is beside them."""

import random
from typing import NamedTuple

import numpy as np

from lockstep.execution.ptx import classes
from lockstep.isa.instruction import OpClass, Space
from lockstep.isa.ptx.syntax import Instruction, Position
from lockstep.isa.sass.opcodes import decode

FIRST_REGISTER = 8
ONE, ALL = np.int64(1), np.int64((1 << 32) - 1)  # lanes of warps of a test, and of those beside
VOLTA = 70
ACCESSES = ("LDG", "STG", "ATOMG", "RED")


def classed(opcode: str) -> tuple[OpClass, int]:
    """Class and policy of an opcode of machine code (in capitals), or of PTX."""
    base, *words = opcode.split(".")
    if base.isupper():
        meaning = decode(opcode, VOLTA, base in ACCESSES)
        return meaning.op, int(meaning.cache)
    if base == "bar":
        return OpClass.BARRIER, 0
    if base in ("ld", "st"):
        if words and words[0] not in ("acquire", "release", "volatile"):
            words.insert(0, "relaxed")
        words += ["global", "u32"]
    elif base == "atom":
        words += ["global", "exch", "b32"]
    elif base == "fence" and len(words) == 1:
        words.insert(0, "sc")
    i = Instruction(base, tuple(words), (), Position(0, 0))
    return classes.class_of(i), classes.policy_of(i)


class Effect(NamedTuple):
    """What an instruction of a test writes, and the register that it reads into, if any."""

    value: int
    found: str


class Warp:
    """What a warp executes; ``effects``: of its instructions, those that are the test's."""

    def __init__(self):
        self.records, self.addresses, self.mask = [], [], ONE
        self.effects: dict[int, Effect] = {}

    def add(self, op, address=None, writes=0, reads=0, **fields) -> int:
        """Append an instruction; its place. ``writes`` and ``reads`` are registers; 0 = none."""
        fields["op"] = op
        if address is not None:
            fields["width"], fields["space"] = 4, Space.GLOBAL
            self.addresses.append(address)
        if writes:
            fields |= {"destinations": 1, "destination": (writes,), "destination_count": (1,)}
        if reads:
            fields |= {"sources": 1, "source": (reads,), "source_count": (1,)}
        self.records.append(fields)
        return len(self.records) - 1

    def needs(self, register: int) -> None:
        """What follows waits for a register."""
        self.add(OpClass.INT32, reads=register)

    def pause(self, lot: random.Random, most: int) -> None:
        """Wait for up to so many nanoseconds."""
        if n := lot.randrange(most):
            self.add(OpClass.SLEEP, immediate=n)

    def perform(self, text: str, places: dict[str, int], registers: dict[str, int]) -> None:
        """One line of a test."""
        if text.startswith("need"):
            self.needs(registers[text.split()[1]])
            return
        opcode, *rest = text.split()
        op, cache = classed(opcode)
        if not rest:
            self.add(op, cache=cache)
            return
        value, found = (0, rest[1]) if op == OpClass.LOAD else (int(rest[1]), "".join(rest[2:]))
        writes = registers.setdefault(found, FIRST_REGISTER + len(registers)) if found else 0
        n = self.add(op, places[rest[0]], writes, cache=cache)
        self.effects[n] = Effect(value, found)


def idle() -> Warp:
    """A warp that ends at once."""
    warp = Warp()
    warp.add(OpClass.EXIT)
    return warp
