"""Basic blocks of a SASS kernel."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lockstep.frontend.exec.program import SERVICES, Ending
from lockstep.frontend.exec.sass.opcodes import asks_barriers, polls
from lockstep.isa.sass.encoding.instruction import BYTES, Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Register, Target

_ENDINGS = {
    "BRA": Ending.BRANCH,
    "JMP": Ending.BRANCH,
    "CALL": Ending.BRANCH,
    "BRX": Ending.INDIRECT,
    "BRXU": Ending.INDIRECT,
    "JMX": Ending.INDIRECT,
    "JMXU": Ending.INDIRECT,
    "RET": Ending.INDIRECT,
    "EXIT": Ending.EXIT,
    "BAR": Ending.BARRIER,
    "UCGABAR_ARV": Ending.ARRIVE,
    "UCGABAR_WAIT": Ending.BARRIER,
    "BPT": Ending.TRAP,
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
    pc: int = -1  # of its first instruction; -1 = none
    service: int | None = None  # of the host, which has no instructions
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
    """The blocks of one kernel's code, in the order in which they should run.

    ``entries`` are pcs at which calls through registers may arrive, services of the host from
    ``services`` on, ``steps`` the static indices at which blocks begin whatever the control flow.
    ``may_recur``: the depth of calls is not known.
    """

    def __init__(
        self,
        code: list[Instruction],
        entries: Sequence[int],
        services: int,
        steps: Collection[int] = (),
    ):
        self.code = code
        self._index = {i.pc: k for k, i in enumerate(code)}
        self._entries = [self._index[pc] for pc in entries if pc in self._index]
        bounds = sorted({0, len(code)} | self._leaders() | set(steps))
        self.blocks = [Block(a, b, pc=code[a].pc) for a, b in pairwise(bounds)]
        self.at = {b.first: b for b in self.blocks}
        for block in self.blocks:
            self._connect(block)
        self._returns = [self.at[b.end] for b in self.blocks if self._calls(b)]
        self._targets = [self.at[k] for k in self._entries]
        self.may_recur = any(self._may_recur(b) for b in self.blocks)
        self._link_indirect(self._add_services(services))
        reached = self._reached()
        self.blocks = [b for b in self.blocks if b in reached]
        for number, block in enumerate(self.blocks):
            block.number = number
        self._find_loops()

    def target(self, instruction: Instruction) -> int | None:
        """Static index of where a direct jump goes."""
        return self._index.get(address_in(instruction))

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
        return starts | set(self._entries)

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
        if always and ending in (Ending.BRANCH, Ending.INDIRECT, Ending.EXIT, Ending.TRAP):
            block.next = None

    def _calls(self, block: Block) -> bool:
        return self.code[block.end - 1].mnemonic == "CALL" and block.end in self.at

    def _may_recur(self, block: Block) -> bool:
        """Whether a block calls what a register tells, or something before it."""
        target = self.target(self.code[block.end - 1])
        return self._calls(block) and (target is None or target < block.end)

    def _add_services(self, start: int) -> list[Block]:
        """Two blocks for each service: the request, which calls reach, and the way back."""
        end, asked = len(self.code), {}
        for service in range(len(SERVICES)):
            answer = Block(end, end, Ending.INDIRECT, more=self._returns, service=service)
            pc = start + BYTES * service
            asked[pc] = Block(end, end, Ending.HOST, taken=answer, pc=pc, service=service)
        for block in self.blocks:
            if block.ending == Ending.BRANCH and block.taken is None:
                block.taken = asked.get(address_in(self.code[block.end - 1]))
        for block in asked.values():
            self.blocks += [block, block.taken]
        return list(asked.values())

    def _link_indirect(self, services: list[Block]) -> None:
        """A return may go to wherever a call returns to, others to all whose address is taken."""
        calls = [*self._targets, *services]
        for block in self.blocks:
            if block.ending == Ending.INDIRECT and block.service is None:
                mnemonic = self.code[block.end - 1].mnemonic
                block.more = {"RET": self._returns, "CALL": calls}.get(mnemonic, self._targets)

    def _reached(self) -> set[Block]:
        seen, todo = set(), [self.blocks[0]]
        while todo:
            block = todo.pop()
            if block in seen:
                continue
            seen.add(block)
            todo += block.successors
            if block.service is None and self._calls(block):
                todo.append(self.at[block.end])
        return seen

    def _find_loops(self) -> None:
        """Mark the blocks of loops in which something polls memory."""
        asks = asks_barriers(self.code)
        place = {b: k for k, b in enumerate(self.blocks)}
        before: dict[Block, list[Block]] = {b: [] for b in self.blocks}
        for block in self.blocks:
            for after in block.successors:
                before[after].append(block)
        for end in self.blocks:
            for start in end.successors:
                if place[start] > place[end]:
                    continue
                # Code out of line jumps back, too: only what is between the two counts.
                loop = _reach([start], lambda b: b.successors) & _reach(
                    [end], lambda b, start=start: [] if b is start else before[b]
                )
                inside = [i for b in loop for i in self.code[b.first : b.end]]
                if any(polls(i) or (asks and i.mnemonic == "LDS") for i in inside):
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


def _reach(blocks: list[Block], following: Callable[[Block], list[Block]]) -> set[Block]:
    """The blocks and all that follow them."""
    seen, todo = set(), list(blocks)
    while todo:
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            todo += following(block)
    return seen


def ending_of(instruction: Instruction) -> Ending | None:
    """How an instruction ends its block, or None."""
    if instruction.mnemonic == "WARPGROUP" and "DEPBAR" in instruction.modifiers:
        return Ending.BARRIER
    ending = _ENDINGS.get(instruction.mnemonic)
    if ending == Ending.BRANCH and address_in(instruction) is None:
        return Ending.INDIRECT
    if ending == Ending.BARRIER and "ARV" in instruction.modifiers:
        return Ending.ARRIVE
    return ending


def address_in(instruction: Instruction) -> int | None:
    """The pc that a jump holds itself."""
    targets = (o for o in instruction.operands if isinstance(o, Target) and o.base is None)
    return next((o.address for o in targets), None)


def jumps_anywhere(instruction: Instruction) -> bool:
    """Whether registers or constants hold the target of a jump."""
    return ending_of(instruction) == Ending.INDIRECT


def _conditional(instruction: Instruction) -> bool:
    """Whether lanes may go on after a branch: a predicate chooses, or what has converged."""
    if {"DIV", "CONV"} & set(instruction.modifiers):
        return True
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
