"""Emitting a PTX block with the lane builder: registers, operands, guards."""

import struct

import numpy as np
from llvmlite import ir

from lockstep.errors import InputError
from lockstep.execution.lanes.builder import POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.types import (
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INTEGERS,
    PRED,
    Type,
    Value,
)
from lockstep.execution.programs.translation import BlockLift
from lockstep.execution.ptx.callgraph import function_address
from lockstep.execution.ptx.graph import Block, refuse
from lockstep.execution.ptx.layout import FRAME, TAKEN, Layout
from lockstep.execution.ptx.opcodes import CARRY
from lockstep.execution.ptx.special import special
from lockstep.isa.ptx.syntax import (
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Sink,
    Symbol,
    type_bytes,
)

_FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "tf32": F32}
_SIZES = {"8": I8, "16": I16, "32": I32, "64": I64}


def type_of(name: str) -> Type:
    """The lane type of a PTX type name; packed pairs are their bits (``f16x2`` is 32 bits)."""
    if name == "pred":
        return PRED
    if name in _FLOATS:
        return _FLOATS[name]
    if name.endswith("x2"):
        return INTEGERS[8 * type_bytes(name)]
    return INTEGERS[int(name.lstrip("busf"))]


def is_signed(name: str) -> bool:
    """Whether a PTX type name is a signed integer."""
    return name.startswith("s")


