"""A kernel to a program: blocks, machine code of this host, static records."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lockstep.execution.flow.liveness import find_live
from lockstep.execution.gcn import instructions  # noqa: F401 (fills the table)
from lockstep.execution.gcn.compute import compute
from lockstep.execution.gcn.graph import Block, blocks_of
from lockstep.execution.gcn.lift import Lift, heeds_exec
from lockstep.execution.gcn.opcodes import TABLE
from lockstep.execution.gcn.registers import EXEC, RegisterSlots
from lockstep.execution.gcn.source import LANES, Source
from lockstep.execution.gcn.start import start
from lockstep.execution.gcn.statics import static_code
from lockstep.execution.gcn.waiting import CLOCK, find_waiting_loops, overtaking_in, steps_of
from lockstep.execution.gcn.whole import find_whole
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.programs import translation
from lockstep.execution.programs.program import EXITED, Ending, Part, Recording
from lockstep.isa.gcn.instruction import Instruction
from lockstep.isa.gcn.spelling import spell
from lockstep.isa.instruction import OpClass, Space
from lockstep.workload import Origin

Lifted = Any  # a Lift: the base class takes those of any instruction set


class Translation(translation.Translation):
    """One kernel on its way to a :class:`Program`."""

    lanes = LANES

    def __init__(self, source: Source, recording: Recording):
        self.source, self.recording = source, recording
        self.records, self.texts = static_code(source.code)
        self.blocks = self._blocks()
        self._held = find_whole(self.blocks, source.code)
        self.slots = RegisterSlots(source.vectors, LANES)
        self.sites: list[tuple[int, int]] = []

    def _blocks(self) -> list[Block]:
        """The blocks; in a run that is not at issue, wavefronts give way where they overtake."""
        source = self.source
        if Recording.AT_ISSUE in self.recording:
            return blocks_of(source, steps_of(source.code, self.records))
        places = overtaking_in(blocks_of(source), self.records)
        blocks = blocks_of(source, places)
        for block in blocks:
            block.overtakes = not block.starts and block.first in places
        find_waiting_loops(blocks, self.records)
        return blocks

    def open(self, block: Block, builder: LaneBuilder, part: Part | None) -> Lift:
        """The lift of a block."""
        builder.float_mode = self.source.float_mode
        return Lift(self.source, self.slots, builder, self.sites, self._held[block])

    def begin(self, lift: Lifted, block: Block) -> None:
        """The first block puts into registers what a wavefront starts with."""
        if block.starts:
            start(lift)

    def instructions(self, block: Block) -> Iterable[tuple[int, Instruction]]:
        """A block's instructions with their static indices."""
        return ((k, self.source.code[k]) for k in range(block.first, block.end))

    def access(self, number: int, instruction: Instruction) -> tuple[OpClass, Space, int]:
        """Class, memory space and width of an instruction, as its record has them."""
        record = self.records[number]
        return OpClass(record["op"]), Space(record["space"]), int(record["width"])

    def emit(self, lift: Lifted, instruction: Instruction) -> None:
        """Emit one instruction: by its entry in the table, or as arithmetic."""
        entry = TABLE.get(instruction.name)
        if entry is not None:
            entry(lift, instruction)
        else:
            compute(lift, instruction)
        lift.pass_by(instruction)

    def open_stream(self, lift: Lifted, block: Block) -> None:
        """The first block has no instructions of the kernel."""
        if not block.starts:
            super().open_stream(lift, block)

    def find_live(self, lifts: Sequence[Lifted]) -> None:
        """What blocks read and write is known now."""
        for block, lift in zip(self.blocks, lifts, strict=True):
            block.reads, block.writes = lift.reads, set(lift.written)
        find_live(self.blocks)

    def describe(self, block: Block, lift: Lifted, record: np.void) -> None:
        """Fill a block's record."""
        record["first"], record["count"] = block.first, block.end - block.first
        record["ending"] = block.ending
        record["taken"] = EXITED if block.taken is None else block.taken.number
        record["next"] = EXITED if block.next is None else block.next.number
        record["spins"] = block.spins
        record["overtakes"] = block.overtakes
        if block.ending == Ending.BARRIER:
            record["taken"] = record["next"]
        heeds = not block.starts and heeds_exec(self.source.code[block.first])
        if heeds and EXEC not in self._held[block]:
            record["guard_slot"] = self.slots[f"s{EXEC}"]

    def facts(self) -> dict[str, Any]:
        """What a program says of the whole kernel."""
        source = self.source
        return {
            "name": source.name,
            "file": source.file,
            "register_bytes": self.slots.bytes,
            "cleared_bytes": self.slots.bytes if self.blocks[0].live_in else 0,
            "local_bytes": 0,
            "shared_bytes": source.lds_bytes,
            "sites": self.sites,
            "symbols": [],
            "code": self.records,
            "texts": self.texts,
            "origins": [Origin(source.name, 0, text=spell(i)) for i in source.code],
            "registers": source.vectors,
            "scalar_registers": source.scalars,
            "clock_reads": [k for k, i in enumerate(source.code) if i.name == CLOCK],
        }
