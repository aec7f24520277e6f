"""Which blocks of a large kernel are compiled together, when the first of them runs."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from lockstep.execution.flow.blocks import B, BasicBlock
from lockstep.execution.flow.loops import circles

WHOLE = 2048
"""Instructions of a kernel, with all functions that it may call, that is compiled at once."""
PART = 1024
"""Instructions that are compiled together of a larger one, of one function at most."""


def divided(blocks: Sequence[BasicBlock], functions: Iterable[int]) -> list[tuple[int, int]]:
    """The first block and the end of each part; ``functions``: the first block of each one."""
    firsts = {0, *functions}
    bounds, filled = set[int](), 0
    for number, block in enumerate(blocks):
        count = block.end - block.first
        filled += count
        if number in firsts or filled > PART:
            bounds.add(number)
            filled = count
    return list(pairwise(sorted({*bounds, len(blocks)})))


def outside_loops(blocks: Sequence[B], functions: Iterable[int]) -> set[B]:
    """Blocks that are in no loop of their function: they run once a call.

    Where a large kernel is long and has no loops, translating it takes longer than its launches.
    """
    found = set[B]()
    for first, end in pairwise(sorted({0, *functions, len(blocks)})):
        own = set(blocks[first:end])
        after = {b: [s for s in b.successors if s in own] for b in blocks[first:end]}
        alone = (next(iter(c)) for c in circles(after) if len(c) == 1)
        found |= {b for b in alone if b not in after[b]}
    return found
