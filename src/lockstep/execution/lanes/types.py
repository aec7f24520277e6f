"""Element types of lane vectors, and the values that the builder passes around."""

import msgspec
from llvmlite import ir


class Type(msgspec.Struct, frozen=True):
    """What one lane holds: ``kind`` is int, float or pred.

    ``count`` elements of ``bits`` each lie side by side in a lane, the first one lowest.
    """

    name: str
    bits: int
    kind: str
    count: int = 1

    @property
    def bytes(self) -> int:
        """Size in memory; a predicate has none."""
        return self.bits * self.count // 8

    @property
    def integer(self) -> "Type":
        """Integers of the same size and count."""
        return INTEGERS[self.bits].times(self.count)

    @property
    def scalar(self) -> "Type":
        """The type of one element."""
        return self.times(1)

    def times(self, count: int) -> "Type":
        """The type with another number of elements in a lane."""
        name = self.name.partition("x")[0]
        return Type(f"{name}x{count}" if count > 1 else name, self.bits, self.kind, count)

    @property
    def element(self) -> ir.Type:
        """The LLVM type of one element; floats below 32 bits are kept as their bits."""
        if self.kind == "float" and self.bits >= 32:
            return ir.FloatType() if self.bits == 32 else ir.DoubleType()
        return ir.IntType(self.bits)


PRED = Type("pred", 1, "pred")
I8 = Type("i8", 8, "int")
I16 = Type("i16", 16, "int")
I32 = Type("i32", 32, "int")
I64 = Type("i64", 64, "int")
I128 = Type("i128", 128, "int")
F16 = Type("f16", 16, "float")
BF16 = Type("bf16", 16, "float")
E4M3 = Type("e4m3", 8, "float")
E5M2 = Type("e5m2", 8, "float")
TF32 = Type("tf32", 32, "float")
F32 = Type("f32", 32, "float")
F64 = Type("f64", 64, "float")

INTEGERS = {8: I8, 16: I16, 32: I32, 64: I64, 128: I128}


class Value(msgspec.Struct, frozen=True):
    """A lane vector: its LLVM value and its element type.

    ``settled`` is false for a floating-point result whose NaNs may still have any payload;
    whoever looks at its bits settles it first (see ``LaneBuilder.settle``). ``sum`` says
    of an address which other value and which constant were added.
    """

    ir: ir.Value
    type: Type
    settled: bool = True
    sum: "tuple[Value, int] | None" = None
