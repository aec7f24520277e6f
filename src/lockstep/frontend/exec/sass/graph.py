"""Basic blocks of a SASS kernel."""

from dataclasses import dataclass, field
from itertools import pairwise

from lockstep.frontend.exec.program import Ending
from lockstep.frontend.exec.sass.opcodes import polls
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Register, Target

_ENDINGS = {
    "BRA": Ending.BRANCH,
    "JMP": Ending.BRANCH,
    "CALL": Ending.BRANCH,
    "BRX": Ending.INDIRECT,
    "RET": Ending.INDIRECT,
    "EXIT": Ending.EXIT,
    "BAR": Ending.BARRIER,
    "BPT": Ending.EXIT,
}
CONVERGING = ("BSYNC", "WARPSYNC")
ALL_LANES = 0xFFFFFFFF


@dataclass(eq=False)
class Block:
    """Instructions ``first`` to ``end - 1``, entered at the first only.

    ``reads`` are the registers read before the block writes them, ``writes`` those it writes;
    they are known once it has been emitted. ``open_ended`` blocks end in a jump whose targets
    only the registers tell.
    """

    first: int
    end: int
    ending: Ending = Ending.JUMP
    taken: "Block | None" = None
    next: "Block | None" = None
    more: list["Block"] = field(default_factory=list)
    number: int = -1
    spins: bool = False
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    live_in: set[str] = field(default_factory=set)
    live_out: set[str] = field(default_factory=set)

    @property
    def successors(self) -> list["Block"]:
        """Blocks that may follow."""
        return [b for b in (self.taken, self.next, *self.more) if b is not None]


class Graph:
    """The blocks of one kernel's code, in the order in which they should run."""

    def __init__(self, code: list[Instruction], indirect_targets: dict[int, list[int]]):
        self.code = code
        self._targets = indirect_targets
        self._index = {i.pc: k for k, i in enumerate(code)}
        bounds = sorted({0, len(code)} | self._leaders())
        self.blocks = [Block(a, b) for a, b in pairwise(bounds)]
        self.at = {b.first: b for b in self.blocks}
        for block in self.blocks:
            self._connect(block)
        self._link_indirect()
        self.blocks = [b for b in self.blocks if b in self._reached()]
        for number, block in enumerate(self.blocks):
            block.number = number
        self._find_loops()

    def target(self, instruction: Instruction) -> int | None:
        """Static index of where a direct jump goes."""
        for operand in instruction.operands:
            if isinstance(operand, Target) and operand.base is None:
                return self._index.get(operand.address)
        return None

    def _leaders(self) -> set[int]:
        starts = set()
        for k, instruction in enumerate(self.code):
            if ending_of(instruction) is not None:
                starts.add(k + 1)
                target = self.target(instruction)
                if target is not None:
                    starts.add(target)
            if converges(instruction):
                starts.add(k)
            starts |= {self._index[pc] for pc in self._targets.get(instruction.pc, ())}
        return starts

    def _connect(self, block: Block) -> None:
        last = self.code[block.end - 1]
        ending = ending_of(last)
        block.next = self.at.get(block.end)
        if ending is None:
            return
        block.ending = ending
        if ending == Ending.BRANCH:
            block.taken = self.at.get(self.target(last))
        always = last.guard is None and not _conditional(last)
        if always and ending in (Ending.BRANCH, Ending.INDIRECT, Ending.EXIT):
            block.next = None

    def _link_indirect(self) -> None:
        """A return may go to wherever a call returns to, or a pc is taken from."""
        returns = [
            self.at[b.end]
            for b in self.blocks
            if self.code[b.end - 1].mnemonic.startswith("CALL") and b.end in self.at
        ]
        for block in self.blocks:
            last = self.code[block.end - 1]
            if last.mnemonic == "RET":
                block.more = returns
            elif last.mnemonic.startswith("BRX"):
                listed = self._targets.get(last.pc)
                places = [self.at[self._index[pc]] for pc in listed] if listed else self.blocks
                block.more = list(dict.fromkeys(places))

    def _reached(self) -> set[Block]:
        seen, todo = set(), [self.blocks[0]]
        while todo:
            block = todo.pop()
            if block in seen:
                continue
            seen.add(block)
            todo += block.successors
            last = self.code[block.end - 1]
            if last.mnemonic.startswith("CALL") and block.end in self.at:
                todo.append(self.at[block.end])
        return seen

    def _find_loops(self) -> None:
        place = {b: k for k, b in enumerate(self.blocks)}
        for end in self.blocks:
            for start in end.successors:
                if place[start] > place[end]:
                    continue
                loop = self.blocks[place[start] : place[end] + 1]
                if any(polls(i) for b in loop for i in self.code[b.first : b.end]):
                    for block in loop:
                        block.spins = True

    def find_live(self) -> None:
        """Which registers are live where blocks begin and end, from their reads and writes."""
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                out = set().union(*(b.live_in for b in block.successors))
                live = block.reads | (out - block.writes)
                if live != block.live_in or out != block.live_out:
                    block.live_in, block.live_out, changed = live, out, True


def ending_of(instruction: Instruction) -> Ending | None:
    """How an instruction ends its block, or None."""
    ending = _ENDINGS.get(instruction.mnemonic)
    if ending == Ending.BARRIER and "ARV" in instruction.modifiers:
        return Ending.ARRIVE
    return ending


def _conditional(instruction: Instruction) -> bool:
    """Whether a branch has a predicate among its operands."""
    return any(isinstance(o, Register) and o.file in ("P", "UP") for o in instruction.operands)


def converges(instruction: Instruction) -> bool:
    """Whether lanes wait for others before an instruction."""
    return instruction.mnemonic in CONVERGING or "DIV" in instruction.modifiers


def members_of(instruction: Instruction) -> int | str:
    """Whom a converging instruction waits for: a mask, or the register that holds it."""
    for operand in instruction.operands:
        if isinstance(operand, Register) and operand.file in ("B", "R") and not operand.is_zero:
            return f"{operand.file}{operand.number}"
        if isinstance(operand, Immediate):
            return operand.value & ALL_LANES
    return ALL_LANES
