"""Loops that wait: those in which something polls memory that others may write."""

from collections.abc import Iterable, Sequence

from lockstep.execution.flow.loops import inverse, mark_waiting
from lockstep.execution.sass.graph import Block, address_in
from lockstep.execution.sass.opcodes import asks_barriers, polls
from lockstep.isa.sass.encoding.instruction import Instruction


def find_waiting_loops(
    code: Sequence[Instruction], blocks: Sequence[Block], loads: set[int]
) -> None:
    """Mark the blocks of such loops; ``blocks`` are in the order in which they run.

    ``loads``: static indices of those that poll though they do not say so.

    A call counts as one step, which polls if the function does, or one that it calls: paths lead
    through functions from each call to the return of every other, so that all would be one loop.
    """
    after = {b: _steps(code, b) for b in blocks}
    mark_waiting(after, _polling(code, blocks, inverse(after), loads))


def _steps(code: Sequence[Instruction], block: Block) -> list[Block]:
    """Where a function goes on after a block."""
    if block.returns_to is not None:
        return [block.returns_to]
    if block.service is not None or code[block.end - 1].mnemonic == "RET":
        return [block.next] if block.next is not None else []
    return [other for b in block.successors for other in (b.more if b.joins else [b])]


def _polling(
    code: Sequence[Instruction],
    blocks: Sequence[Block],
    before: dict[Block, list[Block]],
    loads: set[int],
) -> set[Block]:
    """Blocks that poll themselves, or call a function that does."""
    asks = asks_barriers(code)
    found = {
        b
        for b in blocks
        if not loads.isdisjoint(range(b.first, b.end))
        or any(polls(i) or (asks and i.mnemonic == "LDS") for i in code[b.first : b.end])
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
