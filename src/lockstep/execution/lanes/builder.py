"""The lane builder: emits one basic block of a kernel as a native function over lane vectors.

The function gets the address of the WARP record and the active mask, and returns what the
block's end asks for (see ``program.Ending``). The other files of this folder are operations:
functions that take the builder first and return values.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir.values import FunctionAttributes

from lockstep.execution.checks.kinds import Check
from lockstep.execution.lanes.constants import Splat, VectorBuilder, integers
from lockstep.execution.lanes.module import LaneModule
from lockstep.execution.lanes.types import PRED, Type, Value
from lockstep.execution.state import CTA, FAULTED, LAUNCH, WARP

POINTER = ir.PointerType()
BIT = ir.IntType(1)
WORD = ir.IntType(64)
HALF = ir.IntType(32)
RECORDS = {"warp": WARP, "cta": CTA, "launch": LAUNCH}
CANONICAL_NAN = {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FFFFFFFFFFFFFFF}


class LaneBuilder:
    """Builds one block.

    ``lanes``: of a warp, 32 or 64; ``mask_type`` has a bit for each, all of them unsigned.
    ``mask`` is the set of lanes that execute the block, ``active`` that of the current
    instruction: the same, or those of them whose guard holds. ``strength``: that of its accesses.
    ``float_mode``: of instruction sets whose mode is a register, what it is set to. ``brief``: the
    block is to be written soon rather than to run fast.
    """

    brief = False
    strength = 0
    float_mode: Any = None
    prefix = ""  # of the names of routines for its values

    def __init__(self, module: LaneModule, function: str | ir.Function):
        """Start a block with this name, or a function that begins with a block's parameters."""
        self._open(module)
        if isinstance(function, str):
            function = ir.Function(module, self.block_signature, function)
        self.function = function
        self.failure = ir.Constant(WORD, FAULTED)  # what the function returns after a fault
        self.ir: ir.IRBuilder = VectorBuilder(self.function.append_basic_block("entry"))
        self.warp, self.mask_bits = self.function.args[:2]
        self._records: dict[str, ir.Value] = {"warp": self.warp}
        self._known: dict[tuple, Any] = {}
        self._failed: ir.Block | None = None
        self.mask = self.lanes_of(self.mask_bits)
        self.active = self.mask

    def _open(self, module: LaneModule) -> None:
        self.module, self.lanes = module, module.lanes
        self.mask_type = ir.IntType(self.lanes)
        self.block_signature = ir.FunctionType(WORD, [POINTER, self.mask_type])

    @property
    def half(self) -> int:
        """Lanes of a half warp."""
        return self.lanes // 2

    @property
    def checks(self) -> Check:
        """What the code looks for beside what it does."""
        return self.module.checks

    @property
    def granule(self) -> int:
        """log2 of the bytes of shared memory that have records of their own."""
        return self.module.granule

    # Types and constants

    def vector(self, kind: Type) -> ir.VectorType:
        """The LLVM type of a lane vector."""
        return ir.VectorType(kind.element, self.lanes * kind.count)

    def constant(self, kind: Type, number: int | float) -> Value:
        """The same number in every element; a float type takes a float or its bit pattern."""
        if kind.kind == "pred":
            number = int(bool(number))
        if kind.kind == "float" and isinstance(number, int):
            return self.cast(self.constant(kind.integer, number), kind)
        if kind.kind != "float":
            number &= (1 << kind.bits) - 1
            number -= (number >> (kind.bits - 1) << kind.bits) if kind.bits > 1 else 0
        return Value(self._everywhere(kind, ir.Constant(kind.element, number)), kind)

    def _everywhere(self, kind: Type, element: ir.Constant) -> ir.Constant:
        return Splat(self.vector(kind), element)

    @staticmethod
    def known(value: Value) -> int | None:
        """The integer in every lane, if it is a constant."""
        number = value.ir.number if isinstance(value.ir, Splat) else None
        return number if isinstance(number, int) else None

    def each(self, kind: Type, numbers: list[int]) -> Value:
        """A different integer constant in every lane."""
        return Value(integers(kind.bits, tuple(numbers)), kind)

    def undefined(self, kind: Type) -> Value:
        """A vector whose content does not matter."""
        return Value(ir.Constant(self.vector(kind), ir.Undefined), kind)

    def splat(self, scalar: ir.Value, kind: Type) -> Value:
        """One scalar in every lane."""
        one = self.ir.insert_element(
            ir.Constant(self.vector(kind), ir.Undefined), scalar, ir.Constant(HALF, 0)
        )
        return Value(self.shuffle(one, one, [0] * self.lanes), kind)

    def shuffle(self, one: ir.Value, two: ir.Value, places: Iterable[int]) -> ir.Value:
        """Elements of two vectors by place; those of the second come after those of the first."""
        return self.ir.shuffle_vector(one, two, integers(32, tuple(places)))

    # Predicates

    def lanes_of(self, bits: ir.Value) -> Value:
        """A predicate from a bit mask."""
        return Value(self.ir.bitcast(bits, ir.VectorType(BIT, self.lanes)), PRED)

    def bits_of(self, predicate: Value) -> ir.Value:
        """The bit mask of a predicate, one bit a lane."""
        if predicate.ir is self.mask.ir:
            return self.mask_bits
        return self.bits(predicate.ir)

    def bits(self, predicate: ir.Value) -> ir.Value:
        """The bit mask of a vector of one bit a lane."""
        return self.ir.bitcast(predicate, self.mask_type)

    def any(self, predicate: Value) -> ir.Value:
        """Whether it holds in any lane."""
        return self.some(self.bits_of(predicate))

    def some(self, bits: ir.Value) -> ir.Value:
        """Whether a bit mask has any lane."""
        return self.ir.icmp_unsigned("!=", bits, ir.Constant(self.mask_type, 0))

    def every(self, bits: ir.Value) -> ir.Value:
        """Whether a bit mask has all lanes."""
        return self.ir.icmp_unsigned("==", bits, ir.Constant(self.mask_type, -1))

    def lowest(self, bits: ir.Value) -> ir.Value:
        """The lowest lane (i32) of a bit mask that has any."""
        name = f"llvm.cttz.{type_suffix(self.mask_type)}"
        lane = self.intrinsic(name, self.mask_type, [bits, ir.Constant(BIT, 1)])
        return self.ir.trunc(lane, HALF)

    def count(self, bits: ir.Value) -> ir.Value:
        """How many lanes (i64) a bit mask has."""
        name = f"llvm.ctpop.{type_suffix(self.mask_type)}"
        return self.ir.zext(self.intrinsic(name, self.mask_type, [bits]), WORD)

    def only(self, lane: ir.Value) -> ir.Value:
        """The bit mask of one lane (i32)."""
        return self.ir.shl(ir.Constant(self.mask_type, 1), self.ir.zext(lane, self.mask_type))

    def without_lowest(self, bits: ir.Value) -> ir.Value:
        """A bit mask without its lowest lane."""
        return self.ir.and_(bits, self.ir.sub(bits, ir.Constant(self.mask_type, 1)))

    def all_active(self, predicate: Value) -> ir.Value:
        """Whether it holds in every active lane."""
        outside = self.ir.and_(self.bits_of(self.active), self.ir.not_(self.bits_of(predicate)))
        return self.ir.icmp_unsigned("==", outside, ir.Constant(self.mask_type, 0))

    @contextmanager
    def guarded(self, predicate: Value) -> Iterator[None]:
        """Restrict ``active`` to lanes where a predicate holds."""
        before = self.active
        self.active = Value(self.ir.and_(before.ir, predicate.ir), PRED)
        yield
        self.active = before

    # Reinterpretation

    def settle(self, value: Value) -> Value:
        """Replace the NaNs of an arithmetic result by the canonical one."""
        if value.settled:
            return value
        kind = value.type
        nan = self.constant(kind.integer, CANONICAL_NAN[kind.bits])
        bits = self.ir.bitcast(value.ir, self.vector(kind.integer))
        ordered = self.ir.fcmp_ordered("ord", value.ir, value.ir)
        bits = self.ir.select(ordered, bits, nan.ir)
        return Value(self.ir.bitcast(bits, self.vector(kind)), kind)

    def cast(self, value: Value, kind: Type) -> Value:
        """The same bits as another type of the same size."""
        if value.type == kind:
            return value
        value = self.settle(value)
        if self.vector(value.type) == self.vector(kind):
            return Value(value.ir, kind)
        return Value(self.ir.bitcast(value.ir, self.vector(kind)), kind)

    def select(self, predicate: Value, a: Value, b: Value) -> Value:
        """``a`` where the predicate holds, else ``b``."""
        settled = a.settled and b.settled
        return Value(self.ir.select(predicate.ir, a.ir, b.ir), a.type, settled)

    # Records

    def field_address(self, record: str, field: str) -> ir.Value:
        """Address of a field of the warp's, its CTA's or its launch's record."""
        if record not in self._records:
            with self.at_entry():
                address = self.field("warp", record)
                self._records[record] = self.ir.inttoptr(address, POINTER)
        return self.member(self._records[record], RECORDS[record], field)

    def field(self, record: str, field: str) -> ir.Value:
        """Value of a field."""
        return self.ir.load(self.field_address(record, field), typ=WORD)

    def set_field(self, field: str, value: ir.Value) -> None:
        """Write a field of the warp's record."""
        self.ir.store(value, self.field_address("warp", field))

    def member(self, pointer: ir.Value, kind: np.dtype, field: str) -> ir.Value:
        """A pointer to a field of a record of that kind."""
        return self.offset(pointer, offset_of(kind, field))

    def offset(self, pointer: ir.Value, byte: int | ir.Value) -> ir.Value:
        """A pointer so many bytes further."""
        if isinstance(byte, int):
            if byte == 0:
                return pointer
            byte = ir.Constant(WORD, byte)
        return self.ir.gep(pointer, [byte], source_etype=ir.IntType(8))

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Emit at the start of the function, where every later use is dominated."""
        here = self.ir.block
        self._go_to_end(self.function.entry_basic_block)
        yield
        self._go_to_end(here)

    def _go_to_end(self, block: ir.Block) -> None:
        """Emit at the end of a block, before its terminator if it has one."""
        if block.is_terminated:
            self.ir.position_before(block.terminator)
        else:
            self.ir.position_at_end(block)

    def once(self, key: tuple, emit: Callable[[], Any]) -> Any:
        """What ``emit`` gave when it was first asked for ``key``.

        For code that every later instruction of the block comes after: not in branches or loops.
        """
        if key not in self._known:
            self._known[key] = emit()
        return self._known[key]

    def fixed(self, key: tuple, emit: Callable[[], ir.Value]) -> ir.Value:
        """As :meth:`once`, anywhere, of what is the same from the function's start to its end."""
        if key not in self._known:
            with self.at_entry():
                self._known[key] = emit()
        return self._known[key]

    # Memory that is not the program's: register slots and scratch

    def load_vector(self, pointer: ir.Value, kind: Type) -> Value:
        """A lane vector at an aligned address; predicates are kept as bit masks."""
        if kind == PRED:
            return self.lanes_of(self.ir.load(pointer, typ=self.mask_type))
        return Value(self.ir.load(pointer, typ=self.vector(kind), align=64), kind)

    def store_vector(self, pointer: ir.Value, value: Value, mask: Value | None = None) -> None:
        """Write a lane vector, or those lanes of it that are in ``mask``."""
        value = self.settle(value)
        if value.type == PRED:
            bits = self.bits_of(value)
            if mask is not None:
                keep, old = self.bits_of(mask), self.ir.load(pointer, typ=self.mask_type)
                change = self.ir.and_(self.ir.xor(bits, old), keep)
                bits = self.ir.xor(old, change)
            self.ir.store(bits, pointer)
        elif mask is None:
            self.ir.store(value.ir, pointer, align=64)
        else:
            kind = self.vector(value.type)
            name = f"llvm.masked.store.{type_suffix(kind)}.p0"
            align = ir.Constant(HALF, 64)
            self.intrinsic(name, ir.VoidType(), [value.ir, pointer, align, mask.ir])

    def scratch(self) -> ir.Value:
        """Address of the warp's scratch words."""
        return self.ir.inttoptr(self.field("warp", "scratch"), POINTER)

    def symbol(self, name: str) -> ir.Value:
        """What a symbol stands for when the code is loaded (i64)."""

        def emit() -> ir.Value:
            known = self.module.globals.get(name)
            place = ir.GlobalVariable(self.module, BIT, name) if known is None else known
            return self.ir.ptrtoint(place, WORD)

        return self.fixed((name,), emit)

    # Calls and control

    def intrinsic(self, name: str, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
        """Call an LLVM intrinsic by name."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.ir.call(self.module.declared(name, kind), arguments)

    def elementwise(self, name: str, *values: Value) -> Value:
        """An LLVM intrinsic ``llvm.name`` that maps elements of one type to that type."""
        kind = values[0].type
        vector = self.vector(kind)
        result = self.intrinsic(
            f"llvm.{name}.{type_suffix(vector)}", vector, [v.ir for v in values]
        )
        return Value(result, kind, settled=kind.kind != "float")

    def subroutine(
        self, name: str, kind: Type, emit: Callable[..., Value], *values: Value, strict=False
    ) -> Value:
        """Call ``emit(builder, *values)`` as a routine: see :meth:`LaneModule.routine`.

        For pure computations that are too long to repeat. ``name`` must tell apart all that
        ``emit`` depends on besides the values' types. ``strict``: it changes the rounding mode.
        """
        name = "_".join([self.prefix + name, *(v.type.name for v in values)])
        signature = ir.FunctionType(self.vector(kind), [v.ir.type for v in values])

        def body(function: ir.Function) -> None:
            if strict:
                function.attributes = _Strict(function.attributes)
            inner = copy(self)
            inner.module = function.module
            inner.ir = VectorBuilder(function.append_basic_block("entry"))
            inner.function, inner._records, inner._known = function, {}, {}
            inputs = [
                Value(a, v.type, settled=v.type.kind != "float")
                for a, v in zip(function.args, values)
            ]
            result = inner.settle(emit(inner, *inputs))
            inner.ir.ret(result.ir)

        function = self.module.routine(name, signature, body)
        return Value(self.ir.call(function, [v.ir for v in values]), kind)

    def runtime(self, name: str, arguments: list[ir.Value]) -> ir.Value:
        """Call a function of the runtime through its address in the LAUNCH record."""
        kind = ir.FunctionType(WORD, [POINTER] + [WORD] * len(arguments))
        function = self.ir.inttoptr(self.field("launch", name), kind.as_pointer())
        context = self.ir.inttoptr(self.field("launch", "context"), POINTER)
        return self.ir.call(function, [context, *arguments])

    def fail_if(self, condition: ir.Value) -> None:
        """Leave the block if a runtime function has found a fault."""
        if self._failed is None:
            self._failed = self.function.append_basic_block("failed")
            ir.IRBuilder(self._failed).ret(self.failure)
        go_on = self.function.append_basic_block()
        self.ir.cbranch(condition, self._failed, go_on)
        self.ir.position_at_end(go_on)


class _Strict(FunctionAttributes):
    """Attributes of a function whose code depends on the rounding mode."""

    _known = FunctionAttributes._known | {"strictfp"}

    def __init__(self, attributes: FunctionAttributes):
        super().__init__(["strictfp", *attributes])


def offset_of(kind: np.dtype, field: str) -> int:
    """Where a field of a kind of record is: bytes."""
    return int((kind.fields or {})[field][1])


def type_suffix(kind: ir.Type) -> str:
    """How intrinsics spell a type in their name: v32f32."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{type_suffix(kind.element)}"
    return {"float": "f32", "double": "f64"}.get(str(kind), str(kind))
