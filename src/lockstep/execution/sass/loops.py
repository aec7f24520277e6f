"""Loops that wait: those in which something polls memory that others may write."""

from collections.abc import Callable, Iterable, Sequence

from lockstep.execution.sass.graph import Block, address_in
from lockstep.execution.sass.opcodes import asks_barriers, polls
from lockstep.isa.sass.encoding.instruction import Instruction

Edges = dict[Block, list[Block]]


def find_waiting_loops(code: Sequence[Instruction], blocks: Sequence[Block]) -> None:
    """Mark the blocks of such loops; ``blocks`` are in the order in which they run.

    A call counts as one step, which polls if the function does, or one that it calls: paths lead
    through functions from each call to the return of every other, so that all would be one loop.
    """
    after = {b: _steps(code, b) for b in blocks}
    before: Edges = {b: [] for b in blocks}
    for block, following in after.items():
        for other in following:
            before[other].append(block)
    polling = _polling(code, blocks, after, before)
    if not polling:
        return
    for circle in _circles(after):
        if polling.isdisjoint(circle):
            continue
        edges = [(s, e) for e in circle for s in after[e] if s in circle and s.number <= e.number]
        ends = {True: set[Block](), False: set[Block]()}
        for start, end in edges:
            ends[_mark(start, end, circle, polling, (after, before))].add(end)
        for end in ends[False] - ends[True]:  # it gets on, whatever the loop around it waits for
            end.spins = False


def _mark(
    start: Block, end: Block, circle: set[Block], polling: set[Block], edges: tuple[Edges, Edges]
) -> bool:
    """Mark the loop that an edge back closes, if it polls; whether it does."""
    after, before = edges
    # Code out of line jumps back, too: only what is between the two counts.
    loop = _reach([start], lambda b: circle.intersection(after[b])) & _reach(
        [end], lambda b: () if b is start else circle.intersection(before[b])
    )
    if polling.isdisjoint(loop):
        return False
    for block in loop:
        block.spins = True
    return True


def _steps(code: Sequence[Instruction], block: Block) -> list[Block]:
    """Where a function goes on after a block."""
    if block.returns_to is not None:
        return [block.returns_to]
    if block.service is not None or code[block.end - 1].mnemonic == "RET":
        return [block.next] if block.next is not None else []
    return [other for b in block.successors for other in (b.more if b.joins else [b])]


def _polling(
    code: Sequence[Instruction], blocks: Sequence[Block], after: Edges, before: Edges
) -> set[Block]:
    """Blocks that poll themselves, or call a function that does."""
    asks = asks_barriers(code)
    found = {
        b
        for b in blocks
        if any(polls(i) or (asks and i.mnemonic == "LDS") for i in code[b.first : b.end])
    }
    callers: dict[Block, list[Block]] = {}
    for block in blocks:
        if block.returns_to is not None:
            for callee in _callees(code, block):
                callers.setdefault(callee, []).append(block)
    todo = list(found)
    seen = set[Block]()
    while todo:  # back from what polls to the entries of its functions, and from there to calls
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            calling = callers.get(block, [])
            found.update(calling)
            todo += [*before[block], *calling]
    return found


def _callees(code: Sequence[Instruction], block: Block) -> Iterable[Block]:
    """The first blocks of what a block may call."""
    if block.taken is not None and address_in(code[block.end - 1]) is not None:
        return [block.taken]
    return [other for b in block.more for other in (b.more if b.joins else [b])]


def _reach(blocks: Iterable[Block], following: Callable[[Block], Iterable[Block]]) -> set[Block]:
    """The blocks and all that follow them."""
    seen, todo = set[Block](), list(blocks)
    while todo:
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            todo += following(block)
    return seen


def _circles(after: Edges) -> list[set[Block]]:
    """Sets of blocks of which each reaches each other: Tarjan's strongly connected components."""
    order: dict[Block, int] = {}
    lowest: dict[Block, int] = {}
    path: list[Block] = []
    found: list[set[Block]] = []
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
                    circle = set[Block]()
                    while block not in circle:
                        circle.add(path.pop())
                    order.update(dict.fromkeys(circle, len(after)))  # no path leads back to them
                    found.append(circle)
    return found
