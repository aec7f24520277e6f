"""wmma in all shapes and types: one warp loads fragments, multiplies, stores.

The operands are little whole numbers that the kernel computes itself, so that every result is
exact. Elements below a byte are the bits of bytes that it computes.
"""

import struct
from dataclasses import dataclass

from ptx_twin.numbers import encode, real, signed
from ptx_twin.programs import HEADER, Program

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s32": 32}
BITS |= {"s4": 4, "u4": 4, "b1": 1}
STORED = {"f16": "b16", "bf16": "b16", "tf32": "f32", "f32": "f32", "f64": "f64", "s32": "s32"}
CONVERTED = {
    "f16": "cvt.rn.f16.s32 %h, %v;",
    "bf16": "cvt.rn.f32.s32 %f, %v; cvt.rn.bf16.f32 %h, %f;",
    "tf32": "cvt.rn.f32.s32 %f, %v;",
    "f32": "cvt.rn.f32.s32 %f, %v;",
    "f64": "cvt.rn.f64.s32 %g, %v;",
    "s32": "",
}
SOURCE = {"b16": "%h", "f32": "%f", "f64": "%g", "s32": "%v"}


@dataclass(frozen=True)
class Shape:
    """A product: registers of the fragments A, B, C of a thread, and their types."""

    m: int
    n: int
    k: int
    kind: str
    result: str
    registers: tuple[int, int, int]
    row: str = "row"
    column: str = "col"
    operation: str = ""

    @property
    def name(self):
        return f"m{self.m}n{self.n}k{self.k}"

    @property
    def label(self):
        return (
            f"wmma {self.name} {self.row}.{self.column} {self.kind} {self.result}{self.operation}"
        )


def value_of(index, factor):
    """What the kernel puts at an index of an array of numbers."""
    return index * factor % 5 - 2


def byte_of(index, factor):
    """What it puts at an index of an array of bytes."""
    return (index * factor + 11) & 255


def fill(name, kind, count, factor):
    """A loop in which 32 threads fill an array in shared memory."""
    bits = BITS[kind]
    size = max(bits // 8, 1)
    if bits <= 8:
        count = count * bits // 8
        store = f"mad.lo.s32 %v, %j, {factor}, 11; st.shared.u8 [%at], %v;"
    else:
        store = (
            f"mul.lo.s32 %v, %j, {factor}; rem.s32 %v, %v, 5; sub.s32 %v, %v, 2;"
            f" {CONVERTED[kind]} st.shared.{STORED[kind]} [%at], {SOURCE[STORED[kind]]};"
        )
    return f"""
    mov.u32 %j, %i;
FILL_{name}:
    setp.ge.u32 %p, %j, {count};
    @%p bra FILLED_{name};
    mov.u64 %at, {name};
    mad.wide.u32 %at, %j, {size}, %at;
    {store}
    add.u32 %j, %j, 32;
    bra FILL_{name};
FILLED_{name}:
"""


def fragment(letter, count):
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def register_kind(kind):
    return kind if kind in ("f32", "f64", "s32") else "b32"


def load(letter, layout, shape, kind, count, stride):
    return (
        f"wmma.load.{letter}.sync.aligned.{layout}.{shape}.shared.{kind} {fragment(letter, count)},"
        f" [{letter}_area], {stride};"
    )


def text_of(s):
    """The module of a product."""
    a, b, c = s.registers
    types = s.result if s.kind == "f16" else f"{s.result}.{s.kind}.{s.kind}"
    multiply = f"wmma.mma{s.operation}.sync.aligned.{s.row}.{s.column}.{s.name}.{types}.{s.result}"
    d, out_bytes = fragment("d", c), BITS[s.result] // 8
    strides = (s.k if s.row == "row" else s.m, s.k if s.column == "col" else s.n)
    return f"""{HEADER}
.visible .entry k(.param .u64 k_out)
{{
    .reg .b32 %i, %j, %v;
    .reg .b16 %h;
    .reg .f32 %f;
    .reg .f64 %g;
    .reg .b64 %at, %out;
    .reg .pred %p;
    .reg .{register_kind(s.kind)} %a<{a}>, %b<{b}>;
    .reg .{register_kind(s.result)} %c<{c}>, %d<{c}>;
    .shared .align 32 .b8 a_area[{s.m * s.k * BITS[s.kind] // 8}];
    .shared .align 32 .b8 b_area[{s.k * s.n * BITS[s.kind] // 8}];
    .shared .align 32 .b8 c_area[{s.m * s.n * out_bytes}];
    ld.param.u64 %out, [k_out];
    mov.u32 %i, %tid.x;
    {fill("a_area", s.kind, s.m * s.k, 7)}
    {fill("b_area", s.kind, s.k * s.n, 3)}
    {fill("c_area", s.result, s.m * s.n, 11)}
    bar.sync 0;
    {load("a", s.row, s.name, s.kind, a, strides[0])}
    {load("b", s.column, s.name, s.kind, b, strides[1])}
    {load("c", "row", s.name, s.result, c, s.n)}
    {multiply} {d}, {fragment("a", a)}, {fragment("b", b)}, {fragment("c", c)};
    wmma.store.d.sync.aligned.row.{s.name}.global.{s.result} [%out], {d}, {s.n};
    ret;
}}
"""


def element(kind, index, factor):
    """The number at an index of an operand."""
    bits = BITS[kind]
    if bits > 8:
        return value_of(index, factor)
    place = index * bits
    value = byte_of(place // 8, factor) >> place % 8 & ((1 << bits) - 1)
    return signed(value, bits) if kind[0] == "s" else value


def expected_words(s):
    content = b"".join(pack(s.result, cell(s, i, j)) for i in range(s.m) for j in range(s.n))
    return list(struct.unpack(f"<{len(content) // 4}I", content))


def cell(s, i, j):
    total = value_of(i * s.n + j, 11)
    for x in range(s.k):
        left = element(s.kind, i * s.k + x if s.row == "row" else x * s.m + i, 7)
        right = element(s.kind, j * s.k + x if s.column == "col" else x * s.n + j, 3)
        total += left ^ right if "xor" in s.operation else left * right
    return total


def pack(kind, value):
    if kind == "s32":
        return struct.pack("<i", value)
    return encode(real(value), kind).to_bytes(BITS[kind] // 8, "little")


def shapes():
    layouts = [(r, c) for r in ("row", "col") for c in ("row", "col")]
    for m, n in ((16, 16), (8, 32), (32, 8)):
        for result, count in (("f16", 4), ("f32", 8)):
            for row, column in layouts:
                yield Shape(m, n, 16, "f16", result, (8, 8, count), row, column)
        counts = (m // 4, n // 4, 8)
        yield Shape(m, n, 16, "bf16", "f32", counts)
        for kind in ("s8", "u8"):
            yield Shape(m, n, 16, kind, "s32", (m // 8, n // 8, 8))
            yield Shape(m, n, 16, kind, "s32", (m // 8, n // 8, 8), "col", "row")
    yield Shape(16, 16, 8, "tf32", "f32", (4, 4, 8))
    yield Shape(16, 16, 8, "tf32", "f32", (4, 4, 8), "col", "row")
    yield Shape(8, 8, 4, "f64", "f64", (1, 1, 2))
    for kind in ("s4", "u4"):
        yield Shape(8, 8, 32, kind, "s32", (1, 1, 2))
    for operation in (".xor.popc", ".and.popc"):
        yield Shape(8, 8, 128, "b1", "s32", (1, 1, 2), operation=operation)


PROGRAMS = tuple(
    Program(s.label, text_of(s), (1,), (32,), lambda s=s: expected_words(s)) for s in shapes()
)
