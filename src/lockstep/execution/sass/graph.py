"""Basic blocks of a SASS kernel."""

from collections.abc import Collection, Sequence
from itertools import pairwise

from lockstep.execution.flow.blocks import BasicBlock, bounds, reach
from lockstep.execution.programs.program import Ending, Meeting
from lockstep.execution.programs.services import SERVICES
from lockstep.isa.instruction import ALL_LANES
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
    "BREAK": Ending.BREAK,
    "NANOSLEEP": Ending.SLEEP,
    "BSYNC": Ending.MEET,
    "WARPSYNC": Ending.MEET,
}
_EXCHANGES = ("ELECT", "MATCH", "REDUX", "SHFL", "VOTE", "VOTEU")  # what lanes meet for


class Block(BasicBlock, eq=False):
    """Instructions of a kernel, or a service of the host, which has none.

    What it reads and writes is known once it has been emitted. A block that ``joins`` has no
    instructions and never runs: those whose jumps have the same many targets go through it, so that
    there are as many edges as blocks, not as many as pairs of returns and calls.
    """

    returns_to: "Block | None" = None  # of a call: what follows it
    joins: bool = False
    pc: int = -1  # of its first instruction; -1 = none
    service: int | None = None  # of the host
    first_site: int = 0  # of its memory sites


class Graph:
    """The blocks of one kernel's code, in the order in which they should run.

    ``entries`` are pcs at which calls through registers may arrive, services of the host from
    ``services`` on, ``steps`` the static indices at which blocks begin whatever the control flow,
    ``offered`` the numbers of the services that may be called. ``may_recur``: the depth of calls is
    not known.
    """

    def __init__(
        self,
        code: list[Instruction],
        entries: Sequence[int],
        services: int,
        steps: Collection[int] = (),
        offered: Sequence[int] = range(len(SERVICES)),
    ):
        self.code = code
        self._index = {i.pc: k for k, i in enumerate(code)}
        self._entries = [self._index[pc] for pc in entries if pc in self._index]
        starts = self._leaders() | set(steps)
        self.blocks = [Block(a, b, pc=code[a].pc) for a, b in pairwise(bounds(starts, len(code)))]
        self.at = {b.first: b for b in self.blocks}
        for block in self.blocks:
            self._connect(block)
        self.may_recur = any(self._may_recur(b) for b in self.blocks)
        asked, answers = self._add_services(services, offered)
        targets = [self.at[k] for k in self._entries]
        self._returns = _joint([b.returns_to for b in self.blocks if b.returns_to is not None])
        self._targets, self._calls = _joint(targets), _joint([*targets, *asked])
        self.joints = [self._returns, self._targets, self._calls]
        self._link_indirect(answers)
        reached = self._reached()
        self.blocks = [b for b in self.blocks if b in reached]
        for joint in self.joints:
            joint.more = [b for b in joint.more if b in reached]
        for number, block in enumerate(self.blocks):
            block.number = number

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
        if last.mnemonic == "CALL":
            block.returns_to = block.next
        if always and ending in (Ending.BRANCH, Ending.INDIRECT, Ending.EXIT, Ending.TRAP):
            block.next = None

    def _may_recur(self, block: Block) -> bool:
        """Whether a block calls what a register tells, or something before it."""
        target = self.target(self.code[block.end - 1])
        return block.returns_to is not None and (target is None or target < block.end)

    def _add_services(self, start: int, offered: Sequence[int]) -> tuple[list[Block], list[Block]]:
        """Two blocks for each service: the request, which calls reach, and the way back."""
        end, asked = len(self.code), {}
        for service in offered:
            answer = Block(end, end, Ending.INDIRECT, service=service)
            pc = start + BYTES * service
            asked[pc] = Block(end, end, Ending.HOST, taken=answer, pc=pc, service=service)
        for block in self.blocks:
            if block.ending == Ending.BRANCH and block.taken is None:
                block.taken = asked.get(address_in(self.code[block.end - 1]))
        for block in asked.values():
            self.blocks += [block, block.taken]
        return list(asked.values()), [block.taken for block in asked.values()]

    def _link_indirect(self, answers: list[Block]) -> None:
        """A return may go to wherever a call returns to, others to all whose address is taken."""
        joints = {"RET": self._returns, "CALL": self._calls}
        for block in answers:
            block.more = [self._returns]
        for block in self.blocks:
            if block.ending == Ending.INDIRECT and block.service is None:
                mnemonic = self.code[block.end - 1].mnemonic
                block.more = [joints.get(mnemonic, self._targets)]

    def _reached(self) -> set[Block]:
        def following(block: Block) -> list[Block]:
            again = [] if block.returns_to is None else [block.returns_to]
            # A function returns to who called it: what all calls together return to is no way.
            return [b for b in (*block.successors, *again) if b is not self._returns]

        return {self._returns} | reach([self.blocks[0]], following)


def _joint(targets: list[Block]) -> Block:
    return Block(0, 0, more=targets, joins=True)


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
    if asks_convergence(instruction):
        return True
    return any(isinstance(o, Register) and o.file in ("P", "UP") for o in instruction.operands)


def asks_convergence(instruction: Instruction) -> bool:
    """Whether a branch asks if the lanes that a mask names have come together."""
    return bool({"DIV", "CONV"} & set(instruction.modifiers))


def meeting_of(code: Sequence[Instruction]) -> Meeting:
    """For whom lanes wait that have executed the first of these instructions."""
    if code[0].mnemonic == "BSYNC":
        return Meeting.PATHS
    if not any(i.mnemonic in _EXCHANGES for i in code):
        return Meeting.ANYWHERE
    apart = {"EXCLUSIVE", "COLLECTIVE"} & set(code[0].modifiers)
    return Meeting.ALONE if apart else Meeting.OPERATION


def members_of(instruction: Instruction) -> int | str:
    """Whom an instruction waits for, or who leaves: a mask, or the register that holds it."""
    for operand in instruction.operands:
        if isinstance(operand, Register) and operand.file in ("B", "R") and not operand.is_zero:
            return f"{operand.file}{operand.number}"
        if isinstance(operand, Immediate):
            return operand.value & ALL_LANES
    return ALL_LANES
