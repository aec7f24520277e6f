"""Loops, and which blocks end a turn of one that waits for what others write."""

from collections.abc import Iterator, Sequence

from lockstep.execution.flow.blocks import B, reach

Edges = dict[B, list[B]]


def inverse(after: Edges[B]) -> Edges[B]:
    """For each block those that it may come after."""
    before: Edges[B] = {b: [] for b in after}
    for block, following in after.items():
        for other in following:
            before[other].append(block)
    return before


def turns(blocks: Sequence[B]) -> Iterator[tuple[B, Sequence[B]]]:
    """Each edge back in blocks whose loops are contiguous: the block that it leaves, the loop."""
    place = {b: k for k, b in enumerate(blocks)}
    for end in blocks:
        for start in end.successors:
            if place[start] <= place[end]:
                yield end, blocks[place[start] : place[end] + 1]


def mark_waiting(after: Edges[B], polling: set[B]) -> None:
    """Mark the blocks of loops in which something polls; blocks are numbered as they run.

    ``after``: where each goes on, calls counted as one step. ``polling``: those that poll, or call
    what does.
    """
    if not polling:
        return
    edges = after, inverse(after)
    for circle in circles(after):
        if polling.isdisjoint(circle):
            continue
        back = [(s, e) for e in circle for s in after[e] if s in circle and s.number <= e.number]
        ends = {True: set[B](), False: set[B]()}
        for start, end in back:
            ends[_mark(start, end, circle, polling, edges)].add(end)
        for end in ends[False] - ends[True]:  # it gets on, whatever the loop around it waits for
            end.spins = False


def _mark(
    start: B, end: B, circle: set[B], polling: set[B], edges: tuple[Edges[B], Edges[B]]
) -> bool:
    """Mark the loop that an edge back closes, if it polls; whether it does."""
    after, before = edges
    # Code out of line jumps back, too: only what is between the two counts.
    loop = reach([start], lambda b: circle.intersection(after[b])) & reach(
        [end], lambda b: () if b is start else circle.intersection(before[b])
    )
    if polling.isdisjoint(loop):
        return False
    for block in loop:
        block.spins = True
    return True


def circles(after: Edges[B]) -> list[set[B]]:
    """Sets of blocks of which each reaches each other: Tarjan's strongly connected components."""
    order: dict[B, int] = {}
    lowest: dict[B, int] = {}
    path: list[B] = []
    found: list[set[B]] = []
    for root in after:
        if root in order:
            continue
        work = [(root, iter(after[root]))]
        order[root] = lowest[root] = len(order)
        path.append(root)
        while work:
            block, rest = work[-1]
            for other in rest:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    path.append(other)
                    work.append((other, iter(after[other])))
                    break
                lowest[block] = min(lowest[block], order[other])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[block])
                if lowest[block] == order[block]:
                    circle = set[B]()
                    while block not in circle:
                        circle.add(path.pop())
                    order.update(dict.fromkeys(circle, len(after)))  # no path leads back to them
                    found.append(circle)
    return found
