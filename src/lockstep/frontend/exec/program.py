"""A translated kernel: basic blocks as machine code, and what the scheduler knows of them."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np


class Ending(IntEnum):
    """What the lanes that a block's function returns do at its end; the others go to `next`."""

    JUMP = 0  # all lanes go to `next`, whatever it returns
    BRANCH = 1  # go to `taken`
    EXIT = 2
    INDIRECT = 3  # each lane goes to the block in its scratch word
    BARRIER = 4  # wait for the warps of the CTA, then `next`
    ARRIVE = 5  # count as arrived at the barrier, then `next`
    HOST = 6  # leave to Python for a service, then `next`


EXITED = -1  # as a target: the lanes end

BLOCK = np.dtype(
    [
        ("first", "i8"),  # static index of its first instruction
        ("count", "i8"),  # instructions
        ("ending", "i8"),  # Ending
        ("taken", "i8"),
        ("next", "i8"),
        ("spins", "i8"),  # 1 = part of a loop that reads what others may write
        ("converges", "i8"),  # 1 = starts with a warp-wide operation that names its members
        ("members", "i8"),  # the member mask, if it is a constant
        ("members_slot", "i8"),  # else the byte offset of the register that holds it; -1 = none
        ("stream_words", "i8"),  # what one execution appends to the stream
    ]
)
"""One basic block. Blocks are numbered so that a smaller number should run first."""


@dataclass
class Item:
    """What a block appends to the stream for an instruction, after its two words of header.

    ``guarded``: one word, the lanes that execute it. ``addressed``: one word a lane.
    """

    instruction: int  # static index
    word: int  # where, from the start of the block's entry
    guarded: bool
    addressed: bool


@dataclass
class Program:
    """A kernel ready to run; everything but ``objects`` is independent of the host."""

    name: str
    blocks: np.ndarray  # BLOCK
    functions: list[str]  # symbol of each block in the object code
    register_bytes: int  # of the slots of one warp
    local_bytes: int  # of one thread
    shared_bytes: int  # static, of one CTA
    sites: list[int]  # static index of the instruction of each memory site
    symbols: list[str]  # names in the table of symbol addresses
    items: list[list[Item]] = field(default_factory=list)  # for each block
    code: np.ndarray | None = None  # INSTRUCTION records, for the timing model
    texts: list[str] = field(default_factory=list)
    registers: int = 0  # of a thread, for occupancy
    entry: int = 0
    cleared_bytes: int = 0  # of the slots: those that a program may read before it writes them
    targets: np.ndarray | None = None  # int64, block of each static index; for machine code
    objects: bytes = b""
