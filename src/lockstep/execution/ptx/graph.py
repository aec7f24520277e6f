"""Basic blocks of a function, in the order in which they should run."""

from collections.abc import Collection
from itertools import pairwise

from lockstep.errors import InputError
from lockstep.execution.flow.blocks import BasicBlock, bounds, in_running_order
from lockstep.execution.programs.program import Ending
from lockstep.execution.programs.services import CUDA, SERVICES
from lockstep.execution.ptx.opcodes import PtxOpcode, find, written
from lockstep.execution.ptx.refusals import refusal
from lockstep.isa.instruction import ALL_LANES
from lockstep.isa.ptx.syntax import (
    Function,
    Immediate,
    Instruction,
    Module,
    Operand,
    Position,
    Register,
)

_ENDINGS = {
    "bra": Ending.JUMP,
    "brx": Ending.INDIRECT,
    "ret": Ending.INDIRECT,
    "exit": Ending.EXIT,
    "call": Ending.INDIRECT,
    "bar": Ending.BARRIER,
    "barrier": Ending.BARRIER,
    "trap": Ending.TRAP,
    "brkpt": Ending.TRAP,
    "nanosleep": Ending.SLEEP,
}
EVERYONE = Immediate(ALL_LANES)  # as members of a warp-wide operation
_FINAL = ("bra", "brx", "ret", "exit", "trap", "brkpt")  # nothing follows them


class Block(BasicBlock, eq=False, kw_only=True):
    """Instructions of a function.

    ``taken`` and ``next`` are None where lanes end. Lanes for which the guard of the last
    instruction does not hold go to ``next``; those that leave for a call or wait for something go
    on at ``taken``. If ``resumes`` is set, the block is where they do so: it has no instructions,
    but takes the results of that one. ``first_site``: the number of its first memory site.
    """

    function: Function
    resumes: Instruction | None = None
    first_site: int = -1
    awaits: bool = False  # of a block that spins: for an mbarrier alone

    @property
    def instructions(self) -> list[Instruction]:
        """Its instructions."""
        return self.function.instructions[self.first : self.end]

    @property
    def last(self) -> Instruction:
        """Its last instruction."""
        return self.function.instructions[self.end - 1]


def entry_of(module: Module, instruction: Instruction) -> PtxOpcode:
    """The table's entry of an instruction, or an error that names it and its place."""
    entry = find(instruction.name)
    if entry is None:
        raise refuse(module, instruction, refusal(instruction.name))
    return entry


def refuse(module: Module, instruction: Instruction, message: str) -> InputError:
    """The error for an instruction that cannot be executed."""
    return refusal_at(module, instruction.position, message)


def refusal_at(module: Module, place: Position, message: str) -> InputError:
    """The error for what is at a place of a module's text."""
    return InputError(module.name, f"line {place.line}, column {place.column}", message)


def service_of(module: Module, call: Instruction) -> int | None:
    """The service that a call asks the host for, or None for other calls.

    A function of CUDA's device runtime that has a body is what programs have that are not linked
    with it: it refuses.
    """
    callee = call.operands[0].callee
    if isinstance(callee, Register) or callee.name not in SERVICES:
        return None
    function = module.functions.get(callee.name)
    if callee.name.startswith(CUDA) and function is not None and function.has_body:
        return None
    return SERVICES.index(callee.name)


def ending_of(module: Module, instruction: Instruction) -> Ending | None:
    """How an instruction ends its block, or None."""
    words = instruction.modifiers
    if instruction.opcode == "wgmma" and "wait_group" in words:
        return Ending.BARRIER  # of the warpgroup
    if "warp" in words and instruction.opcode in ("bar", "barrier"):
        return None
    if instruction.opcode == "call" and service_of(module, instruction) is not None:
        return Ending.HOST
    ending = _ENDINGS.get(instruction.opcode)
    return Ending.ARRIVE if ending == Ending.BARRIER and "arrive" in words else ending


def close(function: Function) -> None:
    """End a function whose last instructions may fall off its end with a return."""
    last = function.instructions[-1] if function.instructions else None
    behind = len(function.instructions) in function.labels.values()
    if last is None or last.opcode not in _FINAL or last.guard is not None or behind:
        position = last.position if last is not None else function.position
        function.instructions.append(Instruction("ret", (), (), position))


def blocks_of(module: Module, function: Function, steps: Collection[int] = ()) -> list[Block]:
    """The blocks of one function in the order in which they should run; the first is its entry.

    ``steps``: places of instructions that start a block, whatever the control flow.
    """
    close(function)
    starts = _leaders(module, function, steps)
    blocks = [
        Block(a, b, function=function)
        for a, b in pairwise(bounds(starts, len(function.instructions)))
    ]
    at = {b.first: b for b in blocks}
    for block in blocks:
        _connect(module, block, at)
    return in_running_order(blocks[0])


def _leaders(module: Module, function: Function, steps: Collection[int]) -> set[int]:
    starts = {i for i in function.labels.values() if i < len(function.instructions)} | set(steps)
    met: Operand | None = None  # whose members have come together in this block
    for i, instruction in enumerate(function.instructions):
        entry = entry_of(module, instruction)
        if i in starts:
            met = None
        if ending_of(module, instruction) is not None:
            starts.add(i + 1)
            met = None
        elif (members := members_of(instruction, entry)) is not None:
            if members != met:
                starts.add(i)
            met = members
        if isinstance(met, Register) and met.name in written(instruction, entry):
            met = None
    return starts


def members_of(instruction: Instruction, entry: PtxOpcode) -> Operand | None:
    """What names the lanes that a warp-wide operation waits for; None for other instructions."""
    if entry.converges:
        return instruction.operands[-1]
    return EVERYONE if {"sync", "aligned"} <= set(instruction.modifiers) else None


def _connect(module: Module, block: Block, at: dict[int, Block]) -> None:
    """Set a block's ending and targets from its last instruction."""
    last, function = block.last, block.function
    ending, after = ending_of(module, last), at.get(block.end)
    block.next = after
    if ending is None:
        return
    block.ending = ending
    if ending == Ending.SLEEP:
        return
    if last.guard is None:
        block.next = None
    targets = [at[label] for label in labels_of(module, function, last)]
    if last.opcode == "bra":
        target = targets[0]
        block.taken, block.next = (target, after) if last.guard is not None else (None, target)
        block.ending = Ending.BRANCH if last.guard is not None else Ending.JUMP
    elif last.opcode == "brx":
        block.more = targets
    elif last.opcode == "ret" and function.is_entry:
        block.ending = Ending.EXIT
    elif last.opcode not in _FINAL:
        block.taken = after
        if entry_of(module, last).resume is not None:
            block.taken = Block(block.end, block.end, next=after, function=function, resumes=last)


def labels_of(module: Module, function: Function, instruction: Instruction) -> list[int]:
    """Places of the instructions that a branch may go to; none for others.

    Raises :class:`InputError` if it names no label, or no list of labels, of its function.
    """
    if instruction.opcode not in ("bra", "brx"):
        return []
    name = getattr(instruction.operands[-1], "name", "")
    names = (name,) if instruction.opcode == "bra" else function.tables.get(name, ("",))
    if not all(n in function.labels for n in names):
        raise refuse(module, instruction, f"{instruction.name} needs a label of this function")
    return [function.labels[n] for n in names]
