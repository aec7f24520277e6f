"""A PTX kernel to a program: blocks, layout, machine code."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace

from lockstep.execution.lanes.addresses import Strength
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.programs import parts, translation
from lockstep.execution.programs.program import (
    ARRIVALS,
    EXITED,
    Ending,
    Meeting,
    Part,
    Recording,
)
from lockstep.execution.ptx import (
    barrier,
    calls,
    instructions,  # noqa: F401  (fills the table)
)
from lockstep.execution.ptx.arity import check_operands
from lockstep.execution.ptx.callgraph import CallGraph
from lockstep.execution.ptx.classes import class_of, space_of, width_of
from lockstep.execution.ptx.graph import (
    Block,
    blocks_of,
    ending_of,
    entry_of,
    members_of,
    service_of,
)
from lockstep.execution.ptx.layout import STACK_ALIGNMENT, Layout
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.liveness import find_live, is_indirect
from lockstep.execution.ptx.loops import find_waiting_loops
from lockstep.execution.ptx.overtaking import has_barrier, overtaking_in
from lockstep.execution.ptx.spelling import respell
from lockstep.execution.ptx.stack import frees_on_return
from lockstep.execution.ptx.statics import StaticCode
from lockstep.execution.ptx.steps import clock_reads, idle_atomics, steps_of
from lockstep.execution.ptx.vectors import split_vectors
from lockstep.isa.instruction import ALL_LANES, WARP_SIZE, OpClass, Space
from lockstep.isa.ptx.syntax import (
    Function,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    SourceLine,
)
from lockstep.workload import Origin

_STRONG = {"volatile", "relaxed", "acquire", "release"}
_RELEASES = {"release", "acq_rel"}


class Translation(translation.Translation):
    """One kernel of a module on its way to a :class:`Program`."""

    lanes = WARP_SIZE

    def __init__(self, module: Module, name: str, recording: Recording):
        self.module, self.recording = module, recording
        self.for_debuggers = "debug" in module.target
        self.calls = CallGraph(module, module.functions[name])
        for function in self.calls.functions:
            split_vectors(function)
            respell(function)
            for instruction in function.instructions:
                check_operands(module, function, instruction)
            frees_on_return(function)
        self.layout = Layout(self.calls)
        self.functions = self.calls.functions[::-1]  # the entry's instructions come first
        self.blocks: list[Block] = []
        gives_way = Recording.AT_ISSUE not in recording and has_barrier(self.functions)
        for function in self.calls.functions:
            blocks = self._blocks(function, gives_way)
            find_waiting_loops(module, self.calls, blocks)
            find_live(module, self.layout.passed[function.name], blocks)
            self.layout.entries[function.name] = len(self.blocks)
            self.blocks += blocks
        for number, block in enumerate(self.blocks):
            block.number = number
        self.first: dict[str, int] = {}  # static index of each function's first instruction
        count = 0
        for function in self.functions:
            self.first[function.name] = count
            count += len(function.instructions)
        self.layout.assign_slots(self.blocks)

    def _blocks(self, function: Function, gives_way: bool) -> list[Block]:
        """The blocks of a function; ``gives_way``: with places where warps do so."""
        if not gives_way:
            steps = steps_of(function) if Recording.AT_ISSUE in self.recording else ()
            return blocks_of(self.module, function, steps)
        blocks = blocks_of(self.module, function)
        places = overtaking_in(blocks)
        if not places <= {b.first for b in blocks}:
            blocks = blocks_of(self.module, function, places)
        for block in blocks:
            block.overtakes = block.resumes is None and block.first in places
        return blocks

    def open(self, block: Block, builder: LaneBuilder, part: Part | None) -> Lift:
        """The lift of a block; its sites have their numbers when it is emitted in a part."""
        return Lift(self.module, self.layout, block, builder, block.first_site if part else None)

    def begin(self, lift: Lift, block: Block) -> None:
        """Enter a function, or take the results of what the block waited for."""
        if block.number == self.layout.entries[block.function.name]:
            calls.enter(lift)
        waited = block.resumes
        if waited is not None:
            lift.number = self.first[block.function.name] + block.first - 1
            lift.instruction = replace(waited, guard=None)  # all that come here took part
            entry_of(self.module, waited).resume(lift, waited)

    def instructions(self, block: Block) -> Iterable[tuple[int, Instruction]]:
        """A block's instructions with their static indices."""
        return enumerate(block.instructions, self.first[block.function.name] + block.first)

    def access(self, number: int, instruction: Instruction) -> tuple[OpClass, Space, int]:
        """Class, memory space and width of an instruction, as its record has them."""
        kind = class_of(instruction)
        return kind, space_of(instruction, kind), width_of(instruction, kind)

    def find_live(self, lifts: Sequence[Any]) -> None:
        """Which registers are live is known; which sites are a block's is known now."""
        for block, lift in zip(self.blocks, lifts, strict=True):
            block.first_site = lift.first_site

    def divide(self) -> list[tuple[int, int]]:
        """Large kernels are compiled function by function, large functions in several parts."""
        if not self._is_large:
            return super().divide()
        return parts.divided(self.blocks, self.layout.entries.values())

    @cached_property
    def _is_large(self) -> bool:
        return sum(len(f.instructions) for f in self.functions) > parts.WHOLE

    @cached_property
    def _outside_loops(self) -> set[Block]:
        return parts.outside_loops(self.blocks, self.layout.entries.values())

    def is_brief(self, block: Block) -> bool:
        """Code for debuggers, and what of large kernels is in no loop."""
        return self.for_debuggers or (self._is_large and block in self._outside_loops)

    def part(self, first: int, end: int, lifts: Sequence[Lift], granule: int) -> Part:
        """Its key tells it from others of the kernel."""
        return Part(first, end, f"{first} {end}")

    def emit(self, lift: Lift, instruction: Instruction) -> None:
        """Emit one instruction by its entry in the table."""
        entry_of(lift.module, instruction).lift(lift, instruction)

    def facts(self) -> dict[str, Any]:
        """What a program says of the whole kernel."""
        layout = self.layout
        static = StaticCode(self.module, self.functions, self.blocks, layout.parameters)
        entry = layout.entries[layout.entry.name]
        clears = self.blocks[entry].live_in or layout.frames or layout.allocates
        return {
            "name": layout.entry.name,
            "file": self.module.name,
            "register_bytes": layout.register_bytes,
            "local_bytes": layout.local_bytes,
            "shared_bytes": layout.shared_bytes,
            "reserved_shared": layout.reserved_shared,
            "sites": layout.sites,
            "symbols": list(layout.symbols),
            "entry": entry,
            "cleared_bytes": layout.register_bytes if clears else 0,
            "code": static.records,
            "texts": static.texts,
            "origins": [_origin(f.name, i) for f in self.functions for i in f.instructions],
            "registers": static.registers,
            "clustered": layout.clustered,
            "idle_atomics": idle_atomics(self.functions),
            "clock_reads": clock_reads(self.functions),
            "frame_bytes": max(layout.deepest, STACK_ALIGNMENT * layout.allocates),
        }

    def strength(self, number: int, instruction: Instruction) -> Strength:
        """Strong are loads and stores that are volatile, relaxed, or acquire or release."""
        releases = not _RELEASES.isdisjoint(instruction.modifiers)
        if releases and instruction.opcode in ("st", "atom", "red"):
            return Strength.RELEASE
        plain = instruction.opcode in ("ld", "st")
        return Strength(plain and not _STRONG.isdisjoint(instruction.modifiers))

    def describe(self, block: Block, lift: Lift, record: np.void) -> None:
        """Fill a block's record."""
        record["first"] = self.first[block.function.name] + block.first
        record["count"] = block.end - block.first
        record["ending"], record["taken"], record["next"] = self._targets(block)
        record["spins"] = ARRIVALS if block.awaits else block.spins
        record["overtakes"] = block.overtakes
        record["collects"] = True
        if block.ending in (Ending.BARRIER, Ending.ARRIVE):
            barrier.describe(block.last, record)
        elif block.ending == Ending.HOST:
            record["service"] = service_of(self.module, block.last)
        if block.instructions:
            self._describe_members(block, record)
            self._describe_guard(block.function.name, block.instructions[0].guard, record)

    def _describe_members(self, block: Block, record: np.void) -> None:
        head = block.instructions[0]
        members = members_of(head, entry_of(self.module, head))
        if members is None or ending_of(self.module, head) is not None:
            return
        exchanges = (
            i.opcode not in ("bar", "barrier")
            and members_of(i, entry_of(self.module, i)) is not None
            for i in block.instructions
        )
        record["meeting"] = Meeting.OPERATION if any(exchanges) else Meeting.ANYWHERE
        if isinstance(members, Register):
            record["members_slot"] = self.layout.slots[block.function.name, members.name]
            record["parts"] = block.function.name in self.layout.frames
        else:
            record["members"] = members.value & ALL_LANES

    def _describe_guard(self, function: str, guard: Operand | None, record: np.void) -> None:
        record["guard_negated"] = isinstance(guard, Negated)
        register = guard.operand if isinstance(guard, Negated) else guard
        if register is not None:
            record["guard_slot"] = self.layout.slots.get((function, register.name), -1)

    def _targets(self, block: Block) -> tuple[int, int, int]:
        """Ending, taken and next of a block's record; calls go to the callee."""
        after = EXITED if block.next is None else block.next.number
        taken = EXITED if block.taken is None else block.taken.number
        calling = block.resumes is None and block.last.opcode == "call"
        if not calling or block.ending == Ending.HOST:
            return block.ending, taken, after
        name = block.function.name
        if is_indirect(block) or name in self.layout.frames:
            return Ending.INDIRECT, EXITED, after
        callee = self.calls.callees(block.function, block.last)[0]
        target = self.layout.entries[callee.name]
        if block.last.guard is None:
            return Ending.JUMP, EXITED, target
        return Ending.BRANCH, target, after


def _origin(function: str, instruction: Instruction) -> Origin:
    lines = []
    source: SourceLine | None = instruction.source
    while source is not None:
        lines.append((source.file, source.line))
        source = source.inlined_at
    return Origin(function, instruction.position.line, tuple(lines))
