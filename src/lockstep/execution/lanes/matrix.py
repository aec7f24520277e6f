"""Matrix products of fragments that are spread over the lanes of a warp.

A layout says which element of a matrix each lane's registers hold. A product is emitted from the
layouts alone: for every register of the result and every k, the elements of both factors are
brought to the lanes that need them by constant shuffles, and multiplied and added.

Arithmetic, where hardware's is not documented: products of f16, bf16, tf32 and 8-bit floating-point
numbers are exact, and are added to the accumulator in ascending k, each sum rounded to the nearest
f32; a f16 result is rounded once more at the end. f64 uses fused multiply-adds in ascending k.
Integer sums are exact; with saturation the accumulator and the sum of products are added with it.
"""

from collections.abc import Callable
from itertools import accumulate

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder, type_suffix
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.matrix_elements import BITS, pack, per_register, unpack
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import (
    F32,
    F64,
    I32,
    Value,
)
from lockstep.isa.instruction import WARP_SIZE

Place = tuple[int, int, int]  # group of lanes, row, column


class MatrixLayout(msgspec.Struct, frozen=True):
    """Fragments of the factors and the result of one product.

    The functions map lane, register and element of the register to group, row and column; groups
    of lanes multiply matrices of their own. ``depth``: elements in a row of the first factor.
    """

    name: str
    depth: int
    first: Callable[[int, int, int], Place]
    second: Callable[[int, int, int], Place]
    result: Callable[[int, int], Place]  # lane, index of the number in the lane
    start: Callable[[int, int], Place]  # of the accumulator that products are added to


