"""Basic blocks of a kernel and of the functions that it calls."""

from dataclasses import dataclass, field

from lockstep.errors import InputError
from lockstep.frontend.exec.program import Ending
from lockstep.frontend.exec.ptx.opcodes import CARRY, Opcode, find, read, written
from lockstep.isa.ptx.syntax import Call, Function, Instruction, Module, Register, Symbol

HOST_FUNCTIONS = ("vprintf", "malloc", "free", "__assertfail")
_ENDINGS = {
    "bra": Ending.JUMP,
    "brx": Ending.INDIRECT,
    "ret": Ending.INDIRECT,
    "exit": Ending.EXIT,
    "call": Ending.JUMP,
    "bar": Ending.BARRIER,
    "barrier": Ending.BARRIER,
}


@dataclass(eq=False)
class Block:
    """Instructions ``first`` to ``end - 1`` of a function, entered at the first only.

    ``taken`` and ``next`` are other blocks, None where lanes end. Lanes for which the guard of the
    last instruction does not hold go to ``next``.
    """

    function: Function
    first: int
    end: int
    ending: Ending = Ending.JUMP
    taken: "Block | None" = None
    next: "Block | None" = None
    more: list["Block"] = field(default_factory=list)  # targets of an indirect branch
    number: int = -1
    spins: bool = False
    reads: set[str] = field(default_factory=set)  # before any write in the block
    writes: set[str] = field(default_factory=set)
    live_in: set[str] = field(default_factory=set)
    live_out: set[str] = field(default_factory=set)

    @property
    def successors(self) -> list["Block"]:
        """Blocks of the same function that may follow."""
        return [b for b in (self.taken, self.next, *self.more) if b is not None]

    @property
    def instructions(self) -> list[Instruction]:
        """Its instructions."""
        return self.function.instructions[self.first : self.end]

    @property
    def last(self) -> Instruction:
        """Its last instruction."""
        return self.function.instructions[self.end - 1]


def entry_of(module: Module, instruction: Instruction) -> Opcode:
    """The table's entry of an instruction, or an error that names it and its place."""
    entry = find(instruction.name)
    if entry is None:
        raise refuse(module, instruction, f"instruction {instruction.name} is not supported")
    return entry


def refuse(module: Module, instruction: Instruction, message: str) -> InputError:
    """The error for an instruction that cannot be executed."""
    place = instruction.position
    return InputError(module.name, f"line {place.line}, column {place.column}", message)


def ending_of(instruction: Instruction) -> Ending | None:
    """How an instruction ends its block, or None."""
    ending = _ENDINGS.get(instruction.opcode)
    if instruction.opcode in ("bar", "barrier"):
        if "warp" in instruction.modifiers or instruction.modifiers[:2] == ("cluster", "arrive"):
            return None
        return Ending.ARRIVE if "arrive" in instruction.modifiers else ending
    if instruction.opcode == "call":
        callee = instruction.operands[0].callee
        if isinstance(callee, Register):
            return Ending.INDIRECT
        return Ending.HOST if callee.name in HOST_FUNCTIONS else ending
    return ending


def functions_of(module: Module, entry: Function) -> list[Function]:
    """The entry and all functions that it may call, callees first."""
    order: list[Function] = []
    seen: set[str] = set()

    def visit(function: Function) -> None:
        seen.add(function.name)
        for name in _callees(module, function):
            if name not in seen:
                visit(module.functions[name])
        order.append(function)

    visit(entry)
    return order


def _callees(module: Module, function: Function) -> list[str]:
    """Functions that a function calls, or whose address it takes."""
    names = []
    for instruction in function.instructions:
        for operand in instruction.operands:
            if isinstance(operand, Call):
                operand = operand.callee
            if isinstance(operand, Symbol) and operand.name in module.functions:
                names.append(operand.name)
    return [n for n in dict.fromkeys(names) if module.functions[n].has_body]


def blocks_of(module: Module, function: Function, split_memory: bool = False) -> list[Block]:
    """The blocks of one function in the order in which they should run; the first is its entry.

    ``split_memory``: memory accesses start a new block, so that they can be executed one by one.
    """
    starts = _leaders(module, function, split_memory)
    bounds = sorted(starts | {0, len(function.instructions)})
    blocks = [Block(function, a, b) for a, b in zip(bounds, bounds[1:])]
    if not blocks:
        raise InputError(
            module.name, f"line {function.position.line}", f"function {function.name} is empty"
        )
    at = {b.first: b for b in blocks}
    for k, block in enumerate(blocks):
        _connect(block, at, blocks[k + 1] if k + 1 < len(blocks) else None)
    ordered = _order(blocks[0])
    _find_loops(module, ordered)
    _find_live(module, ordered)
    return ordered


def _leaders(module: Module, function: Function, split_memory: bool) -> set[int]:
    starts = {i for i in function.labels.values() if i < len(function.instructions)}
    members: tuple = ()  # operands that the warp-wide operations of the block name
    for i, instruction in enumerate(function.instructions):
        entry = entry_of(module, instruction)
        if i in starts:
            members = ()
        ending = ending_of(instruction)
        if ending is not None:
            starts.add(i + 1)
            members = ()
        elif entry.converges:
            if instruction.operands[-1:] != members:
                starts.add(i)
            members = instruction.operands[-1:]
        elif split_memory and (entry.polls or instruction.opcode in ("ld", "st", "red")):
            starts.add(i)
    return starts


def _connect(block: Block, at: dict[int, Block], after: Block | None) -> None:
    """Set a block's ending and targets from its last instruction."""
    last, function = block.last, block.function
    ending = ending_of(last)
    block.next = after
    if ending is None:
        return
    block.ending = ending
    if last.opcode == "bra":
        target = at.get(function.labels[last.operands[0].name])
        block.taken, block.next = (target, after) if last.guard is not None else (None, target)
        block.ending = Ending.BRANCH if last.guard is not None else Ending.JUMP
    elif last.opcode == "brx":
        labels = function.tables[last.operands[1].name]
        block.more = [at[function.labels[n]] for n in labels]
    elif last.opcode == "ret" and function.is_entry:
        block.ending = Ending.EXIT
    if last.opcode in ("brx", "exit", "ret") and last.guard is None:
        block.next = None


def _order(entry: Block) -> list[Block]:
    """Reverse post-order in which loops are contiguous and the text's order breaks ties.

    Successors are visited last first, so that what lies later in the text gets a larger number;
    blocks that nobody reaches are left out.
    """
    finished: list[Block] = []
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


def _visit_order(block: Block) -> list[Block]:
    return sorted(block.successors, key=lambda b: -b.first)


def _find_loops(module: Module, blocks: list[Block]) -> None:
    """Mark the blocks of loops in which something polls memory."""
    place = {b: k for k, b in enumerate(blocks)}
    for end in blocks:
        for start in end.successors:
            if place[start] > place[end]:
                continue
            loop = blocks[place[start] : place[end] + 1]
            if any(entry_of(module, i).polls for b in loop for i in b.instructions):
                for block in loop:
                    block.spins = True


def _find_live(module: Module, blocks: list[Block]) -> None:
    """Which registers are live where blocks begin and end."""
    for block in blocks:
        own = block.function.registers.keys() | {CARRY}  # others are special registers
        for instruction in block.instructions:
            entry = entry_of(module, instruction)
            block.reads |= (set(read(instruction, entry)) & own) - block.writes
            block.writes |= set(written(instruction, entry))
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(b.live_in for b in block.successors))
            live = block.reads | (out - block.writes)
            if live != block.live_in or out != block.live_out:
                block.live_in, block.live_out, changed = live, out, True
