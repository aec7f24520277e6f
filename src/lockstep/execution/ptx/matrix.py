"""Matrix instructions: wmma, mma, ldmatrix, stmatrix, movmatrix.

A wmma product is made of mma tiles; the fragments of wmma, whose layout PTX leaves open, are those
of its tiles, one after the other, and repeated where PTX wants more registers.
"""

import re
from dataclasses import dataclass

from lockstep.execution.lanes import matrix as lanes
from lockstep.execution.lanes import matrix_moves as moves
from lockstep.execution.lanes.matrix import MatrixLayout, Numbers
from lockstep.execution.lanes.matrix_elements import BITS, per_register
from lockstep.execution.lanes.matrix_moves import Fragment
from lockstep.execution.lanes.sparse import sparse, sparsity_of
from lockstep.execution.lanes.types import I32, I64, INTEGERS, Value
from lockstep.execution.ptx.floating import rounding_of
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, elements, space_of
from lockstep.isa.instruction import WARP_SIZE
from lockstep.isa.ptx.syntax import Immediate, Instruction, Operand

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_SHARED = "[.{shared,shared::cta}]"
_BYTES = "{s8,u8}.{s8,u8}"
_FOURS = "{s4,u4}.{s4,u4}"
_EIGHTS = "{e4m3,e5m2}.{e4m3,e5m2}"
_MMA = "mma.sync.aligned."


def shape_of(i: Instruction) -> tuple[int, int, int]:
    """m, n and k."""
    return next(tuple(map(int, m.groups())) for w in i.modifiers if (m := _SHAPE.match(w)))


def _kinds(i: Instruction) -> list[str]:
    return [w for w in i.modifiers if w in BITS]


def _registers(lift: Lift, operand: Operand, kind: str) -> list[Value]:
    word = "b64" if kind == "f64" else "b32"
    return [lift.read(e, word) for e in elements(operand)]


