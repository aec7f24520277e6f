"""Which blocks of a large kernel are compiled together, when the first of them runs."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from lockstep.execution.flow.blocks import BasicBlock

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
