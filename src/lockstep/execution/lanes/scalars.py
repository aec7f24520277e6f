"""Values that a warp holds once: numbers of LLVM that are no vectors, with the lanes' arithmetic.

Operations that work element by element take a ``Scalars`` where they take a builder, and give
scalars for scalars: ``integer.divide(Scalars(b), x, y, signed)``. No lanes take part, so no mask
concerns them. ``spread`` makes lane vectors of them.
"""

from llvmlite import ir

from lockstep.execution.lanes.builder import BIT, HALF, LaneBuilder
from lockstep.execution.lanes.types import PRED, Type, Value

SLOT_BYTES = 8  # of a scalar of any type up to 64 bits


class Scalars(LaneBuilder):
    """A lane builder's scalars: the same function at the same place, another type of values."""

    prefix = "scalar_"

    def __init__(self, b: LaneBuilder):
        self.__dict__ = b.__dict__  # what either of them emits or finds out, both have

    def vector(self, kind: Type) -> ir.Type:
        """The LLVM type of a value: one element."""
        return kind.element

    def _everywhere(self, kind: Type, element: ir.Constant) -> ir.Constant:
        return element

    @staticmethod
    def known(value: Value) -> int | None:
        """The integer, if it is a constant."""
        number = value.ir.constant if isinstance(value.ir, ir.Constant) else None
        return number if isinstance(number, int) else None

    def splat(self, scalar: ir.Value, kind: Type) -> Value:
        """The value itself."""
        return Value(scalar, kind)

    def load(self, pointer: ir.Value, kind: Type) -> Value:
        """Read a slot of SLOT_BYTES."""
        if kind == PRED:
            word = self.ir.load(pointer, typ=HALF)
            return Value(self.ir.trunc(word, BIT), PRED)
        return Value(self.ir.load(pointer, typ=self.vector(kind)), kind)

    def store(self, pointer: ir.Value, value: Value) -> None:
        """Write one; a predicate as 0 or 1."""
        value = self.settle(value)
        number = self.ir.zext(value.ir, HALF) if value.type == PRED else value.ir
        self.ir.store(number, pointer)


def is_scalar(value: Value) -> bool:
    """Whether a warp holds a value once."""
    return not isinstance(value.ir.type, ir.VectorType)


def spread(b: LaneBuilder, value: Value) -> Value:
    """A value in every lane: a scalar's number, a lane vector as it is."""
    if not is_scalar(value):
        return value
    return Value(b.splat(value.ir, value.type).ir, value.type, value.settled)


def first_lane(b: LaneBuilder, value: Value) -> Value:
    """A lane vector's element of the first active lane, of lane 0 if none is active: a scalar."""
    bits = b.bits_of(b.active)
    name = f"llvm.cttz.i{b.lanes}"
    lane = b.intrinsic(name, bits.type, [bits, ir.Constant(BIT, 0)])
    lane = b.ir.and_(lane, ir.Constant(bits.type, b.lanes - 1))
    return Value(b.ir.extract_element(value.ir, lane), value.type, value.settled)
