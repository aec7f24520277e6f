"""Matrix products whose first factor is sparse: part of each run of its columns is stored.

A register of metadata says which part. The layouts of the factors are those of the dense product
that has as many stored elements; the second factor has more rows, of which the metadata selects.
"""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.matrix import (
    MatrixLayout,
    Numbers,
    Place,
    Product,
    ProductKind,
    permuted,
)
from lockstep.execution.lanes.matrix_elements import BITS
from lockstep.execution.lanes.types import I32, Value

_FIELD = 4  # bits of metadata for each run of columns
_QUAD = 4  # lanes that hold the metadata of two rows


class Sparsity(msgspec.Struct, frozen=True):
    """Which elements a product's metadata speaks of (PTX ISA, "Sparse matrix storage").

    ``run`` columns have ``stored`` elements, in ``parts`` whose place has a field of its own.
    ``long``: a lane has the metadata of eight runs of a row; else of four runs of two rows.
    ``first``: the lane of each four that has the first runs.
    """

    run: int
    stored: int
    parts: int
    long: bool
    first: int

    @property
    def name(self) -> str:
        """Distinguishes what different code is needed for."""
        return f"sparse{self.run}_{self.long:d}_{self.first}"

    def place(self, row: int, run: int) -> tuple[int, int]:
        """Lane, and lowest bit, of the metadata of a run of columns."""
        if self.long:
            lane = self.first + row // 8 + 2 * (run // 8)
            return _QUAD * (row % 8) + lane, _FIELD * (run % 8)
        return _QUAD * (row % 8) + self.first + run // 4, 16 * (row // 8) + _FIELD * (run % 4)


def sparsity_of(kind: str, columns: int, selector: int) -> Sparsity | None:
    """That of a factor with elements of a type; None if no lanes are selected so.

    Of tf32 one of two is stored, of 4-bit integers two pairs of four, else two of four.
    """
    size = BITS[kind]
    run, stored, parts = {32: (2, 1, 1), 4: (8, 4, 2)}.get(size, (4, 2, 2))
    long = size < 16
    lanes = 2 * columns // run // 8 if long else columns // run // 4
    if not 0 <= selector * lanes < _QUAD:
        return None
    return Sparsity(run, stored, parts, long, selector * lanes)


def sparse(sparsity: Sparsity, metadata: Value) -> ProductKind:
    """A product whose first factor has this metadata."""

    def emit(b: LaneBuilder, layout: MatrixLayout, numbers: Numbers, register: ir.Value) -> Product:
        return SparseProduct(b, layout, numbers, sparsity, register)

    return ProductKind(emit, f"{sparsity.name}_", (metadata,))


class SparseProduct(Product):
    """Emits one product; the metadata is one more register."""

    def __init__(
        self, b: LaneBuilder, layout: MatrixLayout, numbers: Numbers, sparsity: Sparsity, metadata
    ):
        super().__init__(b, layout, numbers)
        self._sparsity, self._metadata = sparsity, metadata
        self._fields: dict[tuple, ir.Value] = {}

    def second(self, factor: tuple, places: list[Place], k: int) -> ir.Value:
        """The element of the second factor that the kth stored one is multiplied with."""
        s = self._sparsity
        run, number = divmod(k, s.stored)
        each = s.stored // s.parts
        part, inner = divmod(number, each)
        field = self._field([row for _, row, _ in places], run, part)
        choices = []
        for choice in range(s.run // each):
            row = run * s.run + choice * each + inner
            choices.append(self.moved(1, factor, [(g, row, column) for g, _, column in places]))
        result = choices[0]
        for number, value in enumerate(choices[1:], 1):
            same = self.b.ir.icmp_unsigned("==", field, self.b.constant(I32, number).ir)
            result = self.b.ir.select(same, value, result)
        return result

    def _field(self, rows: list[int], run: int, part: int) -> ir.Value:
        """Which choice a part of a run is, in each lane."""
        key = (*rows, run, part)
        if key not in self._fields:
            s = self._sparsity
            found = [s.place(row, run) for row in rows]
            word = permuted(self.b, [self._metadata], [(0, lane) for lane, _ in found])
            # The two bits for tf32 say which half of a 64-bit run: 0 and 2 are the elements.
            shift = 1 if s.parts == 1 else 2 * part
            bits = self.b.each(I32, [low + shift for _, low in found])
            mask = self.b.constant(I32, 1 if s.parts == 1 else 3)
            self._fields[key] = self.b.ir.and_(self.b.ir.lshr(word, bits.ir), mask.ir)
        return self._fields[key]
