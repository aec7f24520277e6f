"""Constant vectors, whose text is short or made once: LLVM's own takes long to print."""

import functools

from llvmlite import ir


class _Written(ir.Constant):
    """A vector constant whose text is made once: that takes longer than all else of a shuffle."""

    def __init__(self, kind: ir.VectorType, numbers: list[int]):
        super().__init__(kind, numbers)
        self._text = super().get_reference()

    def get_reference(self) -> str:
        return self._text

    def __str__(self) -> str:
        return f"{self.type} {self._text}"


@functools.cache
def integers(bits: int, numbers: tuple[int, ...]) -> ir.Constant:
    """A vector of integers."""
    return _Written(ir.VectorType(ir.IntType(bits), len(numbers)), list(numbers))


class Splat(ir.Constant):
    """A vector constant in LLVM's short notation: 32 numbers a constant are slow to print."""

    def __init__(self, kind: ir.VectorType, element: ir.Constant):
        self.type, self.number = kind, element.constant
        self.constant = f"splat ({element.type} {element.get_reference()})"

    def get_reference(self) -> str:
        """Its text without the type."""
        return self.constant

    def __str__(self) -> str:
        return f"{self.type} {self.constant}"


class VectorBuilder(ir.IRBuilder):
    """LLVM's builder with short constants where it makes some of its own."""

    def not_(self, value: ir.Value, name: str = "") -> ir.Value:
        """All bits inverted."""
        if not isinstance(value.type, ir.VectorType):
            return super().not_(value, name)
        return self.xor(value, Splat(value.type, ir.Constant(value.type.element, -1)), name)
