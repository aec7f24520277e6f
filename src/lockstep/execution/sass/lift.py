"""Emitting a SASS block with the lane builder: registers, operands, guards."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from llvmlite import ir

from lockstep.errors import LockstepError
from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.floating import absolute
from lockstep.execution.lanes.floating import negate as other_sign
from lockstep.execution.lanes.integer import negate, resize, shift_left, shift_right
from lockstep.execution.lanes.scalars import first_lane, spread
from lockstep.execution.lanes.types import F64, I32, I64, INTEGERS, PRED, Type, Value
from lockstep.execution.programs.program import FIRST_SITE
from lockstep.execution.programs.translation import BlockLift
from lockstep.execution.state import Window
from lockstep.isa.instruction import CONSTANT_BANK, WARP_SIZE
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import (
    Constant,
    Float,
    Immediate,
    Operand,
    Register,
)
from lockstep.isa.sass.encoding.record import is_indexed

SLOT_BYTES = 4 * WARP_SIZE
FILES = {"R": 255, "UR": 63, "B": 16, "RPC": 2}  # files of 32-bit registers, and how many there are
PREDICATES = {"P": 7, "UP": 7}
_GRID_ID = 0x30  # in constant bank 0 of Volta to Hopper: what %gridid becomes
_PARTS = {"B1": 8, "B2": 16, "B3": 24, "H1": 16, "H1_H1": 16}  # bits below, by name


class Slots:
    """Byte offsets of the registers of a kernel that uses the first ``registers`` ones."""

    def __init__(self, registers: int):
        self._starts, used = {}, 0
        for file, most in FILES.items():
            self._starts[file] = used
            used += (min(registers, most) if file == "R" else most) * SLOT_BYTES
        for file, most in PREDICATES.items():
            self._starts[file] = used
            used += 4 * (most + 1)
        self.bytes = -(-used // 64) * 64

    def __getitem__(self, name: str) -> int:
        file = name.rstrip("0123456789")
        size = 4 if file in PREDICATES else SLOT_BYTES
        return self._starts[file] + int(name[len(file) :]) * size


class Shared(NamedTuple):
    """What the blocks of a kernel collect: memory sites and the constant banks they read."""

    sites: list[tuple[int, int]]  # static index, Window
    banks: set[int]  # their numbers are their places in the launch's table of symbols
    code: list[Instruction]  # all of the kernel's, by static index
    clustered: bool  # shared addresses have the CTA's rank in its cluster: see state.TAG_SHIFT
    before: int | None = None  # in one of several parts: how many of its sites come before a block


class Lift(BlockLift):
    """One block on its way into LLVM: the builder, and the registers' current values.

    ``reads`` are the registers whose value on entry is used, ``written`` those with a new one.
    """

    def __init__(self, name: str, slots: Slots, builder: LaneBuilder, shared: Shared):
        super().__init__(builder)
        self.kernel, self.slots = name, slots
        self.instruction: Instruction | None = None
        self.sites, self.banks, self.code, self.clustered, self._before = shared
        self.first_site = len(self.sites)
        self.reads: set[str] = set()
        self.written: dict[str, None] = {}
        self.heeded: set[str] = set()  # predicates that this instruction reads or writes
        self._values: dict[str, Value] = {}
        with builder.at_entry():
            self._start = builder.ir.inttoptr(builder.field("warp", "registers"), POINTER)

    def refuse(self, message: str) -> LockstepError:
        """The error for the current instruction."""
        i = self.instruction
        return LockstepError(f"kernel {self.kernel}, {i.pc:#06x} {i.text()}: {message}")

    # Registers by name

    def current(self, name: str, kind: Type) -> Value:
        """Current value of a 32-bit register or predicate."""
        if name not in self._values:
            self.reads.add(name)
            with self.b.at_entry():
                pointer = self.b.offset(self._start, self.slots[name])
                self._values[name] = self.b.load_vector(pointer, kind)
        return self._values[name]

    def assign(self, name: str, value: Value) -> None:
        """Give a register a value in the active lanes; uniform ones are those of all lanes here."""
        if self.instruction is not None and self.instruction.guard is not None:
            takes = self._anyone() if name.startswith("U") else self.b.active
            value = self.b.select(takes, value, self.current(name, value.type))
        self._values[name] = value
        self.written[name] = None

    def _anyone(self) -> Value:
        """Every lane, if one is active."""
        bits = self.b.bits_of(self.b.active)
        some = self.b.ir.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
        return self.b.splat(some, PRED)

    def store_live(self, live: set[str]) -> None:
        """Write the registers that later blocks read back to their slots.

        Uniform ones, too, are written for the lanes here alone: compilers keep something in one
        where a GPU runs no other lanes of the warp, and here others may have a turn.
        """
        for name in self.written:
            if name in live:
                pointer = self.b.offset(self._start, self.slots[name])
                self.b.store_vector(pointer, self._values[name], self.b.mask)

    def register(self, file: str, number: int) -> Value:
        """A 32-bit register; the zero register is zero."""
        if number >= FILES[file]:
            return self.b.constant(I32, 0)
        return self.current(f"{file}{number}", I32)

    def words(self, operand: Register, count: int) -> list[Value]:
        """Consecutive registers from an operand's on."""
        zero = operand.is_zero
        return [
            self.b.constant(I32, 0) if zero else self.register(operand.file, operand.number + k)
            for k in range(count)
        ]

    def write_words(self, operand: Register, values: list[Value]) -> None:
        """Write consecutive registers from an operand's on."""
        if operand.is_zero:
            return
        for k, value in enumerate(values):
            if operand.number + k < FILES[operand.file]:
                self.assign(f"{operand.file}{operand.number + k}", self.b.cast(value, I32))

    # Operands

    def read(self, operand: Operand, kind: Type = I32) -> Value:
        """A source operand as 32 bits, or as a 64-bit type from two registers, signs applied."""
        return self._signed(operand, self._plain(operand, kind))

    def read_part(self, operand: Operand, kind: Type) -> Value:
        """The same; of types below 32 bits the part of the register that is named."""
        if kind.bits >= 32:
            return self.read(operand, kind)
        shift = _PARTS.get(getattr(operand, "part", ""), 0)
        word = shift_right(self.b, self._plain(operand, I32), shift)
        value = self.b.cast(resize(self.b, word, kind.integer), kind)
        return self._signed(operand, value)

    def _plain(self, operand: Operand, kind: Type) -> Value:
        match operand:
            case Register():
                words = self.words(operand, 2 if kind.bits == 64 else 1)
                return self.b.cast(self.join(words), kind)
            case Immediate(value):
                return self.b.constant(kind, value)
            case Float(_, bits, width):
                shift = kind.bits - width if kind == F64 and width == 32 else 0
                return self.b.constant(kind, bits << (32 if width == 64 else shift))
            case Constant():
                return self.constant(operand, kind)
        raise self.refuse("cannot read this operand")

    def _signed(self, operand: Operand, value: Value) -> Value:
        kind = value.type.kind
        if getattr(operand, "absolute", False):
            value = absolute(self.b, value)
        if getattr(operand, "inverted", False):
            value = Value(self.b.ir.not_(value.ir), value.type)
        if getattr(operand, "negated", False):
            return (other_sign if kind == "float" else negate)(self.b, value)
        return value

    def join(self, words: list[Value]) -> Value:
        """One, two or four 32-bit words as one integer, low word first."""
        kind = INTEGERS[32 * len(words)]
        low, *others = (resize(self.b, w, kind) for w in words)
        for place, word in enumerate(others, 1):
            shifted = shift_left(self.b, word, 32 * place)
            low = Value(self.b.ir.or_(low.ir, shifted.ir), kind)
        return low

    def split(self, value: Value) -> list[Value]:
        """The 32-bit words of a value, low word first."""
        if value.type.bits <= 32:
            return [resize(self.b, value, I32) if value.type.bits < 32 else value]
        bits = self.b.cast(value, value.type.integer)
        places = range(0, value.type.bits, 32)
        return [resize(self.b, shift_right(self.b, bits, place), I32) for place in places]

    def write(self, operand: Operand, value: Value) -> None:
        """Write a result: one register, two for 64 bits, four for 128."""
        if not isinstance(operand, Register):
            raise self.refuse("cannot write this operand")
        self.write_words(operand, self.split(value))

    def predicate(self, operand: Register) -> Value:
        """A predicate operand; PT is true, !PT false."""
        self.heeded.add(operand.name)
        if operand.is_zero:
            return self.b.constant(PRED, 0 if operand.inverted else 1)
        value = self.current(f"{operand.file}{operand.number}", PRED)
        return Value(self.b.ir.not_(value.ir), PRED) if operand.inverted else value

    def write_predicate(self, operand: Register, value: Value) -> None:
        """Write a predicate; PT swallows it."""
        self.heeded.add(operand.name)
        if not operand.is_zero:
            self.assign(f"{operand.file}{operand.number}", value)

    # Constant memory

    def constant(self, operand: Constant, kind: Type) -> Value:
        """A word of a constant bank; bank 0 holds the launch's geometry and parameters."""
        if not isinstance(operand.bank, int):
            raise self.refuse("bindless constant banks are not supported")
        b = self.b
        if operand.index is not None and not operand.index.is_zero:
            return self._indexed(operand, kind)
        if operand.bank == 0 and operand.place == _GRID_ID:
            return self.scalar_field("launch", "grid_id", kind)
        start = b.ir.inttoptr(self._bank(operand.bank), POINTER)
        scalar = b.ir.load(b.offset(start, operand.place), typ=kind.element, align=kind.bytes)
        return b.splat(scalar, kind)

    def _bank(self, bank: int) -> ir.Value:
        """Address (i64) of a constant bank."""
        if bank == 0:
            return self.b.field("launch", "parameters")
        self.banks.add(bank)
        table = self.b.ir.inttoptr(self.b.field("launch", "symbols"), POINTER)
        return self.b.ir.load(self.b.offset(table, 8 * bank), typ=WORD)

    def _indexed(self, operand: Constant, kind: Type) -> Value:
        """A word whose offset a register adds to.

        Offsets above the middle of a bank are negative: those sums wrap around.
        """
        b = self.b
        index = self.register(operand.index.file, operand.index.number)
        place = b.ir.add(index.ir, b.constant(I32, operand.offset).ir)
        if operand.offset < 0:
            below = b.ir.icmp_signed("<", place, b.constant(I32, 0).ir)
            wrapped = b.ir.add(place, b.constant(I32, CONSTANT_BANK).ir)
            place = b.ir.select(below, wrapped, place)
        offset = Value(place, I32)
        window = Window.PARAMETER if operand.bank == 0 else Window.GLOBAL
        if window == Window.GLOBAL:
            start = b.splat(self._bank(operand.bank), I64)
            offset = Value(b.ir.add(start.ir, resize(b, offset, I64).ir), I64)
        if is_indexed(operand):
            self.record_addresses(offset)
        access = Access(window, offset, kind.bytes, self.site(window))
        return lanes.load(b, access, kind)[0]

    # Guards, sites, jumps

    def go_to(self, pc: Value) -> None:
        """Send each lane to the block that begins at a pc (i64)."""
        b = self.b
        table = b.ir.inttoptr(b.field("launch", "targets"), POINTER)
        limit = b.splat(b.field("launch", "target_count"), I64)
        index = b.ir.lshr(pc.ir, b.constant(I64, 4).ir)
        inside = b.ir.icmp_unsigned("<", index, limit.ir)
        index = b.ir.select(inside, index, b.constant(I64, 0).ir)
        pointers = b.ir.gep(table, [index], source_etype=ir.IntType(64))
        pointers.type = ir.VectorType(POINTER, WARP_SIZE)
        vector = b.vector(I64)
        arguments = [pointers, ir.Constant(HALF, 8), b.active.ir, b.constant(I64, 0).ir]
        number = b.intrinsic(
            f"llvm.masked.gather.v{WARP_SIZE}i64.v{WARP_SIZE}p0", vector, arguments
        )
        b.store_vector(b.scratch(), Value(number, I64), b.active)

    def first_lane(self, value: Value) -> Value:
        """The value of the first active lane in every lane."""
        return spread(self.b, first_lane(self.b, value))

    @contextmanager
    def once(self) -> Iterator[None]:
        """What a warp does once, whatever its lanes, is done for the first active one."""
        b, everyone = self.b, self.b.active
        bits = b.bits_of(everyone)
        b.active = b.lanes_of(b.ir.and_(bits, b.ir.neg(bits)))
        if self.stream is not None:
            self.stream.lanes(self.number)
        yield
        b.active = everyone

    def guard(self) -> Value | None:
        """Lanes for which the current instruction's guard holds; None without a guard."""
        operand = self.instruction.guard
        return None if operand is None else self.predicate(operand)

    def site(self, window: int) -> ir.Value:
        """A new memory site of the current instruction."""
        self.sites.append((self.number, window))
        number = len(self.sites) - 1
        if self._before is None:
            return ir.Constant(WORD, number)
        return self.b.ir.add(self.b.symbol(FIRST_SITE), ir.Constant(WORD, self._before + number))
