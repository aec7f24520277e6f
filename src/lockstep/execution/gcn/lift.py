"""Emitting a block of a wavefront with the lane builder: operands, results, EXEC."""

import struct

from llvmlite import ir

from lockstep.errors import LockstepError
from lockstep.execution.gcn.registers import EXEC, SCALARS, VCC, Registers, RegisterSlots
from lockstep.execution.gcn.source import Source
from lockstep.execution.gcn.whole import Whole, after
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.integer import resize, shift_left, shift_right
from lockstep.execution.lanes.scalars import is_scalar, spread
from lockstep.execution.lanes.types import I32, I64, PRED, Type, Value
from lockstep.execution.programs.translation import BlockLift
from lockstep.isa.gcn.instruction import Format, Instruction

VECTOR_FORMATS = frozenset(
    [
        Format.VOP1, Format.VOP2, Format.VOPC, Format.VOP3A, Format.VOP3B,
        Format.DS, Format.MUBUF, Format.MTBUF, Format.MIMG,
    ]
)  # fmt: skip
WITHOUT_EXEC = ("v_readfirstlane_b32", "v_readlane_b32", "v_writelane_b32")
LITERAL, FIRST_VECTOR = 255, 256  # as source operands
_VCCZ, _EXECZ, _SCC = 251, 252, 253
_FLOATS = dict(enumerate((0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0), 240))


def constant_of(number: int) -> int | float | None:
    """The number that a source operand stands for by itself."""
    if 128 <= number <= 192:
        return number - 128
    if 193 <= number <= 208:
        return 192 - number
    return _FLOATS.get(number)


def heeds_exec(i: Instruction) -> bool:
    """Whether an instruction is for the lanes of EXEC."""
    return i.format in VECTOR_FORMATS and i.name not in WITHOUT_EXEC