def _check_registers(lift: Lift, i: Instruction, stored: int) -> None:
    """Every fragment of mma needs its registers; ``stored``: columns of the first factor."""
    m, n, k = shape_of(i)
    kinds = _kinds(i)
    matrices = (m * n, m * stored, k * n, m * n)
    products = 4 if (m, k) == (8, 4) and kinds[1] == "f16" else 1
    for operand, kind, size in zip(i.operands, kinds, matrices):
        _check_count(lift, i, operand, products * size * BITS[kind] // WARP_SIZE, kind)


def _check_count(lift: Lift, i: Instruction, operand: Operand, bits: int, kind: str) -> None:
    """Refuse another number of registers than a lane's ``bits`` of a matrix fill."""
    count, found = max(bits // (64 if kind == "f64" else 32), 1), len(elements(operand))
    if found != count:
        raise lift.refuse(f"{i.name} has {count} registers of this matrix, not {found}")


def _write(lift: Lift, operand: Operand, values: list[Value]) -> None:
    """Write registers, again and again if there are more of them than values."""
    for k, target in enumerate(elements(operand)):
        lift.write(target, values[k % len(values)])


def _tile(rows: int, depth: int, kind: str) -> MatrixLayout:
    """Single bits are taken as words."""
    depth = depth // 32 if kind == "b1" else depth
    return lanes.tile(rows, depth, per_register(kind))


@opcode(
    _MMA + "m8n8k4.{row,col}.{row,col}.{f16.f16.f16.f16,f32.f16.f16.f16,f32.f16.f16.f32}",
    _MMA + "{m16n8k8,m16n8k16}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32}",
    _MMA + "{m16n8k8,m16n8k16}.row.col.f32.bf16.bf16.f32",
    _MMA + "{m16n8k4,m16n8k8}.row.col.f32.tf32.tf32.f32",
    _MMA + "{m16n8k16,m16n8k32}.row.col.f16." + _EIGHTS + ".f16",
    _MMA + "{m16n8k16,m16n8k32}.row.col.f32." + _EIGHTS + ".f32",
    _MMA + "{m8n8k4,m16n8k4,m16n8k8,m16n8k16}.row.col[.{rn,rz,rm,rp}].f64.f64.f64.f64",
    _MMA + "{m8n8k16,m16n8k16,m16n8k32}.row.col[.satfinite].s32." + _BYTES + ".s32",
    _MMA + "{m8n8k32,m16n8k32,m16n8k64}.row.col[.satfinite].s32." + _FOURS + ".s32",
    _MMA + "{m8n8k128,m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.{xor,and}.popc",
)
def multiply(lift: Lift, i: Instruction) -> None:
    d_kind, a_kind, b_kind, c_kind = _kinds(i)
    m, _, k = shape_of(i)
    _check_registers(lift, i, k)
    if (m, k) == (8, 4) and a_kind == "f16":
        layout = _quads(i, c_kind, d_kind)
    else:
        layout = _tile(m, k, a_kind)
    a, c, start = (
        _registers(lift, o, kind) for o, kind in zip(i.operands[1:], (a_kind, b_kind, c_kind))
    )
    numbers = _numbers(i, a_kind, b_kind, c_kind, d_kind)
    _write(lift, i.operands[0], lanes.multiply(lift.b, layout, numbers, [a, c], start))


_SPARSE = "mma.{sp,sp::ordered_metadata}.sync.aligned."
_ORDERED = "mma.sp::ordered_metadata.sync.aligned."


@opcode(
    _SPARSE + "{m16n8k16,m16n8k32}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}",
    _SPARSE + "{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32",
    _SPARSE + "m16n8k64.row.col.f32." + _EIGHTS + ".f32",
    _ORDERED + "m16n8k64.row.col.f16." + _EIGHTS + ".f16",
    _SPARSE + "{m16n8k32,m16n8k64}.row.col[.satfinite].s32." + _BYTES + ".s32",
    _SPARSE + "{m16n8k64,m16n8k128}.row.col[.satfinite].s32." + _FOURS + ".s32",
)
def multiply_sparse(lift: Lift, i: Instruction) -> None:
    """Indices need not be ordered, whatever the instruction says."""
    kinds = _kinds(i)
    m, _, k = shape_of(i)
    _check_registers(lift, i, k // 2)
    *matrices, metadata, selector = i.operands[1:]
    sparsity = None
    if isinstance(selector, Immediate):
        sparsity = sparsity_of(kinds[1], k, selector.value)
    if sparsity is None:
        raise lift.refuse(f"{i.name} selects no such lanes for its metadata")
    a, c, start = (_registers(lift, o, kind) for o, kind in zip(matrices, kinds[1:]))
    numbers = _numbers(i, kinds[1], kinds[2], kinds[3], kinds[0])
    product = sparse(sparsity, lift.read(metadata, "b32"))
    layout = _tile(m, k // 2, kinds[1])
    _write(lift, i.operands[0], lanes.multiply(lift.b, layout, numbers, [a, c], start, product))


def _quads(i: Instruction, start: str, result: str) -> MatrixLayout:
    first, second = (w == "row" for w in i.modifiers if w in ("row", "col"))
    return lanes.quads(first, second, result == "f32", start == "f32")


def _numbers(i: Instruction, first: str, second: str, start: str, result: str) -> Numbers:
    operation = next((w for w in i.modifiers if w in ("xor", "and")), "mul")
    saturates = "satfinite" in i.modifiers
    return Numbers(first, second, start, result, operation, saturates, rounding_of(i))


# wmma

_HALVES = "{m16n16k16,m8n32k16,m32n8k16}"
_SPACE = "[.{global,shared,shared::cta}]"


def _moved(head: str, results: bool) -> list[str]:
    """Forms of wmma.load and wmma.store, of factors or of accumulators and results."""
    if results:
        kinds = [
            (_HALVES, "{f16,f32,s32}"),
            ("m16n16k8", "f32"),
            ("m8n8k4", "f64"),
            ("{m8n8k32,m8n8k128}", "s32"),
        ]
    else:
        kinds = [(_HALVES, "{f16,bf16,s8,u8}"), ("m16n16k8", "tf32"), ("m8n8k4", "f64")]
    return [f"{head}.sync.aligned.{{row,col}}.{s}{_SPACE}.{k}" for s, k in kinds]


@dataclass(frozen=True)
class WmmaProduct:
    """How a wmma product of a shape is made of tiles.

    ``swapped``: the tiles multiply the transposed matrices, second one first, because tiles are
    at least as high as wide.
    """

    m: int
    n: int
    k: int

    @property
    def swapped(self) -> bool:
        """Whether rows of tiles are columns of the product."""
        return self.n > self.m

    @property
    def rows(self) -> int:
        """Of a tile."""
        return min(max(self.m, self.n), 16)

    @property
    def tiles(self) -> list[tuple[int, int]]:
        """Place of each tile, in tiles."""
        high, wide = sorted((self.m, self.n), reverse=True)
        return [(y, x) for y in range(high // self.rows) for x in range(wide // 8)]

    def fragment(self, which: str, kind: str, row_major: bool) -> Fragment:
        """The fragment of matrix a, b, or c and d; elements of less than a byte as words."""
        per, depth, bits = per_register(kind), self.k, BITS[kind]
        if bits < 8:
            per, depth, bits = 1, self.k * bits // 32, 32
        layout = lanes.tile(self.rows, depth, per)
        place = self._place(which, layout, per)
        size = {"a": (self.m, depth), "b": (depth, self.n)}.get(which, (self.m, self.n))
        if not row_major:
            size = size[::-1]
        name = f"{which}{self.m}x{self.n}x{self.k}{kind}{'row' if row_major else 'col'}"

        def ordered(lane: int, register: int, element: int) -> tuple[int, int]:
            at = place(lane, register, element)
            return at if row_major else at[::-1]

        return Fragment(name, *size, INTEGERS[bits], per, ordered)

    def _place(self, which: str, layout: MatrixLayout, per: int):
        """Row and column in matrix ``which`` of an element of a register."""
        if which in "cd":
            return lambda *at: self._result_place(layout, per, *at)
        high = (which == "a") != self.swapped  # the tiles' first factor

        def place(lane: int, register: int, element: int) -> tuple[int, int]:
            number, register = divmod(register, self.registers(high, layout.depth, per))
            if high:
                _, line, k = layout.first(lane, register, element)
                line += number * self.rows
            else:
                _, k, line = layout.second(lane, register, element)
                line += number * 8
            return (line, k) if which == "a" else (k, line)

        return place

    def _result_place(self, layout: MatrixLayout, per: int, lane: int, register: int, element: int):
        numbers = self.rows // 4
        number, index = divmod(register * per + element, numbers)
        y, x = self.tiles[number]
        _, row, column = layout.result(lane, index)
        at = (y * self.rows + row, x * 8 + column)
        return at[::-1] if self.swapped else at

    def registers(self, high: bool, depth: int, per: int) -> int:
        """Registers of a lane for one tile of the first or second factor."""
        return (self.rows if high else 8) * depth // (WARP_SIZE * per)


def _fragment(i: Instruction) -> Fragment:
    which, kind = i.modifiers[1], _kinds(i)[-1]
    return WmmaProduct(*shape_of(i)).fragment(which, kind, "row" in i.modifiers)


def _check_fragment(lift: Lift, i: Instruction, which: str, kind: str, operand: Operand) -> None:
    """Refuse another number of registers than PTX has for a fragment."""
    m, n, k = shape_of(i)
    size = {"a": m * k, "b": k * n}.get(which, m * n) * BITS[kind] // WARP_SIZE
    _check_count(lift, i, operand, 8 * 32 if which in "ab" and kind == "f16" else size, kind)


def fragment_width(i: Instruction) -> int:
    """Bytes that each lane of a wmma.load or wmma.store accesses."""
    return _fragment(i).chunks * moves.CHUNK // WARP_SIZE


def _stride(lift: Lift, i: Instruction, f: Fragment, operands: tuple) -> Value:
    """Bytes from line to line (i64)."""
    b, bits = lift.b, BITS[_kinds(i)[-1]]
    if not operands:
        return b.constant(I64, f.length * f.kind.bytes)
    count = b.ir.zext(lift.read(operands[0], "u32").ir, b.vector(I64))
    size = b.ir.mul(count, b.constant(I64, bits).ir)
    return Value(b.ir.lshr(size, b.constant(I64, 3).ir), I64)


def _matrix_access(lift: Lift, i: Instruction, operand: Operand, f: Fragment, stride: Value):
    access = access_of(lift, operand, space_of(i), f.piece, record=False)
    if lift.wants_addresses:
        width = fragment_width(i)
        lift.record_addresses(moves.piece_addresses(lift.b, access.address, stride, f, width)[0])
    return access


@opcode(
    *_moved("wmma.load.{a,b}", results=False),
    *_moved("wmma.load.c", results=True),
    *(
        f"wmma.load.{which}.sync.aligned.{order}.{kind}"
        for which, order in (("a", "row"), ("b", "col"))
        for kind in (f"m8n8k32{_SPACE}.{{s4,u4}}", f"m8n8k128{_SPACE}.b1")
    ),
)
def load(lift: Lift, i: Instruction) -> None:
    f = _fragment(i)
    _check_fragment(lift, i, i.modifiers[1], _kinds(i)[-1], i.operands[0])
    stride = _stride(lift, i, f, i.operands[2:])
    access = _matrix_access(lift, i, i.operands[1], f, stride)
    _write(lift, i.operands[0], moves.load_fragment(lift.b, access, stride, f))


@opcode(*_moved("wmma.store.d", results=True), destinations=0)
def store(lift: Lift, i: Instruction) -> None:
    f = _fragment(i)
    _check_fragment(lift, i, "d", _kinds(i)[-1], i.operands[1])
    stride = _stride(lift, i, f, i.operands[2:])
    access = _matrix_access(lift, i, i.operands[0], f, stride)
    values = _registers(lift, i.operands[1], _kinds(i)[-1])
    moves.store_fragment(lift.b, access, stride, f, values)


_LAYOUTS = "wmma.mma.sync.aligned.{row,col}.{row,col}."


@opcode(
    _LAYOUTS + _HALVES + ".{f16,f32}.{f16,f32}",
    _LAYOUTS + _HALVES + ".f32.bf16.bf16.f32",
    _LAYOUTS + "m16n16k8.f32.tf32.tf32.f32",
    _LAYOUTS + "m8n8k4[.rn].f64.f64.f64.f64",
    _LAYOUTS + _HALVES + ".s32.{s8.s8,u8.u8}.s32[.satfinite]",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.{s4.s4,u4.u4}.s32[.satfinite]",
    "wmma.mma.{xor,and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
)
def multiply_warp(lift: Lift, i: Instruction) -> None:
    kinds = _kinds(i)
    if len(kinds) == 2:
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    result, a_kind, b_kind, start = kinds
    for which, kind, operand in zip("dabc", kinds, i.operands):
        _check_fragment(lift, i, which, kind, operand)
    product = WmmaProduct(*shape_of(i))
    a, c, accumulator = (_registers(lift, o, k) for o, k in zip(i.operands[1:], kinds[1:]))
    factors = ((c, b_kind), (a, a_kind)) if product.swapped else ((a, a_kind), (c, b_kind))
    numbers = _numbers(i, factors[0][1], factors[1][1], start, result)
    layout = _tile(product.rows, product.k, a_kind)
    per = per_register(a_kind)
    counts = [product.registers(high, layout.depth, per) for high in (True, False)]
    size = product.rows // 4 // per_register(start)
    results = []
    for k, place in enumerate(product.tiles):
        parts = [f[t * n : (t + 1) * n] for (f, _), t, n in zip(factors, place, counts)]
        sums = accumulator[k * size : (k + 1) * size]
        results += lanes.multiply(lift.b, layout, numbers, parts, sums)
    _write(lift, i.operands[0], results)


# Matrices of 8 by 8


@opcode("ldmatrix.sync.aligned.m8n8.{x1,x2,x4}[.trans]" + _SHARED + ".b16")
def load_matrices(lift: Lift, i: Instruction) -> None:
    access = access_of(lift, i.operands[1], space_of(i), moves.PIECE)
    count = len(elements(i.operands[0]))
    values = moves.load_matrices(lift.b, access, count, "trans" in i.modifiers)
    _write(lift, i.operands[0], values)


@opcode("stmatrix.sync.aligned.m8n8.{x1,x2,x4}[.trans]" + _SHARED + ".b16", destinations=0)
def store_matrices(lift: Lift, i: Instruction) -> None:
    access = access_of(lift, i.operands[0], space_of(i), moves.PIECE)
    values = _registers(lift, i.operands[1], "b32")
    moves.store_matrices(lift.b, access, values, "trans" in i.modifiers)


@opcode("movmatrix.sync.aligned.m8n8.trans.b16")
def transpose(lift: Lift, i: Instruction) -> None:
    value = lift.read(i.operands[1], "b32")
    lift.write(i.operands[0], moves.transpose(lift.b, Value(value.ir, I32)))
