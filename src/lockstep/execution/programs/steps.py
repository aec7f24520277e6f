"""Where blocks begin whatever the control flow: what depends on time."""

from collections.abc import Iterable

from lockstep.workload.at_issue import STEP_RUNS


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
