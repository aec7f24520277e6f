"""Element types of lane vectors, and the values that the builder passes around."""

from dataclasses import dataclass

from llvmlite import ir


@dataclass(frozen=True, slots=True)
class Type:
    """What one lane holds: ``kind`` is int, float or pred."""

    name: str
    bits: int
    kind: str

    @property
    def bytes(self) -> int:
        """Size in memory; a predicate has none."""
        return self.bits // 8

    @property
    def element(self) -> ir.Type:
        """The LLVM type of one lane; 16-bit floats are kept as their bits."""
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
F32 = Type("f32", 32, "float")
F64 = Type("f64", 64, "float")

INTEGERS = {8: I8, 16: I16, 32: I32, 64: I64, 128: I128}


@dataclass(frozen=True, slots=True)
class Value:
    """A lane vector: its LLVM value and its element type.

    ``settled`` is false for a floating-point result whose NaNs may still have any payload;
    whoever looks at its bits settles it first (see ``LaneBuilder.settle``). ``uniform`` holds the
    scalar when every lane is known to have the same value.
    """

    ir: ir.Value
    type: Type
    settled: bool = True
