"""From a kernel's blocks to a program: what does not depend on the instruction set.

An instruction set derives :class:`Translation` and :class:`BlockLift`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from lockstep._jit import without_collection
from lockstep.execution.flow.blocks import BasicBlock
from lockstep.execution.lanes import races
from lockstep.execution.lanes.addresses import Strength
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.counting import count_access, count_lanes
from lockstep.execution.lanes.dry import DryBuilder
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.module import LaneModule
from lockstep.execution.lanes.stream import StreamWriter
from lockstep.execution.lanes.touching import Touch, kind_of, touch
from lockstep.execution.lanes.types import I64, PRED, Type, Value
from lockstep.execution.programs.counted import memory_of
from lockstep.execution.programs.program import (
    BLOCK,
    WORD_GRANULE,
    Objects,
    Part,
    Program,
    Recording,
    checks_in,
    find_looks,
)
from lockstep.execution.state import Memory
from lockstep.isa.instruction import OpClass, Space
from lockstep.workload import NOWHERE

_ALWAYS = (
    OpClass.BARRIER, OpClass.CACHE_CONTROL, OpClass.SURFACE, OpClass.BULK_COPY,
    OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE,
)  # fmt: skip
"""Instructions that concern caches wherever their records say that they access memory."""


class BlockLift(ABC):
    """One block on its way into LLVM.

    ``number`` is the static index of the instruction that is being lifted, ``to_come`` how many
    the block still has, this one included. ``leaving`` are the lanes that executed the last one.
    ``lanes`` are those for which the instruction's guard holds.
    """

    def __init__(self, builder: LaneBuilder):
        self.b = builder
        self.number = self.to_come = 0
        self.instruction: Any = None
        self.stream: StreamWriter | None = None
        self.counted: tuple[Memory | None, int] | None = None  # memory and width for the profile
        self.touches: tuple[Touch, int] | None = None  # how and width, where lines are noted
        self.lanes = builder.active
        self.leaving: ir.Value | None = None

    @abstractmethod
    def guard(self) -> Value | None:
        """Lanes for which the current instruction's guard holds; None without a guard."""

    @abstractmethod
    def store_live(self, live: set[str]) -> None:
        """Write the registers that later blocks read back to their slots."""

    def restrict(self, predicate: Value) -> None:
        """The rest of the instruction is for those active lanes where a predicate holds."""
        self.b.active = Value(self.b.ir.and_(self.b.active.ir, predicate.ir), PRED)

    @property
    def wants_addresses(self) -> bool:
        """Whether somebody reads the addresses of the current instruction."""
        return bool(self.stream or self.counted or self.touches)

    def record_addresses(self, address: Value, accessing: Value | None = None) -> None:
        """Append the addresses of the current instruction to the stream; count the access.

        ``accessing``: the lanes that access anything, if not all that execute it do.
        """
        lanes = self.lanes
        if accessing is not None:
            nowhere = self.b.constant(I64, NOWHERE)
            address = self.b.select(accessing, resize(self.b, address, I64), nowhere)
            lanes = Value(self.b.ir.and_(lanes.ir, accessing.ir), PRED)
        if self.stream is not None:
            self.stream.addresses(self.number, resize(self.b, address, I64))
        if self.counted is not None:
            before, self.b.active = self.b.active, lanes
            count_access(self.b, self.number, *self.counted, address)
            self.b.active = before
        if self.touches is not None:
            before, self.b.active = self.b.active, lanes
            touch(self.b, *self.touches, address)
            self.b.active = before

    def time(self, field: str) -> ir.Value:
        """``clock`` or ``nanoseconds`` (i64) when the current instruction is executed.

        The clock counts executed instructions: that of the block's end, less what is to come. The
        global timer counts them on top of the time at which the launch began.
        """
        count = self.b.ir.sub(self.b.field("launch", "clock"), ir.Constant(WORD, self.to_come))
        if field == "clock":
            return count
        return self.b.ir.add(count, self.b.field("launch", field))

    def scalar_field(self, record: str, field: str, kind: Type) -> Value:
        """A field of the launch's, CTA's or warp's record in every lane."""
        word = self.b.field(record, field)
        if kind.bits < 64:
            word = self.b.ir.trunc(word, ir.IntType(kind.bits))
        return self.b.splat(word, kind)


