"""Where wavefronts wait for others, overtake them, or depend on time."""

from collections.abc import Sequence

import numpy as np

from lockstep.execution.flow.loops import mark_waiting
from lockstep.execution.gcn.graph import Block
from lockstep.execution.gcn.lift import heeds_exec
from lockstep.execution.programs import steps
from lockstep.execution.programs.overtaking import Effect, effect_of, overtaking
from lockstep.isa.gcn.instruction import Instruction
from lockstep.isa.instruction import CachePolicy, OpClass, Space

CLOCK = "s_memtime"
_CHANGES = (OpClass.ATOMIC, OpClass.REDUCTION)


def steps_of(code: Sequence[Instruction], records: np.ndarray) -> set[int]:
    """Static indices at which blocks begin that are executed one by one."""
    widths = records["width"].tolist()
    return steps.steps(
        (w > 0 or i.name == CLOCK, heeds_exec(i)) for i, w in zip(code, widths, strict=True)
    )


def overtaking_in(blocks: Sequence[Block], records: np.ndarray) -> set[int]:
    """Static indices of the instructions before which a wavefront gives way."""
    if not (records["op"] == OpClass.BARRIER).any():
        return set()
    effects = [
        effect_of(OpClass(op), Space(space), False)
        for op, space in zip(records["op"].tolist(), records["space"].tolist(), strict=True)
    ]
    of_blocks = [effects[b.first : b.end] for b in blocks]
    following = [[s.number for s in b.successors] for b in blocks]
    places = overtaking(of_blocks, following, Effect.NOTHING)
    return {b.first + k for b, own in zip(blocks, places, strict=True) for k in own}


def find_waiting_loops(blocks: Sequence[Block], records: np.ndarray) -> None:
    """Mark the blocks of loops that may wait for what others write.

    They look at it by an atomic operation, or by a load that goes past the L1.
    """
    polls = np.isin(records["op"], _CHANGES) | (records["cache"] & CachePolicy.BYPASS_L1 > 0)
    polling = {b for b in blocks if polls[b.first : b.end].any()}
    mark_waiting({b: b.successors for b in blocks}, polling)
