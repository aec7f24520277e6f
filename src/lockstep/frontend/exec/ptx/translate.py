"""A PTX kernel to a program: blocks, layout, machine code."""

import hashlib
import pickle
from functools import cache
from pathlib import Path

import numpy as np
from llvmlite import ir

from lockstep.frontend.exec import native
from lockstep.frontend.exec.lanes.builder import WORD, LaneBuilder
from lockstep.frontend.exec.lanes.stream import Stream
from lockstep.frontend.exec.program import BLOCK, EXITED, Ending, Program
from lockstep.frontend.exec.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.frontend.exec.ptx.graph import Block, blocks_of, entry_of, functions_of
from lockstep.frontend.exec.ptx.layout import Layout
from lockstep.frontend.exec.ptx.lift import Lift
from lockstep.frontend.exec.ptx.statics import StaticCode
from lockstep.isa.ptx.syntax import Immediate, Module, Register


class Translation:
    """One kernel of a module on its way to a :class:`Program`."""

    def __init__(self, module: Module, name: str, recording: bool, at_issue: bool = False):
        self.module, self.recording = module, recording
        self.functions = functions_of(module, module.functions[name])
        self.layout = Layout(module, self.functions)
        self.first: dict[str, int] = {}  # static index of each function's first instruction
        self.entries: dict[str, Block] = {}
        self.blocks: list[Block] = []
        count = 0
        for function in reversed(self.functions):  # the entry's instructions come first
            self.first[function.name] = count
            count += len(function.instructions)
        for function in self.functions:
            blocks = blocks_of(module, function, at_issue)
            self.entries[function.name] = blocks[0]
            self.blocks += blocks
        for number, block in enumerate(self.blocks):
            block.number = number
        self.layout.assign_slots(self.blocks)

    def program(self) -> Program:
        """Emit every block and compile them."""
        code = ir.Module()
        code.triple = ""
        records = np.zeros(len(self.blocks), BLOCK)
        items = []
        for block in self.blocks:
            items.append(self._emit(code, block, records[block.number]))
        layout = self.layout
        static = StaticCode(self.module, self.functions[::-1], self.blocks)
        entry = self.entries[layout.entry.name]
        return Program(
            name=layout.entry.name,
            blocks=records,
            functions=[f"block{b.number}" for b in self.blocks],
            register_bytes=layout.register_bytes,
            local_bytes=layout.local_bytes,
            shared_bytes=layout.shared_bytes,
            sites=layout.sites,
            symbols=list(layout.symbols),
            items=items,
            entry=entry.number,
            cleared_bytes=layout.register_bytes if entry.live_in else 0,
            code=static.records,
            texts=static.texts,
            registers=static.registers,
            objects=native.assemble(str(code)),
        )

    def _emit(self, code: ir.Module, block: Block, record: np.void) -> list:
        b = LaneBuilder(code, f"block{block.number}")
        lift = Lift(self.module, self.layout, block.function, b)
        if self.recording:
            lift.stream = Stream(b, block.number)
        leaving = None
        for k, instruction in enumerate(block.instructions):
            lift.number = self.first[block.function.name] + block.first + k
            lift.instruction = instruction
            leaving = self._lift(lift, instruction)
        lift.instruction = None
        lift.store_live(block.live_out)
        if lift.stream is not None:
            lift.stream.close()
        b.ir.ret(b.ir.zext(b.mask_bits if leaving is None else leaving, WORD))
        self._describe(block, record, lift)
        return lift.stream.items if lift.stream is not None else []

    @staticmethod
    def _lift(lift: Lift, instruction) -> ir.Value | None:
        """Emit one instruction; the lanes that its guard selects."""
        entry = entry_of(lift.module, instruction)
        guard = lift.guard()
        if guard is None:
            entry.lift(lift, instruction)
            return None
        with lift.b.guarded(guard):
            if lift.stream is not None:
                lift.stream.lanes(lift.number)
            entry.lift(lift, instruction)
            return lift.b.bits_of(lift.b.active)

    def _describe(self, block: Block, record: np.void, lift: Lift) -> None:
        record["first"] = self.first[block.function.name] + block.first
        record["count"] = block.end - block.first
        record["ending"], record["taken"], record["next"] = self._targets(block)
        record["spins"] = block.spins
        record["members_slot"] = -1
        record["stream_words"] = lift.stream.words if lift.stream is not None else 0
        head = block.instructions[0]
        if entry_of(self.module, head).converges:
            self._describe_members(block, record, head.operands[-1])

    def _describe_members(self, block: Block, record: np.void, members) -> None:
        record["converges"] = 1
        if isinstance(members, Immediate):
            record["members"] = members.value & 0xFFFFFFFF
        elif isinstance(members, Register):
            record["members_slot"] = self.layout.slots[block.function.name, members.name]

    def _targets(self, block: Block) -> tuple[int, int, int]:
        after = EXITED if block.next is None else block.next.number
        if block.last.opcode == "call" and block.ending == Ending.JUMP:
            callee = self.entries[block.last.operands[0].callee.name].number
            guarded = block.last.guard is not None
            return (Ending.BRANCH, callee, after) if guarded else (Ending.JUMP, EXITED, callee)
        taken = EXITED if block.taken is None else block.taken.number
        return block.ending, taken, after


@cache
def _sources() -> str:
    """Hash of the package's files that determine the translation."""
    here = Path(__file__).parent.parent
    files = sorted([*here.rglob("*.py"), *(here.parent.parent / "isa/ptx").glob("*.py")])
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def translate(module: Module, name: str, key: str, recording: bool, at_issue=False) -> Program:
    """The program of a kernel; ``key`` identifies the module's text in the disk cache."""
    parts = (key, module.name, name, recording, at_issue, _sources())
    key = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
    made = native.cached(
        key, lambda: pickle.dumps(Translation(module, name, recording, at_issue).program())
    )
    return pickle.loads(made)