class Translation(ABC):
    """One kernel on its way to a :class:`Program`; ``blocks`` are in the order of their numbers."""

    blocks: Sequence[Any]
    recording: Recording
    lanes: int  # of a warp
    for_debuggers = False  # translating it soon is worth more than running it fast

    @abstractmethod
    def open(self, block: Any, builder: LaneBuilder, part: Part | None) -> BlockLift:
        """The lift of a block of which nothing is emitted yet; ``part``: that of several parts."""

    @abstractmethod
    def instructions(self, block: Any) -> Iterable[tuple[int, Any]]:
        """A block's instructions with their static indices."""

    @abstractmethod
    def access(self, number: int, instruction: Any) -> tuple[OpClass, Space, int]:
        """Class, memory space and width of an instruction, as its record has them."""

    @abstractmethod
    def emit(self, lift: BlockLift, instruction: Any) -> None:
        """Emit one instruction for the active lanes."""

    def strength(self, number: int, instruction: Any) -> Strength:
        """What an instruction's accesses do not race with."""
        return Strength.PLAIN

    @abstractmethod
    def describe(self, block: Any, lift: BlockLift, record: np.void) -> None:
        """Fill a block's record."""

    def divide(self) -> list[tuple[int, int]]:
        """The first block and the end of each part that is compiled apart."""
        return [(0, len(self.blocks))]

    def is_brief(self, block: Any) -> bool:
        """Whether a block is to be written soon rather than to run fast."""
        return self.for_debuggers

    def part(self, first: int, end: int, lifts: Sequence[Any], granule: int) -> Part:
        """What tells one of several parts from others; ``lifts`` are those of its blocks."""
        raise NotImplementedError

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """The fields of the program that concern the whole kernel."""

    def open_stream(self, lift: BlockLift, block: Any) -> None:
        """Let a block write to its CTA's stream."""
        if Recording.EVERYTHING in self.recording:
            lift.stream = StreamWriter(lift.b, block.number)
        elif Recording.ACCESSES in self.recording:
            numbered = self.instructions(block)
            chosen = {n for n, each in numbered if _concerns_caches(*self.access(n, each))}
            if chosen:
                lift.stream = StreamWriter(lift.b, block.number, chosen)

    def begin(self, lift: BlockLift, block: Any) -> None:  # noqa: B027
        """What a block does before its first instruction."""

    def find_live(self, lifts: Sequence[BlockLift]) -> None:  # noqa: B027
        """Set ``live_out`` of all blocks, if it is not known before they are emitted."""

    def program(self) -> Program:
        """Emit every block and compile them.

        If there are several parts, nothing is emitted yet: :meth:`compile` does that.
        """
        with without_collection():
            return self._program()

    def compile(self, part: Part) -> Objects:
        """Object code of one of several parts; the program was made before."""
        with without_collection():
            module = self._module(soon=self.for_debuggers)
            for number, block in enumerate(self.blocks[part.first : part.end]):
                lift = self._emit(LaneBuilder(module, f"block{number}"), block, part)
                self._close(block, lift)
            return module.compiled()

    def _program(self) -> Program:
        places, granule = self.divide(), self._granule()
        module = self._module() if len(places) == 1 else None
        self._counting: list[int] = []
        lifts = [self._emit(self._builder(module, block), block) for block in self.blocks]
        self.find_live(lifts)
        records = np.zeros(len(self.blocks), BLOCK)
        for block, lift, record in zip(self.blocks, lifts, records, strict=True):
            record["members_slot"] = record["guard_slot"] = record["breaks_slot"] = -1
            record["stream_words"] = lift.stream.words if lift.stream is not None else 0
            self.describe(block, lift, record)
        facts = self.facts()
        find_looks(records, facts["code"], facts.get("idle_atomics", []))
        return Program(
            blocks=records,
            parts=self._parts(places, module, lifts, granule),
            items=[lift.stream.items if lift.stream is not None else [] for lift in lifts],
            lanes=self.lanes,
            guarded=self._guarded(len(facts["code"])),
            granule=granule,
            recording=self.recording,
            supply=self.compile,
            **facts,
        )

    def _parts(
        self,
        places: list[tuple[int, int]],
        module: LaneModule | None,
        lifts: Sequence[BlockLift],
        granule: int,
    ) -> list[Part]:
        if module is None:
            return [self.part(a, b, lifts[a:b], granule) for a, b in places]
        for block, lift in zip(self.blocks, lifts, strict=True):
            self._close(block, lift)
        return [Part(0, len(self.blocks), objects=module.compiled())]

    def _builder(self, module: LaneModule | None, block: Any) -> LaneBuilder:
        """What a block is lifted onto: without a module, only to learn of it."""
        if module is None:
            return DryBuilder(self.lanes)
        return LaneBuilder(module, f"block{block.number}")

    def _module(self, soon: bool = False) -> LaneModule:
        return LaneModule(self.lanes, checks_in(self.recording), self._granule(), soon)

    def _granule(self) -> int:
        """log2 of the bytes of the narrowest access that may be one to shared memory."""
        granule = WORD_GRANULE
        if Recording.RACES in self.recording:
            for block in self.blocks:
                for number, instruction in self.instructions(block):
                    _, space, width = self.access(number, instruction)
                    if space in (Space.SHARED, Space.GENERIC) and width > 0:
                        granule = min(granule, width.bit_length() - 1)
        return granule

    def _guarded(self, count: int) -> np.ndarray | None:
        """Which static instructions count the lanes that execute them."""
        if Recording.PROFILE not in self.recording:
            return None
        guarded = np.zeros(count, bool)
        guarded[self._counting] = True
        return guarded

    def _emit(self, b: LaneBuilder, block: Any, part: Part | None = None) -> BlockLift:
        b.brief = self.is_brief(block)
        lift = self.open(block, b, part)
        self.open_stream(lift, block)
        races.follow_lanes(b)
        self.begin(lift, block)
        numbered = list(self.instructions(block))
        for k, (number, instruction) in enumerate(numbered):
            lift.number, lift.instruction = number, instruction
            lift.to_come = len(numbered) - k
            lift.counted = lift.touches = None
            if self.recording & (Recording.PROFILE | Recording.LINES):
                self._ask(lift, *self.access(number, instruction))
            lift.leaving = self._lift(lift, instruction)
        lift.instruction = None
        return lift

    def _ask(self, lift: BlockLift, op: OpClass, space: Space, width: int) -> None:
        """Have an access counted, and its lines noted, if that is wanted."""
        if Recording.PROFILE in self.recording:
            lift.counted = memory_of(op, space, width)
        kind = kind_of(op, space, width)
        if Recording.LINES in self.recording and kind is not None:
            lift.touches = kind, width

    def _lift(self, lift: BlockLift, instruction: Any) -> ir.Value | None:
        """Emit one instruction; the lanes that execute it, None for all."""
        b, guard = lift.b, lift.guard()
        before = b.active
        if guard is not None:
            lift.restrict(guard)
            if lift.stream is not None:
                lift.stream.lanes(lift.number)
            if Recording.PROFILE in self.recording:
                count_lanes(b, lift.number)
                self._counting.append(lift.number)
        lift.lanes = b.active
        if Recording.RACES in self.recording:
            b.strength = self.strength(lift.number, instruction)
        self.emit(lift, instruction)
        if Recording.RACES in self.recording:
            _pass_order(b, self.access(lift.number, instruction)[0], b.strength)
        lanes = None if b.active is before else b.bits_of(b.active)
        b.active = before
        return lanes

    @staticmethod
    def _close(block: BasicBlock, lift: BlockLift) -> None:
        lift.store_live(block.live_out)
        if lift.stream is not None:
            lift.stream.close()
        leaving = lift.b.mask_bits if lift.leaving is None else lift.leaving
        lift.b.ir.ret(lift.b.ir.zext(leaving, WORD))
        lift.b.module.complete(lift.b.function)


def _concerns_caches(op: OpClass, space: Space, width: int) -> bool:
    """Whether caches may see an instruction: what it accesses, or what warps wait for."""
    return op in _ALWAYS or (width > 0 and space != Space.SHARED)


def _pass_order(b: LaneBuilder, op: OpClass, strength: Strength) -> None:
    """What an instruction orders beside what it does."""
    if op in (OpClass.FENCE, OpClass.LOCAL_FENCE) or strength == Strength.RELEASE:
        races.fence(b)
    elif strength or op in (OpClass.ATOMIC, OpClass.REDUCTION):
        races.poll(b)
