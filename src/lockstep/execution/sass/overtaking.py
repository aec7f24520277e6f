"""Where warps of machine code give way."""

import numpy as np

from lockstep.execution.programs.overtaking import Effect, effect_of, overtaking
from lockstep.execution.sass.graph import Block, Graph
from lockstep.isa.instruction import OpClass, Space


def overtaking_in(graph: Graph, records: np.ndarray) -> set[int]:
    """Static indices of the instructions before which a warp gives way.

    ``records``: the INSTRUCTION records of the code.
    """
    classes = list(zip(records["op"].tolist(), records["space"].tolist(), strict=True))
    if not any(effect_of(*c, False) & Effect.BARRIER for c in classes):
        return set()
    nodes = [*graph.blocks, *graph.joints]
    number = {b: k for k, b in enumerate(nodes)}

    def effects(block: Block) -> list[Effect]:
        if block.service is not None or block.joins:
            return []
        code = graph.code[block.first : block.end]
        return [
            effect_of(OpClass(op), Space(space), "CONSTANT" in i.modifiers)
            for i, (op, space) in zip(code, classes[block.first : block.end], strict=True)
        ]

    following = [[number[s] for s in b.successors] for b in nodes]
    places = overtaking([effects(b) for b in nodes], following, Effect.NOTHING)
    return {b.first + k for b, own in zip(nodes, places, strict=True) for k in own}
