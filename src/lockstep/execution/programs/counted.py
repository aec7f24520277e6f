"""Which accesses are counted, and where the counts of a program's instructions are added up."""

from typing import NamedTuple

import numpy as np

from lockstep.execution.state import Memory
from lockstep.isa.instruction import OpClass, Space

LOADS, STORES, ATOMICS = 0, 1, 2
ROWS = {
    OpClass.LOAD: LOADS, OpClass.ASYNC_COPY: LOADS, OpClass.STORE: STORES,
    OpClass.ATOMIC: ATOMICS, OpClass.REDUCTION: ATOMICS,
}  # fmt: skip
_MEMORIES = {
    Space.GLOBAL: Memory.GLOBAL, Space.SHARED: Memory.SHARED, Space.LOCAL: Memory.LOCAL,
    Space.GENERIC: None,
}  # fmt: skip


def memory_of(op: OpClass, space: Space, width: int) -> tuple[Memory | None, int] | None:
    """Memory, None for generic addresses, and width of an access; None if it is not counted."""
    if op not in ROWS or space not in _MEMORIES or width == 0:
        return None
    return _MEMORIES[space], width


class CountedPlaces(NamedTuple):
    """What the counters of a program belong to: found once, looked up for each launch."""

    instructions: np.ndarray  # int64: static indices, block by block
    blocks: np.ndarray  # int64: the block of each of these
    accesses: np.ndarray  # int64: static indices of the accesses that are counted
    rows: np.ndarray  # int64 of each: LOADS, STORES or ATOMICS
    memories: np.ndarray  # int64 of each: Memory, or -1 if the address says which

    @classmethod
    def of(cls, blocks: np.ndarray, code: np.ndarray) -> "CountedPlaces":
        """The places of BLOCK records and the INSTRUCTION records that they are made of."""
        count = blocks["count"]
        numbers = np.repeat(np.arange(len(blocks)), count)
        within = np.arange(len(numbers)) - np.repeat(np.cumsum(count) - count, count)
        accesses, rows, memories = [], [], []
        for k in np.flatnonzero(code["width"] > 0).tolist():
            op, space, width = (code[name][k] for name in ("op", "space", "width"))
            if (found := memory_of(op, space, width)) is not None:
                accesses.append(k)
                rows.append(ROWS[op])
                memories.append(-1 if found[0] is None else int(found[0]))
        first = np.repeat(blocks["first"], count)
        lists = (np.array(values, np.int64) for values in (accesses, rows, memories))
        return cls(first + within, numbers, *lists)
