"""Where EXEC is known to be what it was when the wavefront started.

Vector instructions need not heed it there. Code that branches by masks keeps the old EXEC in a pair
of scalar registers and takes it back from there, so pairs are followed, too.
"""

from collections.abc import Callable, Sequence

from lockstep.execution.gcn.graph import Block
from lockstep.execution.gcn.registers import EXEC, SCALARS, VCC
from lockstep.isa.gcn.instruction import Format, Instruction

Whole = frozenset[int]
"""Pairs of scalar registers that hold the first EXEC, by the number of the first of each."""

START: Whole = frozenset([EXEC])
_SCALAR = (Format.SOP1, Format.SOP2, Format.SOPK)
_WIDEST_LOAD = 16
_OF: dict[str, Callable[..., bool]] = {  # from whether each operand is one
    "s_mov_b64": lambda one: one,
    "s_and_b64": lambda one, two: one and two,
    "s_or_b64": lambda one, two: one or two,
}


def find_whole(blocks: Sequence[Block], code: Sequence[Instruction]) -> dict[Block, Whole]:
    """What holds where each block begins."""
    found: dict[Block, Whole] = {blocks[0]: START}
    todo = [blocks[0]]
    while todo:
        block = todo.pop()
        held = found[block]
        for instruction in code[block.first : block.end]:
            held = after(held, instruction)
        for following in block.successors:
            both = held & found.get(following, held)
            if found.get(following) != both:
                found[following] = both
                todo.append(following)
    return found


def after(held: Whole, i: Instruction) -> Whole:
    """What holds after an instruction."""
    first, count = _written(i)
    gone = {first - 1, *range(first, first + count)} if count else set()
    new = set[int]()
    given = [i.fields[f] in held for f in ("ssrc0", "ssrc1") if f in i.fields]
    if i.name in _OF and _OF[i.name](*given):
        new.add(i.fields["sdst"])
    if i.name.endswith("_saveexec_b64"):
        gone |= {EXEC - 1, EXEC, EXEC + 1}
        if EXEC in held:
            new.add(i.fields["sdst"])
            if i.name == "s_or_saveexec_b64" or (i.fields["ssrc0"] in held and "_and_" in i.name):
                new.add(EXEC)
    if i.name.startswith("v_cmpx"):
        gone |= {EXEC - 1, EXEC, EXEC + 1}
    return (held - gone) | new


def _written(i: Instruction) -> tuple[int, int]:
    """The scalar registers that an instruction may write: the first, and how many."""
    if i.name.startswith("s_movreld"):
        return 0, SCALARS
    if i.format in _SCALAR:
        return i.fields["sdst"], 2
    if i.format == Format.SMRD:
        return i.fields["sdst"], _WIDEST_LOAD
    if i.format == Format.VOP3B:
        return i.fields["sdst"], 2
    if i.format == Format.VOP3A and i.name.startswith("v_cmp"):
        return i.fields["vdst"], 2
    if i.name.startswith(("v_readfirstlane", "v_readlane")):
        return i.fields["vdst"], 1
    if i.format in (Format.VOPC, Format.VOP2):
        return VCC, 2
    return 0, 0
