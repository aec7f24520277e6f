"""Which unit of a compute unit takes an instruction, and which wait counters it raises.

In a cycle a SIMD issues at most one instruction to each unit. Waits, barriers and what ends a
wavefront go to the scalar unit.
"""

import numpy as np

from lockstep.isa.instruction import OpClass, Space

UNITS = 5
SCALAR_UNIT, BRANCH_UNIT, VECTOR_ALU, LOCAL_DATA_SHARE, VECTOR_MEMORY = range(UNITS)
VECTOR_COUNT, EXPORT_COUNT, LGKM_COUNT, NO_COUNT = 0, 1, 2, 7
"""Wait counters in the order of ``instruction.WAIT_FIELDS``: vector memory, stores that have yet
to read their data, LDS and scalar loads."""
SCALARS, INSTRUCTIONS = 0, 1
"""Caches of whole lines that ask the L2, as their misses have it (``cache/line_misses.py``)."""

_ACCESSES = (
    OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION,
    OpClass.TEXTURE, OpClass.SURFACE,
)  # fmt: skip
_ON_SCALARS = (
    OpClass.SCALAR, OpClass.SCALAR_LOAD, OpClass.WAIT_COUNT, OpClass.BARRIER, OpClass.EXIT,
    OpClass.NOP, OpClass.SLEEP, OpClass.FENCE, OpClass.LOCAL_FENCE, OpClass.CACHE_CONTROL,
    OpClass.UNKNOWN,
)  # fmt: skip


def set_kinds(records: np.ndarray, code: np.ndarray) -> None:
    """Complete ISSUE records for a compute unit from the INSTRUCTION records ``code``."""
    op = code["op"]
    accesses, local = np.isin(op, _ACCESSES), code["space"] == Space.SHARED
    records["kind"] = VECTOR_ALU
    records["kind"][np.isin(op, _ON_SCALARS)] = SCALAR_UNIT
    records["kind"][op == OpClass.BRANCH] = BRANCH_UNIT
    records["kind"][accesses] = np.where(local[accesses], LOCAL_DATA_SHARE, VECTOR_MEMORY)
    counter = np.where(local, LGKM_COUNT, VECTOR_COUNT)
    counter = np.where(op == OpClass.SCALAR_LOAD, LGKM_COUNT, counter)
    raises = (accesses | (op == OpClass.SCALAR_LOAD)) & (code["width"] > 0)
    records["write_barrier"] = np.where(raises, counter, NO_COUNT)
    stores = raises & (op == OpClass.STORE) & ~local
    records["read_barrier"] = np.where(stores, EXPORT_COUNT, NO_COUNT)
