"""Products of a warpgroup, and the matrices in shared memory that it multiplies.

Each of the four warps multiplies its own 16 lines of the first factor, by tiles of mma; all read
the whole second factor. A descriptor of 64 bits describes a factor in shared memory.

Fields of a descriptor (PTX ISA, "Matrix Descriptor Format"): start address, leading and stride
byte offset in units of 16 bytes (bits 0-13, 16-29, 32-45), base offset (49-51), and swizzle mode
(62-63: none, 128, 64, 32 bytes). A matrix is made of cores of 8 lines by 16 bytes. Without
swizzle a core is contiguous; else cores lie next to each other in rows as wide as the mode says,
and bits 4 and up of an address are exchanged by those from bit 7 on.
"""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes import matrix, memory
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.matrix import Numbers, ProductKind
from lockstep.execution.lanes.matrix_elements import BITS, per_register
from lockstep.execution.lanes.types import I16, I32, Value
from lockstep.execution.state import Window
from lockstep.isa.instruction import WARP_SIZE

UNIT = 16  # bytes
HIGH_LINES = 16  # of the first factor that each warp multiplies
WARPS = 4  # in a warpgroup
COLUMNS = 8  # of a tile


class SharedMatrix(msgspec.Struct, frozen=True):
    """A factor in shared memory: ``descriptor`` (i64), and the memory site that reads it.

    ``transposed``: elements of 16 bits that follow each other are of different lines.
    """

    descriptor: Value
    site: ir.Value
    transposed: bool

    def registers(self, b: LaneBuilder, first: Value, blocks: int, count: int) -> list[Value]:
        """A fragment of ``blocks`` times 8 lines from line ``first`` (i32) on: its registers.

        Lane k has line k / 4 of each block, and the words k % 4, k % 4 + 4 ... of that line.
        """
        own = b.each(I32, [lane // 4 for lane in range(WARP_SIZE)])
        starts = range(0, 4 * count // blocks, 4)
        words = [b.each(I32, [lane % 4 + start for lane in range(WARP_SIZE)]) for start in starts]
        results = []
        for register in range(count):
            block = b.constant(I32, register % blocks * 8)
            line = b.ir.add(b.ir.add(first.ir, own.ir), block.ir)
            results.append(self._word(b, Value(line, I32), words[register // blocks]))
        return results

    def _word(self, b: LaneBuilder, line: Value, word: Value) -> Value:
        """The 32 bits at a word of a line."""
        name = f"shared_matrix_{'t' * self.transposed}"
        arguments = [self.descriptor.ir, self.site, line.ir, word.ir]
        emit = _two_elements if self.transposed else _one_word
        return Value(outlined(b, name, [b.vector(I32)], arguments, emit)[0], I32)


def multiply(
    b: LaneBuilder,
    numbers: Numbers,
    first: SharedMatrix | list[Value],
    second: SharedMatrix,
    start: list[Value],
    negative: bool = False,
    product: ProductKind | None = None,
) -> list[Value]:
    """The registers of ``start`` with the products added.

    ``first`` may be the warp's own lines in registers. ``negative``: the products are subtracted.
    ``product``: that of a sparse first factor.
    """
    each = per_register(numbers.first)
    layout = matrix.tile(HIGH_LINES, 8 * each, each)
    if isinstance(first, SharedMatrix):
        first = first.registers(b, _warp_lines(b), 2, 4)
    if negative:
        first = [_negated(b, v, BITS[numbers.first]) for v in first]
    size, deep = 4 // per_register(numbers.accumulator), 2 if product is None else 4
    results = []
    for tile in range(len(start) // size):
        column = b.constant(I32, COLUMNS * tile)
        factors = [first, second.registers(b, column, 1, deep)]
        sums = start[tile * size : (tile + 1) * size]
        results += matrix.multiply(b, layout, numbers, factors, sums, product)
    return results


def registers_of(numbers: Numbers, columns: int) -> int:
    """Registers of a thread that hold its share of 64 lines with so many columns."""
    return columns // COLUMNS * (4 // per_register(numbers.accumulator))


def _negated(b: LaneBuilder, value: Value, bits: int) -> Value:
    """All elements of a register with the other sign."""
    signs = sum(1 << at for at in range(bits - 1, 32, bits))
    return Value(b.ir.xor(value.ir, b.constant(I32, signs).ir), I32)


def _warp_lines(b: LaneBuilder) -> Value:
    """The first line (i32) of the first factor that this warp multiplies."""
    index = b.ir.and_(b.field("warp", "index"), ir.Constant(ir.IntType(64), WARPS - 1))
    first = b.ir.mul(b.ir.trunc(index, ir.IntType(32)), ir.Constant(ir.IntType(32), HIGH_LINES))
    return b.splat(first, I32)


class _Descriptor:
    """The fields of a descriptor, each a lane vector (i32)."""

    def __init__(self, b: LaneBuilder, bits: ir.Value):
        self.b = b
        low, high = (self._half(bits, shift) for shift in (0, 32))
        self.start, self.leading = self._offset(low, 0), self._offset(low, 16)
        self.stride = self._offset(high, 0)
        self.base = self._field(high, 17, 7)
        mode = self._field(high, 30, 3)
        self.swizzle = b.ir.and_(b.ir.neg(mode), self._number(3))  # log2 of cores in a row
        self.plain = b.ir.icmp_unsigned("==", mode, self._number(0))

    def _half(self, bits: ir.Value, shift: int) -> ir.Value:
        count = ir.Constant(bits.type, [shift] * WARP_SIZE)
        return self.b.ir.trunc(self.b.ir.lshr(bits, count), self.b.vector(I32))

    def _number(self, number: int) -> ir.Value:
        return self.b.constant(I32, number).ir

    def _field(self, word: ir.Value, shift: int, mask: int) -> ir.Value:
        return self.b.ir.and_(self.b.ir.lshr(word, self._number(shift)), self._number(mask))

    def _offset(self, word: ir.Value, shift: int) -> ir.Value:
        return self.b.ir.mul(self._field(word, shift, 0x3FFF), self._number(UNIT))

    def in_line(self, line: ir.Value, byte: ir.Value) -> Value:
        """Address of a byte of a line, lines being contiguous in cores."""
        emit = self.b.ir
        core = emit.lshr(byte, self._number(4))
        beside = emit.sub(emit.shl(self._number(1), self.swizzle), self._number(1))
        offset = emit.mul(emit.lshr(line, self._number(3)), self.stride)
        offset = emit.add(offset, self._row(emit.and_(line, self._number(7))))
        offset = emit.add(offset, emit.shl(emit.and_(core, beside), self._number(4)))
        offset = emit.add(offset, emit.mul(emit.lshr(core, self.swizzle), self.leading))
        return self._swizzled(emit.add(offset, emit.and_(byte, self._number(UNIT - 1))))

    def across(self, line: ir.Value, k: ir.Value) -> Value:
        """Address of the kth 16-bit element of a line, lines lying side by side in cores."""
        emit = self.b.ir
        wide = emit.select(self.plain, self.stride, self.leading)
        deep = emit.select(self.plain, self.leading, self.stride)
        shift = emit.add(self.swizzle, self._number(3))
        group = emit.lshr(line, shift)
        within = emit.sub(line, emit.shl(group, shift))
        offset = emit.add(emit.mul(group, wide), emit.shl(within, self._number(1)))
        offset = emit.add(offset, emit.mul(emit.lshr(k, self._number(3)), deep))
        return self._swizzled(emit.add(offset, self._row(emit.and_(k, self._number(7)))))

    def _row(self, row: ir.Value) -> ir.Value:
        """Offset of a row of a core, or of cores that lie next to each other."""
        return self.b.ir.shl(row, self.b.ir.add(self.swizzle, self._number(4)))

    def _swizzled(self, offset: ir.Value) -> Value:
        emit = self.b.ir
        address = emit.add(self.start, offset)
        row = emit.sub(emit.lshr(address, self._number(7)), self.base)
        mask = emit.sub(emit.shl(self._number(1), self.swizzle), self._number(1))
        change = emit.shl(emit.and_(row, mask), self._number(4))
        return Value(emit.xor(address, change), I32)


def _one_word(b: LaneBuilder, bits, site, line, word) -> Values:
    byte = b.ir.shl(word, b.constant(I32, 2).ir)
    address = _Descriptor(b, bits).in_line(line, byte)
    return [memory.load(b, Access(Window.SHARED, address, 4, site), I32)[0].ir]


def _two_elements(b: LaneBuilder, bits, site, line, word) -> Values:
    descriptor, halves = _Descriptor(b, bits), []
    first = b.ir.shl(word, b.constant(I32, 1).ir)
    for part in range(2):
        address = descriptor.across(line, b.ir.add(first, b.constant(I32, part).ir))
        half = memory.load(b, Access(Window.SHARED, address, 2, site), I16)[0]
        halves.append(b.ir.zext(half.ir, b.vector(I32)))
    return [b.ir.or_(halves[0], b.ir.shl(halves[1], b.constant(I32, 16).ir))]
