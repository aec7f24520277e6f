"""Basic blocks, and the order in which they should run."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Self, TypeVar

import msgspec

from lockstep.execution.programs.program import Ending

LONGEST = 256
"""Instructions of a block: ten times as many in one took 26 times as long to translate."""


class BasicBlock(msgspec.Struct, eq=False):
    """Instructions ``first`` to ``end - 1``, entered at the first only.

    ``taken``, ``next`` and ``more`` are blocks that may follow, see :class:`Ending`; ``more`` those
    of an indirect branch. ``reads`` are the registers read before the block writes them,
    ``passes`` those that whoever comes next reads beside the blocks that follow.
    """

    first: int
    end: int
    ending: Ending = Ending.JUMP
    taken: Self | None = None
    next: Self | None = None
    more: list[Self] = msgspec.field(default_factory=list)
    number: int = -1
    spins: bool = False
    overtakes: bool = False  # warps give way before it
    reads: set[str] = msgspec.field(default_factory=set)
    writes: set[str] = msgspec.field(default_factory=set)
    passes: set[str] = msgspec.field(default_factory=set)
    live_in: set[str] = msgspec.field(default_factory=set)
    live_out: set[str] = msgspec.field(default_factory=set)

    @property
    def successors(self) -> list[Self]:
        """Blocks that may follow."""
        return [b for b in (self.taken, self.next, *self.more) if b is not None]


B = TypeVar("B", bound=BasicBlock)


def bounds(leaders: Iterable[int], count: int) -> list[int]:
    """Where blocks begin and end, of ``count`` instructions: at leaders, and after LONGEST."""
    found = []
    for first, after in pairwise(sorted({0, *leaders, count})):
        found += range(first, after, LONGEST)
    return [*found, count]


def in_running_order(entry: B) -> list[B]:
    """Reverse post-order in which loops before their exits are contiguous; the text breaks ties.

    Successors are visited last first, so that what lies later in the text gets a larger number;
    blocks that nobody reaches are left out.
    """
    finished: list[B] = []
    seen = {entry}
    stack = [(entry, iter(_visit_order(entry)))]
    while stack:
        block, rest = stack[-1]
        child = next((b for b in rest if b not in seen), None)
        if child is None:
            finished.append(block)
            stack.pop()
        else:
            seen.add(child)
            stack.append((child, iter(_visit_order(child))))
    return finished[::-1]


def _visit_order(block: B) -> list[B]:
    return sorted(block.successors, key=lambda b: -b.first)


def reach(blocks: Iterable[B], following: Callable[[B], Iterable[B]]) -> set[B]:
    """The blocks and all that follow them."""
    seen, todo = set[B](), list(blocks)
    while todo:
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            todo += following(block)
    return seen
