"""All opcodes: importing these files fills the table. Each line is one file's."""

# ruff: noqa: F401
from lockstep.execution.ptx import (
    async_copy,
    atomics,
    barrier,
    barrier_objects,
    calls,
    compare,
    control,
    conversion,
    floating,
    integer,
    logic,
    matrix,
    memory,
    stack,
    surface,
    tensor,
    texture,
    video,
    warp,
    warpgroup,
)
