"""All instructions with entries of their own: importing these files fills the table."""

# ruff: noqa: F401
from lockstep.execution.gcn import (
    buffers,
    control,
    images,
    lds,
    masks,
    moves,
    sampling,
    scalar_memory,
    typed,
)
