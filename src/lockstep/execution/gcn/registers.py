"""Registers of a wavefront: their names, their slots, and what a block knows of their values.

Vector registers are lane vectors of 32 bits. Scalar ones are words that the wavefront holds once,
pairs of them 64-bit numbers or sets of lanes; their numbers are those that operands encode.
"""

from collections.abc import Iterable

from llvmlite import ir

from lockstep.execution.lanes.builder import POINTER, LaneBuilder
from lockstep.execution.lanes.scalars import Scalars
from lockstep.execution.lanes.types import I32, I64, PRED, Type, Value

VCC, M0, EXEC = 106, 124, 126
SCALARS = 128  # that have numbers
WORD_BYTES = 4
SCC = "scc"


class RegisterSlots:
    """Byte offsets of the registers of a kernel that uses the first ``vectors`` ones."""

    def __init__(self, vectors: int, lanes: int):
        self._vector_bytes = WORD_BYTES * lanes
        self._scalars = vectors * self._vector_bytes
        self._scc = self._scalars + SCALARS * WORD_BYTES
        self.bytes = -(-(self._scc + WORD_BYTES) // 64) * 64

    def __getitem__(self, name: str) -> int:
        if name == SCC:
            return self._scc
        number = int(name[1:])
        if name[0] == "v":
            return number * self._vector_bytes
        return self._scalars + number * WORD_BYTES


class Registers:
    """What a block knows of the values of registers, by name: ``v3``, ``s7``, ``scc``.

    ``reads`` are those whose value on entry is used, ``written`` those with a new one.
    """

    def __init__(self, b: LaneBuilder, slots: RegisterSlots):
        self.b, self.s, self.slots = b, Scalars(b), slots
        self.reads: set[str] = set()
        self.written: dict[str, None] = {}
        self._values: dict[str, Value] = {}
        self._pairs: dict[int, Value] = {}  # of two scalars, by the number of the first
        self._changed: set[str] = set()  # written, and not yet in their slots
        self._indexed: set[str] = set()  # what their slots held on entry may have changed
        with b.at_entry():
            self._start = b.ir.inttoptr(b.field("warp", "registers"), POINTER)

    def _pointer(self, name: str) -> ir.Value:
        return self.b.offset(self._start, self.slots[name])

    # Vectors

    def vector(self, number: int) -> Value:
        """Current value of a vector register (i32)."""
        name = f"v{number}"
        if name in self._indexed and name not in self._values:
            self._values[name] = self.b.load_vector(self._pointer(name), I32)
        if name not in self._values:
            self.reads.add(name)
            with self.b.at_entry():
                self._values[name] = self.b.load_vector(self._pointer(name), I32)
        return self._values[name]

    def set_vector(self, number: int, value: Value, lanes: Value | None) -> None:
        """A new value (i32) in some lanes; None: in all."""
        if lanes is not None:
            value = self.b.select(lanes, value, self.vector(number))
        self._note(f"v{number}", value)

    def _note(self, name: str, value: Value) -> None:
        self._values[name] = value
        self.written[name] = None
        self._changed.add(name)

    # Scalars

    def scalar(self, number: int) -> Value:
        """Current value of a scalar register (i32)."""
        name = f"s{number}"
        if name not in self._values:
            self._values[name] = self._word(number)
        return self._values[name]

    def _word(self, number: int) -> Value:
        if number in self._pairs:
            return self._half(self._pairs[number], 0)
        if number - 1 in self._pairs:
            return self._half(self._pairs[number - 1], 1)
        return self._load(f"s{number}", I32)

    def _half(self, pair: Value, place: int) -> Value:
        word = pair.ir
        if place:
            word = self.b.ir.lshr(word, ir.Constant(word.type, 32))
        return Value(self.b.ir.trunc(word, ir.IntType(32)), I32)

    def _load(self, name: str, kind: Type) -> Value:
        if name in self._indexed:
            return self.s.load(self._pointer(name), kind)
        self.reads.add(name)
        with self.b.at_entry():
            return self.s.load(self._pointer(name), kind)

    def pair(self, number: int) -> Value:
        """Two scalar registers from a number on, the first one lowest (i64)."""
        if number not in self._pairs:
            names = [f"s{number + k}" for k in range(2)]
            near = {number - 1, number + 1} & self._pairs.keys()
            known = self._values.keys() | self._indexed
            if near or not known.isdisjoint(names):
                self._pairs[number] = self._joined(number)
            else:
                self.reads.add(names[1])
                self._pairs[number] = self._load(names[0], I64)
        return self._pairs[number]

    def _joined(self, number: int) -> Value:
        low, high = (self.b.ir.zext(self.scalar(number + k).ir, ir.IntType(64)) for k in range(2))
        return Value(self.b.ir.or_(low, self.b.ir.shl(high, ir.Constant(high.type, 32))), I64)

    def set_scalar(self, number: int, value: Value) -> None:
        """A new value (i32) of one."""
        self._separate(number - 1)
        self._separate(number)
        self._note(f"s{number}", value)

    def set_pair(self, number: int, value: Value) -> None:
        """A new value (i64) of two from a number on."""
        self._separate(number - 1)
        self._separate(number + 1)
        for name in (f"s{number}", f"s{number + 1}"):
            self._values.pop(name, None)
            self.written[name] = None
            self._changed.add(name)
        self._pairs[number] = value

    def _separate(self, number: int) -> None:
        """Know two scalars by themselves before one of them changes."""
        if number in self._pairs:
            for k in range(2):
                self.scalar(number + k)
            del self._pairs[number]

    @property
    def scc(self) -> Value:
        """The scalar condition (predicate)."""
        if SCC not in self._values:
            self._values[SCC] = self._load(SCC, PRED)
        return self._values[SCC]

    @scc.setter
    def scc(self, value: Value) -> None:
        self._note(SCC, value)

    # Registers whose number is computed

    def place(self, file: str, first: int, count: int, index: ir.Value) -> ir.Value:
        """Pointer to the slot of the register ``index`` (i32) numbers after one of a file.

        ``count``: how many the file has. Beyond it, it is the first one of the file.
        """
        names = [f"{file}{number}" for number in (0, *range(first, count))]
        self._put(names)
        self.reads |= set(names) - self.written.keys() - self._indexed
        e, word = self.b.ir, ir.IntType(32)
        number = e.add(index, ir.Constant(word, first))
        exists = e.icmp_unsigned("<", number, ir.Constant(word, count))
        number = e.zext(e.select(exists, number, ir.Constant(word, 0)), ir.IntType(64))
        size = self.slots[f"{file}1"] - self.slots[f"{file}0"]
        start = self._pointer(f"{file}0")
        return self.b.offset(start, e.mul(number, ir.Constant(number.type, size)))

    def forget(self, file: str, first: int, count: int) -> None:
        """What was written to such a place is some register's."""
        for number in (0, *range(first, count)):
            self._values.pop(f"{file}{number}", None)
            self._indexed.add(f"{file}{number}")
            if file == "s":
                self._pairs.pop(number, None)
                self._pairs.pop(number - 1, None)

    # The end of the block

    def store(self, live: set[str]) -> None:
        """Write those that later blocks read back to their slots."""
        self._put([name for name in self.written if name in live])

    def _put(self, names: Iterable[str]) -> None:
        changed = [name for name in names if name in self._changed]
        for name in changed:
            if name not in self._changed:
                continue  # it went with the one before
            number = int(name[1:]) if name != SCC else -1
            if name[0] == "v":
                self.b.store_vector(self._pointer(name), self._values[name])
            elif name == SCC:
                self.s.store(self._pointer(name), self.scc)
            elif number in self._pairs and f"s{number + 1}" in self._changed:
                self.s.store(self._pointer(name), self._pairs[number])
                self._changed.discard(f"s{number + 1}")
            else:
                self.s.store(self._pointer(name), self.scalar(number))
            self._changed.discard(name)
