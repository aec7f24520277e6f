"""A SASS kernel to a program: blocks, machine code of this host, static records."""

from dataclasses import dataclass, field

import numpy as np
from llvmlite import ir

from lockstep.errors import LockstepError
from lockstep.frontend.exec import native
from lockstep.frontend.exec.lanes.builder import WORD, LaneBuilder
from lockstep.frontend.exec.lanes.stream import Stream
from lockstep.frontend.exec.program import BLOCK, EXITED, Ending, Program
from lockstep.frontend.exec.sass import (  # noqa: F401 (tables)
    atomics,
    control,
    conversion,
    floating,
    half,
    integer,
    matrix,
    memory,
    warp,
)
from lockstep.frontend.exec.sass.graph import Block, Graph, converges, members_of
from lockstep.frontend.exec.sass.lift import Lift, Shared, Slots
from lockstep.frontend.exec.sass.opcodes import find, problem
from lockstep.isa.sass.encoding.decoder import disassemble
from lockstep.isa.sass.encoding.instruction import Instruction


@dataclass
class Source:
    """What a cubin says of a kernel, as far as execution needs it."""

    name: str
    code: bytes
    architecture: int
    registers: int
    local_bytes: int = 0
    shared_bytes: int = 0
    indirect_targets: dict[int, list[int]] = field(default_factory=dict)  # pc of BRX -> pcs


class Translation:
    """One kernel on its way to a :class:`Program`."""

    def __init__(self, source: Source, recording: bool):
        self.source, self.recording = source, recording
        self.code = list(disassemble(source.code, source.architecture))
        for instruction in self.code:
            reason = problem(instruction)
            if reason:
                place = f"kernel {source.name}, {instruction.pc:#06x}"
                raise LockstepError(f"{place} {instruction.text()}: {reason}")
        self.graph = Graph(self.code, source.indirect_targets)
        self.slots = Slots(source.registers)
        self.shared = Shared([], {})

    def program(self) -> Program:
        """Emit every block and compile them."""
        module = ir.Module()
        module.triple = ""
        graph = self.graph
        emitted = [self._emit(module, block) for block in graph.blocks]
        graph.find_live()
        records = np.zeros(len(graph.blocks), BLOCK)
        for block, (lift, leaving) in zip(graph.blocks, emitted, strict=True):
            self._finish(block, lift, leaving)
            self._describe(block, records[block.number], lift)
        entry = graph.blocks[0]
        return Program(
            name=self.source.name,
            blocks=records,
            functions=[f"block{b.number}" for b in graph.blocks],
            register_bytes=self.slots.bytes,
            local_bytes=self.source.local_bytes,
            shared_bytes=self.source.shared_bytes,
            sites=self.shared.sites,
            symbols=list(self.shared.banks),
            items=[lift.stream.items if lift.stream else [] for lift, _ in emitted],
            entry=entry.number,
            cleared_bytes=self.slots.bytes if entry.live_in else 0,
            registers=self.source.registers,
            targets=self._targets(),
            objects=native.assemble(str(module)),
        )

    def _emit(self, module: ir.Module, block: Block) -> tuple[Lift, ir.Value | None]:
        b = LaneBuilder(module, f"block{block.number}")
        lift = Lift(self.source.name, self.slots, b, self.shared)
        if self.recording:
            lift.stream = Stream(b, block.number)
        leaving = None
        for number in range(block.first, block.end):
            lift.number, lift.instruction = number, self.code[number]
            leaving = self._lift(lift, self.code[number])
        block.reads, block.writes = lift.reads, set(lift.written)
        return lift, leaving

    @staticmethod
    def _lift(lift: Lift, instruction: Instruction) -> ir.Value:
        """Emit one instruction; the lanes for which it was executed."""
        b, guard = lift.b, lift.guard()
        before = b.active
        if guard is not None:
            lift.restrict(guard)
            if lift.stream is not None:
                lift.stream.lanes(lift.number)
        find(instruction).lift(lift, instruction)
        lanes = b.bits_of(b.active)
        b.active = before
        return lanes

    @staticmethod
    def _finish(block: Block, lift: Lift, leaving: ir.Value) -> None:
        lift.store_live(block.live_out)
        if lift.stream is not None:
            lift.stream.close()
        lift.b.ir.ret(lift.b.ir.zext(leaving, WORD))

    def _describe(self, block: Block, record: np.void, lift: Lift) -> None:
        record["first"], record["count"] = block.first, block.end - block.first
        record["ending"] = block.ending
        record["taken"] = EXITED if block.taken is None else block.taken.number
        record["next"] = EXITED if block.next is None else block.next.number
        record["spins"] = block.spins
        if block.ending in (Ending.BARRIER, Ending.ARRIVE):
            record["taken"], record["barrier"] = record["next"], -1
            record["reduces"] = "RED" in self.code[block.end - 1].modifiers
        record["members_slot"] = record["guard_slot"] = -1
        record["stream_words"] = lift.stream.words if lift.stream is not None else 0
        head = self.code[block.first]
        if converges(head):
            record["converges"] = 1
            members = members_of(head)
            if isinstance(members, str):
                record["members_slot"] = self.slots[members]
            else:
                record["members"] = members

    def _targets(self) -> np.ndarray:
        """Block number of each instruction that begins one, for jumps through registers."""
        targets = np.full(len(self.code), EXITED, np.int64)
        for block in self.graph.blocks:
            targets[block.first] = block.number
        return targets