def tile(rows: int, depth: int, per_register: int) -> MatrixLayout:
    """``rows`` (8 or 16) by 8 results, as PTX ISA's figures of mma fragments have them."""
    blocks = rows // 8

    def along(lane: int, element: int, register: int) -> int:
        return (lane % 4 + 4 * register) * per_register + element

    def result(lane: int, k: int) -> Place:
        return 0, lane // 4 + 8 * (k // 2), lane % 4 * 2 + k % 2

    return MatrixLayout(
        f"tile{rows}x{depth}x{per_register}",
        depth,
        lambda lane, r, e: (0, lane // 4 + 8 * (r % blocks), along(lane, e, r // blocks)),
        lambda lane, r, e: (0, along(lane, e, r), lane // 4),
        result,
        result,
    )


def quads(rows_first: bool, rows_second: bool, wide_result: bool, wide_start: bool) -> MatrixLayout:
    """Four products of 8 by 8 by 4, each by two quads of lanes, sixteen lanes apart (m8n8k4).

    ``rows_...``: whether a factor is stored by rows; ``wide_...``: whether sums are f32.
    """

    def upper(lane: int) -> int:
        return 4 * (lane // 16)

    def factor(lane: int, element: int, a_lane_each: bool) -> tuple[int, int]:
        if a_lane_each:
            return lane % 4 + upper(lane), element
        return element + upper(lane), lane % 4

    def sums(wide: bool) -> Callable[[int, int], Place]:
        def place(lane: int, k: int) -> Place:
            if not wide:
                return lane // 4 % 4, lane % 4 + upper(lane), k
            row = (lane & 1) + (k & 2) + upper(lane)
            return lane // 4 % 4, row, (k & 4) + (lane & 2) + (k & 1)

        return place

    return MatrixLayout(
        f"quads{rows_first:d}{rows_second:d}{wide_result:d}{wide_start:d}",
        4,
        lambda lane, r, e: (lane // 4 % 4, *factor(lane, 2 * r + e, rows_first)),
        lambda lane, r, e: (lane // 4 % 4, *factor(lane, 2 * r + e, not rows_second)[::-1]),
        sums(wide_result),
        sums(wide_start),
    )


class Numbers(msgspec.Struct, frozen=True):
    """Element types of a product, by their PTX names, and how integers are combined.

    ``operation``: mul, or for single bits xor or and, whose ones are counted.
    """

    first: str
    second: str
    accumulator: str
    result: str
    operation: str = "mul"
    saturates: bool = False
    rounding: Rounding = Rounding.NEAREST  # of f64

    @property
    def name(self) -> str:
        """Distinguishes products for which different code is needed."""
        parts = [self.first, self.second, self.accumulator, self.result, self.operation]
        parts += [] if self.rounding == Rounding.NEAREST else [self.rounding.name.lower()]
        return "_".join([*parts, "sat"] if self.saturates else parts)


def multiply(
    b: LaneBuilder,
    layout: MatrixLayout,
    numbers: Numbers,
    factors: list[list[Value]],
    start: list[Value],
    product: "ProductKind | None" = None,
) -> list[Value]:
    """The registers of ``first x second + start``; all lanes of the warp take part."""
    product = product or ProductKind()
    parts = [*factors, start, product.more]
    ends = list(accumulate(map(len, parts)))
    results = _results(len(start), numbers)
    kind = start[0].type if BITS[numbers.result] == 64 else I32

    def emit(inner: LaneBuilder, *values: ir.Value) -> Values:
        first, second, sums, more = (values[e - len(p) : e] for e, p in zip(ends, parts))
        return product.emit(inner, layout, numbers, *more).registers(first, second, sums)

    return [
        Value(v, kind)
        for v in outlined(
            b,
            f"product_{product.name}{layout.name}_{numbers.name}_{ends[0]}",
            [b.vector(kind)] * results,
            [r.ir for part in parts for r in part],
            emit,
            faults=False,
        )
    ]


def _results(accumulators: int, numbers: Numbers) -> int:
    """Registers of the result, for so many of the accumulator."""
    return accumulators * per_register(numbers.accumulator) // per_register(numbers.result)


class Product:
    """Emits one product; other kinds of factors override :meth:`second`."""

    def __init__(self, b: LaneBuilder, layout: MatrixLayout, numbers: Numbers):
        self.b, self.layout, self.numbers = b, layout, numbers
        self._moved: dict[tuple, ir.Value] = {}

    def registers(self, first: Values, second: Values, start: Values) -> Values:
        """The result's registers from those of the factors and of the accumulator."""
        numbers = self.numbers
        factors = []
        for place, kind, parts in (
            (self.layout.first, numbers.first, first),
            (self.layout.second, numbers.second, second),
        ):
            vectors = unpack(self.b, kind, parts)
            factors.append((_located(place, vectors), vectors))
        sums = unpack(self.b, numbers.accumulator, start)
        sums = self._in_place([s for register in sums for s in register])
        return pack(self.b, numbers.result, [self._sum(k, s, factors) for k, s in enumerate(sums)])

    def _in_place(self, sums: Values) -> Values:
        """The accumulator's numbers where the result's are."""
        start, result = self.layout.start, self.layout.result
        lanes, indices = range(WARP_SIZE), range(len(sums))
        found = {start(lane, k): (k, lane) for k in indices for lane in lanes}
        return [permuted(self.b, sums, [found[result(lane, k)] for lane in lanes]) for k in indices]

    def _sum(self, index: int, start: ir.Value, factors: list) -> ir.Value:
        """One number of each lane's result."""
        places = [self.layout.result(lane, index) for lane in range(WARP_SIZE)]
        total = None if _is_integer(self.numbers) else start
        for k in range(self.layout.depth):
            one = self.moved(0, factors[0], [(g, row, k) for g, row, _ in places])
            other = self.second(factors[1], places, k)
            total = self._step(one, other, total)
        if not _is_integer(self.numbers):
            return total
        if self.numbers.saturates:
            return _intrinsic(self.b, "llvm.sadd.sat", start, total)
        return self.b.ir.add(start, total)

    def _step(self, one: ir.Value, other: ir.Value, total: ir.Value | None) -> ir.Value:
        emit, operation = self.b.ir, self.numbers.operation
        if not _is_integer(self.numbers):
            kind = F64 if self.numbers.result == "f64" else F32
            terms = [Value(term, kind, settled=False) for term in (one, other, total)]
            return rounded(self.b, "fma", self.numbers.rounding, *terms).ir
        if operation == "mul":
            product = emit.mul(one, other)
        else:
            bits = (emit.xor if operation == "xor" else emit.and_)(one, other)
            product = _intrinsic(self.b, "llvm.ctpop", bits)
        return product if total is None else emit.add(total, product)

    def second(self, factor: tuple, places: list[Place], k: int) -> ir.Value:
        """The element of the second factor that the kth one of a row is multiplied with."""
        return self.moved(1, factor, [(g, k, column) for g, _, column in places])

    def moved(self, which: int, factor: tuple, wanted: list[Place]) -> ir.Value:
        """Elements of a factor in the lanes that want them."""
        located, parts = factor
        key = (which, *wanted)
        if key not in self._moved:
            sources = [located[place] for place in wanted]
            vectors = [v for register in parts for v in register]
            self._moved[key] = permuted(self.b, vectors, sources)
        return self._moved[key]


class ProductKind(msgspec.Struct, frozen=True):
    """What emits a product, a name for it, and the registers that it takes besides the factors."""

    emit: Callable[..., Product] = Product
    name: str = ""
    more: tuple[Value, ...] = ()


def _located(place: Callable, parts: list[list[ir.Value]]) -> dict[Place, tuple[int, int]]:
    """For every element of a matrix the number of its vector, and its lane."""
    found, number = {}, 0
    for register, vectors in enumerate(parts):
        for element in range(len(vectors)):
            for lane in range(WARP_SIZE):
                found[place(lane, register, element)] = (number, lane)
            number += 1
    return found


def permuted(b: LaneBuilder, vectors: Values, sources: list[tuple[int, int]]) -> ir.Value:
    """A vector whose elements come from (vector, position): a shuffle for each vector used."""
    used = list(dict.fromkeys(vector for vector, _ in sources))
    result = vectors[used[0]]
    length = result.type.count
    places = [p if v == used[0] else 0 for v, p in sources]
    if len(used) == 1 and len(places) == length and places == list(range(length)):
        return result
    result = b.shuffle(result, result, places)
    for vector in used[1:]:
        other = vectors[vector]
        if other.type.count != len(sources):
            raise ValueError("vectors of several lengths")
        places = [len(sources) + p if v == vector else k for k, (v, p) in enumerate(sources)]
        result = b.shuffle(result, other, places)
    return result


def _intrinsic(b: LaneBuilder, name: str, *values: ir.Value) -> ir.Value:
    kind = values[0].type
    return b.intrinsic(f"{name}.{type_suffix(kind)}", kind, list(values))


def _is_integer(numbers: Numbers) -> bool:
    return numbers.result == "s32"