class Lift(BlockLift):
    """One block on its way into LLVM.

    ``s`` emits scalars.
    """

    instruction: Instruction

    def __init__(
        self,
        source: Source,
        slots: RegisterSlots,
        builder: LaneBuilder,
        sites: list[tuple[int, int]],
        held: Whole,
    ):
        """``held``: what holds where the block begins. ``sites``: of memory, of the whole kernel:
        the static index of the instruction, and its Window.
        """
        super().__init__(builder)
        self.source, self.sites, self._held = source, sites, held
        self.registers = Registers(builder, slots)
        self.s = self.registers.s
        self._exec: Value | None = None

    def refuse(self, message: str) -> LockstepError:
        """The error for the current instruction."""
        return self.source.refuse(self.instruction, message)

    # EXEC

    @property
    def whole(self) -> bool:
        """Whether EXEC is known to be what it was when the wavefront started."""
        return EXEC in self._held

    def pass_by(self, instruction: Instruction) -> None:
        """An instruction has been emitted."""
        self._held = after(self._held, instruction)

    @property
    def exec(self) -> Value:
        """The lanes (predicate) that execute vector instructions."""
        if self.whole:
            return self.b.mask
        if self._exec is None:
            self._exec = self.b.lanes_of(self.registers.pair(EXEC).ir)
        return self._exec

    def guard(self) -> Value | None:
        """EXEC, where an instruction heeds it and it may be less than it was at the start."""
        return None if self.whole or not heeds_exec(self.instruction) else self.exec

    def restrict(self, predicate: Value) -> None:
        """The lanes of EXEC, whatever the wavefront started with."""
        self.b.active = predicate

    def go_if(self, condition: ir.Value) -> None:
        """At a block's end: all lanes go where a branch goes if a scalar condition holds."""
        b = self.b
        b.active = b.lanes_of(b.ir.select(condition, b.mask_bits, ir.Constant(b.mask_type, 0)))

    # Sources

    def scalar(self, number: int, kind: Type) -> Value:
        """A source operand that the wavefront holds once; two registers for 64-bit types."""
        if number < SCALARS:
            if kind.bits == 64:
                return self.s.cast(self.registers.pair(number), kind)
            return self.s.cast(self.registers.scalar(number), kind)
        if number >= FIRST_VECTOR:
            raise self.refuse(f"v{number - FIRST_VECTOR} where a scalar operand is expected")
        if number in (_VCCZ, _EXECZ, _SCC):
            return self.s.cast(resize(self.s, self._condition(number), kind.integer), kind)
        return self.s.constant(kind, self._constant(number, kind))

    def _condition(self, number: int) -> Value:
        if number == _SCC:
            return self.registers.scc
        pair = self.registers.pair(VCC if number == _VCCZ else EXEC)
        return Value(self.b.ir.icmp_unsigned("==", pair.ir, ir.Constant(WORD, 0)), PRED)

    def _constant(self, number: int, kind: Type) -> int | float:
        if number == LITERAL:
            return self._literal(kind)
        value = constant_of(number)
        if value is None:
            raise self.refuse(f"there is no operand {number}")
        if isinstance(value, float) and kind.kind != "float":
            packed = struct.pack("<f" if kind.bits == 32 else "<d", value)
            return int.from_bytes(packed, "little")
        return value

    def _literal(self, kind: Type) -> int:
        """The literal's bits: of a 64-bit float it is the high half, integers are extended."""
        word = self.instruction.literal
        assert word is not None, "the decoder gives one to such operands"
        if kind.bits == 64:
            return word << 32 if kind.kind == "float" else word - (word >> 31 << 32)
        return word

    def vector(self, number: int, kind: Type) -> Value:
        """A source operand of vector instructions, in every lane."""
        if number < FIRST_VECTOR:
            if number in (_VCCZ, _EXECZ, _SCC) or number < SCALARS:
                return spread(self.b, self.scalar(number, kind))
            return self.b.constant(kind, self._constant(number, kind))
        words = [self.registers.vector(number - FIRST_VECTOR + k) for k in range(kind.bits // 32)]
        return self.b.cast(self.join(words), kind)

    def mask(self, number: int) -> Value:
        """A source operand that is a set of lanes, as a predicate."""
        return self.b.lanes_of(self.scalar(number, I64).ir)

    def vgprs(self, first: int, count: int) -> list[Value]:
        """Consecutive vector registers (i32)."""
        return [self.registers.vector(first + k) for k in range(count)]

    def join(self, words: list[Value]) -> Value:
        """One or two words (i32) of lanes as one integer, low word first."""
        if len(words) == 1:
            return words[0]
        low, high = (resize(self.b, w, I64) for w in words)
        return Value(self.b.ir.or_(low.ir, shift_left(self.b, high, 32).ir), I64)

    def split(self, value: Value) -> list[Value]:
        """The words (i32) of a lane vector, low word first."""
        bits = self.b.cast(value, value.type.integer)
        if bits.type.bits == 32:
            return [bits]
        return [resize(self.b, shift_right(self.b, bits, k), I32) for k in (0, 32)]

    # Results

    def set_vgpr(self, number: int, value: Value) -> None:
        """A result in vector registers from a number on, in the lanes of EXEC."""
        if is_scalar(value):
            value = spread(self.b, value)
        lanes = None if self.whole else self.b.active
        for k, word in enumerate(self.split(value)):
            if number + k >= self.source.vectors:
                raise self.refuse(f"v{number + k}: the kernel has {self.source.vectors}")
            self.registers.set_vector(number + k, word, lanes)

    def set_sgpr(self, number: int, value: Value) -> None:
        """A result in one scalar register, or in two."""
        value = self.s.cast(value, value.type.integer)
        if number < EXEC + 2 and number + value.type.bits // 32 > EXEC:
            self._exec = None
        if value.type.bits == 64:
            self.registers.set_pair(number, value)
        else:
            self.registers.set_scalar(number, value)

    def set_mask(self, number: int, lanes: Value) -> None:
        """A set of lanes, of which those outside EXEC are none, in two scalar registers."""
        self.set_sgpr(number, Value(self.b.bits(self.b.ir.and_(lanes.ir, self.b.active.ir)), I64))

    def set_scc(self, value: Value) -> None:
        """The scalar condition (predicate)."""
        self.registers.scc = value

    # What the program wants to know

    @property
    def reads(self) -> set[str]:
        """Registers whose value on entry is used."""
        return self.registers.reads

    @property
    def written(self) -> dict[str, None]:
        """Registers with a new value."""
        return self.registers.written

    def store_live(self, live: set[str]) -> None:
        """Write the registers that later blocks read back to their slots."""
        self.registers.store(live)

    def site(self, window: int) -> ir.Value:
        """A new memory site of the current instruction."""
        self.sites.append((self.number, window))
        return ir.Constant(WORD, len(self.sites) - 1)
