"""A lane builder that emits nothing: whoever lifts onto it learns what would be refused, cheaply.

Values have types alone. What a block would call is not emitted either, so that an operation costs
what deciding how to emit it costs.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from lockstep.execution.lanes.builder import (
    BIT,
    POINTER,
    WORD,
    LaneBuilder,
)
from lockstep.execution.lanes.module import LaneModule
from lockstep.execution.lanes.types import PRED, Type, Value


class _Unmade:
    """A value that has only a type; also a phi, to which anything may come in."""

    __slots__ = ("type",)

    def __init__(self, kind: ir.Type):
        self.type = kind

    def add_incoming(self, value: Any, block: Any) -> None:
        """Take a value from a block."""


class _Function:
    """Stands for every function and basic block."""

    def __init__(self, kind: ir.FunctionType):
        self.returns = kind.return_type
        self.args = [_Unmade(argument) for argument in kind.args]

    def append_basic_block(self, name: str = "") -> "_Function":
        """A basic block: nothing to tell apart."""
        return self


def _of_first(self: "_Types", value: Any, *_: Any, **__: Any) -> _Unmade:
    return _Unmade(value.type)


def _of_second(self: "_Types", value: Any, kind: ir.Type, *_: Any, **__: Any) -> _Unmade:
    return _Unmade(kind)


def _compared(self: "_Types", order: str, value: Any, *_: Any, **__: Any) -> _Unmade:
    kind = value.type
    return _Unmade(ir.VectorType(BIT, kind.count) if isinstance(kind, ir.VectorType) else BIT)


def _nothing(self: "_Types", *_: Any, **__: Any) -> None:
    return None


class _Types:
    """What an ``ir.IRBuilder`` does, as far as the types of its results go.

    Only what lifts do outside routines: those are not made.
    """

    block = None

    add = sub = mul = and_ = or_ = xor = shl = lshr = ashr = neg = not_ = _of_first
    fadd = fsub = fmul = fdiv = _of_first
    trunc = zext = sext = bitcast = inttoptr = ptrtoint = fptrunc = fpext = _of_second
    sitofp = uitofp = fptosi = fptoui = _of_second
    icmp_signed = icmp_unsigned = fcmp_ordered = fcmp_unordered = _compared
    store = branch = cbranch = position_at_end = _nothing

    def select(self, condition: Any, one: Any, other: Any) -> _Unmade:
        return _Unmade(one.type)

    def load(self, pointer: Any, name: str = "", align: Any = None, typ: Any = None) -> _Unmade:
        return _Unmade(typ)

    def gep(self, pointer: Any, *_: Any, **__: Any) -> _Unmade:
        return _Unmade(POINTER)

    def phi(self, kind: ir.Type) -> _Unmade:
        return _Unmade(kind)

    def extract_element(self, vector: Any, index: Any) -> _Unmade:
        return _Unmade(vector.type.element)

    def extract_value(self, aggregate: Any, index: int) -> _Unmade:
        return _Unmade(aggregate.type.elements[index])

    def shuffle_vector(self, one: Any, two: Any, mask: Any) -> _Unmade:
        return _Unmade(ir.VectorType(one.type.element, mask.type.count))

    def call(self, function: _Function, arguments: Any) -> _Unmade:
        return _Unmade(function.returns)


class _Module(LaneModule):
    """Has any function; routines are not made."""

    def declared(self, name: str, kind: ir.FunctionType) -> Any:
        return _Function(kind)

    def routine(self, name: str, kind: ir.FunctionType, emit: Callable[[ir.Function], None]) -> Any:
        return _Function(kind)


class DryBuilder(LaneBuilder):
    """Takes what every lane builder takes; nothing comes of it."""

    def __init__(self, lanes: int):
        self._open(_Module(lanes))
        self.ir = _Types()
        self.function = _Function(self.block_signature)
        self.failure = _Unmade(WORD)
        self.warp, self.mask_bits = self.function.args
        self.mask = self.active = Value(_Unmade(self.vector(PRED)), PRED)

    def _value(self, kind: Type) -> Value:
        return Value(_Unmade(self.vector(kind)), kind)

    def constant(self, kind: Type, number: int | float) -> Value:
        """A value."""
        return self._value(kind)

    def each(self, kind: Type, numbers: list[int]) -> Value:
        """A value."""
        return self._value(kind)

    def undefined(self, kind: Type) -> Value:
        """A value."""
        return self._value(kind)

    def splat(self, scalar: Any, kind: Type) -> Value:
        """A value."""
        return self._value(kind)

    def shuffle(self, one: Any, two: Any, places: Iterable[int]) -> Any:
        """A vector of as many elements as places."""
        return _Unmade(ir.VectorType(one.type.element, len(tuple(places))))

    def field_address(self, record: str, field: str) -> Any:
        """A pointer."""
        return _Unmade(POINTER)

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """All places are the same."""
        yield

    def once(self, key: tuple, emit: Callable[[], Any]) -> Any:
        """What ``emit`` gives: to remember it would take longer."""
        return emit()

    fixed = once

    def subroutine(
        self, name: str, kind: Type, emit: Callable[..., Value], *values: Value, strict=False
    ) -> Value:
        """A value; what would compute it is not emitted."""
        return self._value(kind)

    def fail_if(self, condition: Any) -> None:
        """Nothing fails."""
