"""Where warps of PTX give way."""

from lockstep.execution.programs.overtaking import LOADS, Effect, effect_of, overtaking
from lockstep.execution.ptx.classes import class_of, space_of
from lockstep.execution.ptx.graph import Block
from lockstep.isa.ptx.syntax import Function, Instruction


def has_barrier(functions: list[Function]) -> bool:
    """Whether warps of a CTA, or its cluster, wait for each other in some function."""
    return any(_effect(i) & Effect.BARRIER for f in functions for i in f.instructions)


def overtaking_in(blocks: list[Block]) -> set[int]:
    """Places in a function of the instructions before which a warp gives way."""
    number = {b: k for k, b in enumerate(blocks)}
    effects = [[_effect(i) for i in b.instructions] for b in blocks]
    following = [[number[s] for s in b.successors] for b in blocks]
    before = Effect.NOTHING if blocks[0].function.is_entry else LOADS
    places = overtaking(effects, following, before)
    return {b.first + k for b, own in zip(blocks, places, strict=True) for k in own}


def _effect(i: Instruction) -> Effect:
    if i.opcode == "call":
        return Effect.CALL
    op = class_of(i)
    return effect_of(op, space_of(i, op), "nc" in i.modifiers)
