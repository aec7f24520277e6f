"""Where blocks begin whatever the control flow."""

from collections.abc import Iterable
from itertools import pairwise

from lockstep.workload import STEP_RUNS

LONGEST = 256
"""Instructions of a block: ten times as many in one took 26 times as long to translate."""


def bounds(leaders: Iterable[int], count: int) -> list[int]:
    """Where blocks begin and end, of ``count`` instructions: at leaders, and after LONGEST."""
    found = []
    for first, after in pairwise(sorted({0, *leaders, count})):
        found += range(first, after, LONGEST)
    return [*found, count]


def steps(instructions: Iterable[tuple[bool, bool]]) -> set[int]:
    """Places of all instructions that depend on time, and of others that keep blocks short.

    The blocks that begin there are executed one by one, each when its first instruction issues.
    ``instructions``: of each, whether it accesses memory or reads a clock, and whether it has a
    guard. A guarded instruction takes up to two runs of a block.
    """
    places, guarded = set(), 0
    for place, (depends, has_guard) in enumerate(instructions):
        guarded += has_guard
        if depends or 2 * guarded >= STEP_RUNS:
            places.add(place)
            guarded = int(has_guard)
    return places
