"""Where a line lies: in which slice of a cache, and in which of its sets."""

import msgspec
import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline, inline
from lockstep.caches.accesses import LINE_BYTES, SECTOR_BYTES
from lockstep.errors import WorkloadError
from lockstep.model.cache import slice_hash
from lockstep.model.cache.slice_hash import Hash, index_of
from lockstep.model.divisor import DIVISOR, divisor, quotient, remainder

LINES = (SECTOR_BYTES, 2 * SECTOR_BYTES, LINE_BYTES)  # bytes that a line may have
MOST_ROWS = 1 << 22
LINEAR = slice_hash.LINEAR

_ROWS = np.dtype(
    [
        ("simple", "i8"),  # the low bits of a line's number are its set
        ("mask", "i8"),
        ("slices", DIVISOR),
        ("unit", DIVISOR),  # lines that follow each other in a slice
        ("sets", "i8"),  # of a slice
        ("line_bytes", "i8"),
    ]
)


class RowFinder(Context):
    """What finds the row of a line among those of all slices."""

    spec: Records  # _ROWS, one
    slices: Hash
    sets: Hash


class Sets(msgspec.Struct, frozen=True):
    """The sets of a cache: ``count`` in all, in ``slices`` that addresses are spread over.

    ``hash`` is how the lines of a slice are spread over its sets.
    """

    count: int
    line_bytes: int
    hash: str = "linear"
    slices: int = 1
    slice_hash: str = "linear"
    interleave_bytes: int = 256

    @property
    def nest(self) -> bool:
        """Whether the low bits of a line's number are its set: then so it is with half of them."""
        linear = self.slices == 1 and self.hash == "linear"
        return linear and self.count & (self.count - 1) == 0

    def check(self) -> None:
        """Raise :class:`WorkloadError` for what no cache here can be."""
        if self.line_bytes not in LINES:
            expected = f"{', '.join(map(str, LINES[:-1]))} or {LINES[-1]}"
            raise WorkloadError(f"lines of {self.line_bytes} bytes; expected {expected}")
        if self.count < 1 or self.count % self.slices:
            raise WorkloadError(f"{self.count} sets in {self.slices} slices; expected a multiple")
        if self.count > MOST_ROWS:
            raise WorkloadError(f"{self.count} sets; expected at most {MOST_ROWS}")

    def rows(self) -> RowFinder:
        """The same, for compiled code."""
        self.check()
        sets = self.count // self.slices
        unit = -(-self.interleave_bytes // self.line_bytes)
        spec = as_records(np.zeros(1, _ROWS))
        spec[0] = (self.nest, sets - 1, divisor(self.slices), divisor(unit), sets, self.line_bytes)
        return RowFinder(
            spec,
            slice_hash.build(self.slice_hash, self.slices, unit * self.line_bytes),
            slice_hash.build(self.hash, sets),
        )


@force_inline
def row_of(rows, line):
    """The row of a line, whose number is of lines of this cache's size."""
    spec = rows.spec[0]
    if spec.simple:
        return line & spec.mask
    if spec.slices.value == 1:
        return index_of(rows.sets, line)
    slice_ = index_of(rows.slices, line * spec.line_bytes)
    return slice_ * spec.sets + index_of(rows.sets, number_of(rows, line))


@force_inline
def number_of(rows, line):
    """The number of a line among those of its slice, without gaps."""
    spec = rows.spec[0]
    if spec.slices.value == 1:
        return line
    block = quotient(spec.slices, quotient(spec.unit, line))
    return block * spec.unit.value + remainder(spec.unit, line)


@inline
def line_of(rows, slice_, number):
    """The line with a number in a slice: the inverse of ``number_of``."""
    spec = rows.spec[0]
    if spec.slices.value == 1:
        return number
    first = quotient(spec.unit, number) * spec.slices.value
    # The hashes flip bits of the quotient by odd, the same ones in a group of blocks.
    odd = rows.slices.spec[0].odd
    flipped = index_of(rows.slices, first * spec.unit.value * spec.line_bytes) // odd
    block = first + odd * (slice_ // odd ^ flipped) + slice_ % odd
    return block * spec.unit.value + remainder(spec.unit, number)
