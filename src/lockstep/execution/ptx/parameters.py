"""Parameters and results of functions, and those that calls pass, as registers.

PTX accesses them at constant places only, so each such variable is cut into words, and a word is
a register like any other, named ``variable@offset``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.types import INTEGERS, Value
from lockstep.isa.ptx.syntax import (
    Call,
    Function,
    Instruction,
    Memory,
    Register,
    Symbol,
    Variable,
    Vector,
    type_bytes,
)

RETURN = "%return"  # the register of a function that holds the block to return to


@dataclass(frozen=True, slots=True)
class ParameterWord:
    """A register that holds ``bytes`` of a variable from ``offset`` on."""

    register: str
    offset: int
    bytes: int

    def overlaps(self, first: int, size: int) -> bool:
        """Whether it holds any of ``size`` bytes from ``first`` on."""
        return self.offset < first + size and first < self.offset + self.bytes


def words_of(variable: Variable) -> list[ParameterWord]:
    """The words of a variable: four bytes each in arrays; a scalar, or a register, is one."""
    if variable.space == "reg":
        return [ParameterWord(variable.name, 0, variable.element_bytes)]
    size = 4 if variable.shape else type_bytes(variable.type)
    return [ParameterWord(f"{variable.name}@{k}", k, size) for k in range(0, variable.bytes, size)]


@dataclass(frozen=True, slots=True)
class Passed:
    """An access to ``bytes`` of a variable from ``offset`` on."""

    variable: Variable
    offset: int
    bytes: int

    @property
    def registers(self) -> set[str]:
        """The registers that hold any of it."""
        words = words_of(self.variable)
        return {w.register for w in words if w.overlaps(self.offset, self.bytes)}


class Parameters:
    """The variables of one function that are passed: its own parameters, and those of calls."""

    def __init__(self, function: Function):
        self.function = function
        own = () if function.is_entry else (*function.parameters, *function.returns)
        local = (v for v in function.variables if v.space == "param")
        self.variables = {v.name: v for v in (*own, *local)}

    @property
    def words(self) -> dict[str, int]:
        """Bytes of each register that is a word of a variable."""
        variables = (v for v in self.variables.values() if v.space == "param")
        return {w.register: w.bytes for v in variables for w in words_of(v)}

    @cached_property
    def addressed(self) -> list[Variable]:
        """The function's own parameters and results whose address it takes."""
        if self.function.is_entry:
            return []
        operands = (o for i in self.function.instructions for o in i.operands)
        names = {o.name for o in operands if isinstance(o, Symbol)}
        return [v for v in self.variables.values() if v.name in names]

    def access(self, i: Instruction) -> Passed | None:
        """What an ``ld.param`` or ``st.param`` of the function accesses."""
        if i.opcode not in ("ld", "st") or not i.operands:
            return None
        first, second = i.operands[:2]  # a cache policy may follow
        memory, value = (second, first) if i.opcode == "ld" else (first, second)
        if not isinstance(memory, Memory) or not isinstance(memory.base, Symbol):
            return None
        variable = self.variables.get(memory.base.name)
        if variable is None or variable.space != "param":
            return None
        count = len(value.elements) if isinstance(value, Vector) else 1
        size = count * type_bytes(i.modifiers[-1])
        return Passed(variable, memory.base.offset + memory.offset, size)

    def read(self, i: Instruction) -> set[str]:
        """Words that an instruction reads; a store into part of a word reads the rest of it."""
        if i.opcode == "call":
            call: Call = i.operands[0]
            passed = [self.variables.get(getattr(a, "name", "")) for a in call.arguments]
            return {w.register for v in passed if v is not None for w in words_of(v)}
        if i.opcode == "ret" and not self.function.is_entry:
            results = {w.register for v in self.function.returns for w in words_of(v)}
            return results | {RETURN}
        access = self.access(i)
        if access is None:
            return set()
        if i.opcode == "ld":
            return access.registers
        return access.registers - self.written(i) if i.guard is None else access.registers

    def written(self, i: Instruction) -> set[str]:
        """Words that a store writes as a whole."""
        access = self.access(i) if i.opcode == "st" else None
        if access is None:
            return set()
        first, end = access.offset, access.offset + access.bytes
        words = words_of(access.variable)
        return {w.register for w in words if first <= w.offset and w.offset + w.bytes <= end}

    def results(self, call: Call) -> set[str]:
        """Words and registers that get the results of a call."""
        variables = (self.variables.get(getattr(r, "name", "")) for r in call.results)
        words = {w.register for v in variables if v is not None for w in words_of(v)}
        return words | {r.name for r in call.results if isinstance(r, Register)}


Get = Callable[[str], Value]
Put = Callable[[str, Value], None]


def read_bytes(b: LaneBuilder, get: Get, part: Passed) -> Value:
    """An integer made of the words that hold it; ``get`` gives the value of a register."""
    wide = INTEGERS[8 * part.bytes]
    result = b.constant(wide, 0)
    for word in words_of(part.variable):
        if not word.overlaps(part.offset, part.bytes):
            continue
        value = get(word.register)
        if word.offset == part.offset and word.bytes == part.bytes:
            return b.cast(value, wide)
        first = max(part.offset, word.offset)
        piece = shifted(b, value, word.offset - first, wide)
        piece = shifted(b, piece, first - part.offset, wide)
        result = Value(b.ir.or_(result.ir, piece.ir), wide)
    return result


def write_bytes(b: LaneBuilder, get: Get, put: Put, part: Passed, value: Value) -> None:
    """Put an integer into the words that hold it, and keep the rest of them."""
    for word in words_of(part.variable):
        if not word.overlaps(part.offset, part.bytes):
            continue
        kind = INTEGERS[8 * word.bytes]
        piece = shifted(b, value, part.offset - word.offset, kind)
        if part.bytes < word.bytes:
            ones = ((1 << 8 * part.bytes) - 1) << 8 * (part.offset - word.offset)
            kept = b.ir.and_(get(word.register).ir, b.constant(kind, ~ones).ir)
            piece = Value(b.ir.or_(b.ir.and_(piece.ir, b.constant(kind, ones).ir), kept), kind)
        put(word.register, piece)


def shifted(b: LaneBuilder, value: Value, left: int, kind) -> Value:
    """An integer moved by bytes, up if ``left`` is positive, then cut or filled with zeros."""
    value = b.cast(value, INTEGERS[value.type.bits])
    if left < 0:
        amount = b.constant(value.type, -8 * left)
        value = Value(b.ir.lshr(value.ir, amount.ir), value.type)
    if value.type.bits != kind.bits:
        resize = b.ir.zext if value.type.bits < kind.bits else b.ir.trunc
        value = Value(resize(value.ir, b.vector(kind)), kind)
    if left > 0:
        value = Value(b.ir.shl(value.ir, b.constant(kind, 8 * left).ir), kind)
    return value
