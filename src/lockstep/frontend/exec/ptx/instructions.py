"""All opcodes: importing these files fills the table. Each line is one file's."""

# ruff: noqa: F401
from lockstep.frontend.exec.ptx import (
    async_copy,
    atomics,
    barrier_objects,
    compare,
    control,
    conversion,
    floating,
    integer,
    logic,
    matrix,
    memory,
    surface,
    texture,
)