class Lift(BlockLift):
    """One block on its way into LLVM: the builder, and the registers' current values.

    ``layout`` says where registers and variables are. ``first_site``: the number of the block's
    first memory site, if its sites are known to the layout.
    """

    def __init__(
        self,
        module: Module,
        layout: Layout,
        block: Block,
        builder: LaneBuilder,
        first_site: int | None = None,
    ):
        super().__init__(builder)
        self.module, self.layout = module, layout
        self.block, self.function = block, block.function
        self.instruction: Instruction | None = None
        self.first_site = len(layout.sites) if first_site is None else first_site
        self._site, self._adds_sites = self.first_site, first_site is None
        self._values: dict[str, Value] = {}
        self._written: dict[str, None] = {}
        with builder.at_entry():
            self._slots = builder.ir.inttoptr(builder.field("warp", "registers"), POINTER)

    def refuse(self, message: str) -> InputError:
        """The error for the current instruction."""
        return refuse(self.module, self.instruction, message)

    # Registers

    def type(self, name: str, function: str | None = None) -> Type:
        """Type of a register of this or another function."""
        if name == CARRY:
            return PRED
        function = self.function.name if function is None else function
        variable = self.layout.registers[function, name]
        return INTEGERS[type_of(variable.type).bits] if variable.type != "pred" else PRED

    def current(self, name: str) -> Value:
        """Current value of a register."""
        if name not in self._values:
            self._values[name] = self._load(name)
        return self._values[name]

    def _load(self, name: str) -> Value:
        if (self.function.name, name) not in self.layout.slots:
            return self.b.constant(self.type(name), 0)  # no block reads it after another wrote it
        return self.slot(self.function.name, name)

    def slot(self, function: str, name: str) -> Value:
        """What the slot of a register holds, be it of another function."""
        pointer = self.b.offset(self._slots, self.layout.slots[function, name])
        return self.b.load_vector(pointer, self.type(name, function))

    def put(self, function: str, name: str, value: Value) -> None:
        """Write to the slot of a register, if anybody reads it there, in the active lanes."""
        slot = self.layout.slots.get((function, name))
        if slot is not None:
            value = self.b.cast(value, self.type(name, function))
            self.b.store_vector(self.b.offset(self._slots, slot), value, self.b.active)

    def assign(self, name: str, value: Value) -> None:
        """Give a register a value in the active lanes."""
        if self.instruction is not None and self.instruction.guard is not None:
            before = self.b.cast(self.current(name), value.type)
            value = self.b.select(self.b.active, value, before)
        self._values[name] = value
        self._written[name] = None

    def store_live(self, live: set[str]) -> None:
        """Write the registers that later blocks read back to their slots."""
        for name in self._written:
            if name in live:
                slot = self.layout.slots[self.function.name, name]
                pointer = self.b.offset(self._slots, slot)
                self.b.store_vector(pointer, self._values[name], self.b.mask)
        self._written.clear()

    # Operands

    def read(self, operand: Operand, kind: str) -> Value:
        """A source operand as a PTX type; wider registers give their low bits."""
        wanted = type_of(kind)
        match operand:
            case Register(name):
                return self._narrow(self._register(operand), wanted)
            case Immediate():
                return self.b.constant(wanted, self._number(operand, wanted))
            case Negated(register):
                value = self.read(register, "pred")
                return self._narrow(Value(self.b.ir.not_(value.ir), PRED), wanted)
            case Symbol(name, offset):
                return self._narrow(self.address(name, offset), wanted)
        raise self.refuse(f"{self.instruction.name} cannot read this operand")

    def _register(self, register: Register) -> Value:
        if register.name in self.function.registers:
            return self.current(register.name)
        value = special(self, register.name, register.component, self.layout.reserved_shared)
        if value is None:
            raise self.refuse(f"special register {register.name} is not supported")
        return value

    def _narrow(self, value: Value, wanted: Type) -> Value:
        if (value.type == PRED) != (wanted == PRED):
            raise self.refuse(f"{self.instruction.name} takes predicates only where it reads one")
        if value.type.bits > wanted.bits:
            bits = self.b.cast(value, INTEGERS[value.type.bits])
            narrow = INTEGERS[wanted.bits]
            value = Value(self.b.ir.trunc(bits.ir, self.b.vector(narrow)), narrow)
        if value.type.bits < wanted.bits:
            raise self.refuse(f"a {value.type.bits}-bit operand where {wanted.bits} are read")
        return self.b.cast(value, wanted)

    @staticmethod
    def _number(operand: Immediate, wanted: Type) -> int | float:
        """A literal as a number, or as the bits of a float."""
        if operand.bits == 64 and wanted == F32:
            value = struct.unpack("<d", operand.value.to_bytes(8, "little"))[0]
            with np.errstate(over="ignore"):
                return int(np.float64(value).astype(np.float32).view(np.uint32))
        if operand.bits == 32 and wanted == F64:
            return int(np.uint32(operand.value).view(np.float32).astype(np.float64).view(np.uint64))
        if operand.bits == 0 and wanted in (F32, F64):
            packed = struct.pack("<f" if wanted == F32 else "<d", float(operand.value))
            return int.from_bytes(packed, "little")
        return operand.value

    def write(self, operand: Operand, value: Value, signed: bool = False) -> None:
        """Write a destination operand; a wider register gets the value extended."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register) or operand.name not in self.function.registers:
            raise self.refuse(f"{self.instruction.name} cannot write this operand")
        bits = self.type(operand.name).bits
        if (bits == 1) != (value.type == PRED):
            raise self.refuse(f"{self.instruction.name} writes a predicate only where it makes one")
        if value.type.bits * value.type.count > bits:
            raise self.refuse(f"{self.instruction.name} cannot write a {bits}-bit register")
        if value.type.bits < bits and value.type != PRED:
            narrow = self.b.cast(value, INTEGERS[value.type.bits])
            extend = self.b.ir.sext if signed else self.b.ir.zext
            wide = INTEGERS[bits]
            value = Value(extend(narrow.ir, self.b.vector(wide)), wide)
        self.assign(operand.name, value)

    def guard(self) -> Value | None:
        """Lanes for which the current instruction's guard holds; None without a guard."""
        operand = self.instruction.guard
        return None if operand is None else self.read(operand, "pred")

    # Memory sites

    def site(self, window: int) -> int:
        """The next memory site, one of the current instruction."""
        if self._adds_sites:
            self.layout.sites.append((self.number, window))
        self._site += 1
        return self._site - 1

    # Addresses

    def address(self, name: str, offset: int) -> Value:
        """The address of a variable in its own space, or of a global one, in every lane."""
        b, function = self.b, self.function
        if (function.name, name) in self.layout.local:
            return self._local_address(self.layout.local[function.name, name] + offset)
        if name in self.layout.shared:
            place = b.constant(I64, self.layout.shared[name] + offset)
            return self.tagged(place) if self.layout.clustered else place
        if name in self.layout.parameters:
            return b.constant(I64, self.layout.parameters[name] + offset)
        if name in self.module.variables:
            index = self.layout.symbols.setdefault(name, len(self.layout.symbols))
            table = b.ir.inttoptr(b.field("launch", "symbols"), POINTER)
            address = b.ir.load(b.offset(table, 8 * index), typ=WORD)
            return b.splat(b.ir.add(address, ir.Constant(WORD, offset)), I64)
        if name in self.module.functions or name in self.module.aliases:
            return b.constant(I64, function_address(self.module, name) + offset)
        raise self.refuse(f"no variable {name}")

    def tagged(self, place: Value) -> Value:
        """The shared address of a place (i32 or i64) in the CTA's own shared memory."""
        tag = self.scalar_field("cta", "tag", place.type)
        return Value(self.b.ir.add(place.ir, tag.ir), place.type)

    def untagged(self, address: Value) -> Value:
        """A shared address (i32 or i64) relative to the CTA's own shared memory."""
        if not self.layout.clustered:
            return address
        tag = self.scalar_field("cta", "tag", address.type)
        return Value(self.b.ir.sub(address.ir, tag.ir), address.type)

    def _local_address(self, offset: int) -> Value:
        if self.function.name not in self.layout.frames:
            return self.b.constant(I64, offset)
        address = self.frame_address(offset)
        return Value(self.b.ir.zext(address.ir, self.b.vector(I64)), I64)

    def frame_address(self, offset: int) -> Value:
        """The local address (i32) of a place in each thread's current frame."""
        b = self.b
        start = b.constant(I32, self.layout.local_bytes + offset)
        return Value(b.ir.add(self.slot(*FRAME).ir, start.ir), I32)

    def move_frame(self, size: int) -> None:
        """The active threads enter (or, with a negative size, leave) a frame."""
        b = self.b
        moved = b.ir.add(self.slot(*FRAME).ir, b.constant(I32, size).ir)
        self.put(*FRAME, Value(moved, I32))

    def taken(self) -> Value:
        """Bytes (i32) that each thread has taken."""
        return self.slot(*TAKEN) if self.layout.allocates else self.b.constant(I32, 0)

    def take(self, size: Value) -> None:
        """Set how many bytes the active threads have taken."""
        self.put(*TAKEN, size)

    def frames_end(self) -> Value:
        """The local address (i32) behind the frames of functions that are active."""
        if not self.layout.frames:
            return self.b.constant(I32, self.layout.local_bytes)
        own = self.layout.frames.get(self.function.name)
        return self.frame_address(own.bytes if own else 0)
