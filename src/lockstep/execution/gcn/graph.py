"""Basic blocks of a kernel, and where their ends go: all lanes go together."""

from collections.abc import Collection, Sequence
from itertools import pairwise

from lockstep.execution.flow.blocks import BasicBlock, bounds, in_running_order
from lockstep.execution.gcn.source import Source
from lockstep.execution.programs.program import Ending
from lockstep.isa.gcn.instruction import Instruction

_ENDINGS = {
    "s_endpgm": Ending.EXIT,
    "s_branch": Ending.BRANCH,
    "s_cbranch_scc0": Ending.BRANCH,
    "s_cbranch_scc1": Ending.BRANCH,
    "s_cbranch_vccz": Ending.BRANCH,
    "s_cbranch_vccnz": Ending.BRANCH,
    "s_cbranch_execz": Ending.BRANCH,
    "s_cbranch_execnz": Ending.BRANCH,
    "s_barrier": Ending.BARRIER,
    "s_trap": Ending.TRAP,
}
_LAST = ("s_endpgm", "s_branch", "s_trap")  # nothing follows them


class Block(BasicBlock, eq=False):
    """Instructions of a kernel; none in the block in which a wavefront starts."""

    starts: bool = False


def ending_of(instruction: Instruction) -> Ending | None:
    """How an instruction ends its block, or None."""
    return _ENDINGS.get(instruction.name)


def target_of(instruction: Instruction) -> int:
    """Offset of the instruction to which a branch goes."""
    jump = instruction.fields["simm16"]
    return instruction.offset + 4 + 4 * (jump - (jump >> 15 << 16))


def blocks_of(source: Source, steps: Collection[int] = ()) -> list[Block]:
    """The blocks that are reached, in the order in which they should run, that of the start first.

    ``steps``: static indices at which blocks begin whatever the control flow. Raises
    :class:`LockstepError` where a branch, or the end of the code, leads out of it.
    """
    code = source.code
    index = {i.offset: k for k, i in enumerate(code)}
    leaders = set(steps)
    for k, instruction in enumerate(code):
        ending = ending_of(instruction)
        if ending is not None:
            leaders.add(k + 1)
        if ending == Ending.BRANCH:
            if target_of(instruction) not in index:
                raise source.refuse(instruction, "there is no instruction at its target")
            leaders.add(index[target_of(instruction)])
    found = [Block(a, b) for a, b in pairwise(bounds(leaders, len(code))) if a < b]
    at = {b.first: b for b in found}
    for block in found:
        _connect(block, code, index, at)
    start = Block(0, 0, next=at[0], starts=True)
    ordered = in_running_order(start)
    for number, block in enumerate(ordered):
        block.number = number
        if block.next is None and code[block.end - 1].name not in _LAST:
            raise source.refuse(code[block.end - 1], "the code ends behind it")
    return ordered


def _connect(
    block: Block, code: Sequence[Instruction], index: dict[int, int], at: dict[int, Block]
) -> None:
    last = code[block.end - 1]
    block.ending = ending_of(last) or Ending.JUMP
    block.next = at.get(block.end)
    if block.ending == Ending.BRANCH:
        block.taken = at[index[target_of(last)]]
    if last.name in _LAST:
        block.next = None
