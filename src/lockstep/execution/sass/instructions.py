"""All opcodes: importing these files fills the table. Each line is one file's."""

# ruff: noqa: F401
from lockstep.execution.sass import (
    async_copy,
    atomics,
    barrier,
    barrier_objects,
    bits,
    control,
    conversion,
    floating,
    half,
    integer,
    matrix,
    memory,
    multiply,
    packing,
    predicates,
    surface,
    tensor,
    texture,
    warp,
    warpgroup,
)
