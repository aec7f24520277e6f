"""Matrix instructions: fragments gathered from a warp into plain matrices, and back.

A register of a fragment holds ``32 / bits`` elements (one, if they are of 32 or 64 bits). Apart
from m8n8k4 on f16, every shape follows one rule: with g = lane / 4, t = lane % 4, register r of A
holds row g + 8 (r % 2), columns t E + 4 E (r / 2) and on (in shapes of eight rows: row g, columns
t E + 4 E r); B is alike with k down its rows; and C holds two neighbours of a row.
"""

import re

from ptx_twin import arithmetic
from ptx_twin.access import resolve, space_of
from ptx_twin.integer import limits
from ptx_twin.numbers import clamp, decode, encode, mask, signed
from ptx_twin.operands import address, elements, read, write
from ptx_twin.table import TYPE, is_float

BITS = {"s4": 4, "u4": 4, "b1": 1, "tf32": 32, "e4m3": 8, "e5m2": 8, "bf16": 16}
SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def bits_of(kind):
    return BITS.get(kind) or int(kind.lstrip("sufb"))


def shape_of(words):
    return next(tuple(map(int, m.groups())) for m in map(SHAPE.match, words) if m)


def kinds_of(words):
    return [word for word in words if TYPE.match(word) or word in BITS]


def unpack(kind, patterns, width):
    """Elements of a thread's registers, each of ``width`` bits, as (register, position): bits."""
    bits = bits_of(kind)
    count = max(width // bits, 1)
    return {
        (r, e): pattern >> (e * bits) & mask(bits)
        for r, pattern in enumerate(patterns)
        for e in range(count)
    }


def place_a(lane, register, element, shape, kind):
    per = max(32 // bits_of(kind), 1)
    blocks = shape[0] // 8
    row = lane // 4 + 8 * (register % blocks)
    return row, (lane % 4) * per + element + 4 * per * (register // blocks)


def place_b(lane, register, element, shape, kind):
    per = max(32 // bits_of(kind), 1)
    return (lane % 4) * per + element + 4 * per * register, lane // 4


def place_c(lane, register, element, shape, kind):
    index = 2 * register + element if kind == "f16" else register
    return lane // 4 + 8 * (index // 2), lane % 4 * 2 + index % 2


def quad_a(words, lane, index):
    """Row and column of m8n8k4's A; for B, column and row."""
    upper = 4 * (lane >= 16)
    return (lane % 4 + upper, index) if words == "row" else (index + upper, lane % 4)


def quad_c(lane, index, kind):
    if kind == "f16":
        return lane % 4 + 4 * (lane >= 16), index
    return (lane & 1) + (index & 2) + 4 * (lane >= 16), (index & 4) + (lane & 2) + (index & 1)


def number(kind, pattern):
    """The value of an element: a Real, or an int."""
    if is_float(kind):
        return decode(pattern, kind)
    return signed(pattern, bits_of(kind)) if kind[0] == "s" else pattern


def dot(words, kind, row, column, start):
    """Exact, whatever the order; f64 is rounded at each step."""
    if not is_float(kind):
        return sum(x * y for x, y in zip(row, column)) + start
    total, mode = start, next((word for word in words if word in ("rz", "rm", "rp")), "rn")
    for x, y in zip(row, column):
        total = arithmetic.fused(x, y, total, mode)
        if kind == "f64":
            total = decode(encode(total, "f64", mode), "f64")
    return total


def dot_bits(words, kind, row, column, start):
    """One-bit operands: population count of the and, or xor."""
    if "and" in words:
        return sum(x & y for x, y in zip(row, column)) + start
    return sum(x ^ y for x, y in zip(row, column)) + start


def encode_result(words, kind, value):
    """Integers wrap or are clamped, floats are rounded once."""
    if is_float(kind):
        return encode(value, kind)
    return (clamp(value, *limits("s32")) if "satfinite" in words else value) & mask(32)


def product(words, shape, kinds, a, b, c):
    """Matrices as {(row, column): pattern} in, one out."""
    (m, n, k), (d_kind, a_kind, b_kind, c_kind) = shape, kinds
    result = {}
    for i in range(m):
        row = [number(a_kind, a[i, x]) for x in range(k)]
        for j in range(n):
            column = [number(b_kind, b[x, j]) for x in range(k)]
            start = number(c_kind, c[i, j])
            value = (dot_bits if a_kind == "b1" else dot)(words, a_kind, row, column, start)
            result[i, j] = encode_result(words, d_kind, value)
    return result


def registers(thread, operand, kind):
    width = "b64" if kind == "f64" else "b32"
    return [read(thread, e, width) for e in elements(thread, operand)]


def collect(threads, operand, kind, place):
    """A matrix from the fragments of all threads."""
    matrix = {}
    width = 64 if kind == "f64" else 32
    for thread in threads:
        for (r, e), pattern in unpack(kind, registers(thread, operand, kind), width).items():
            matrix[place(thread.lane, r, e)] = pattern
    return matrix


def spread(threads, operand, kind, matrix, place):
    """A matrix into the fragments of all threads."""
    bits = bits_of(kind)
    count = max(32 // bits, 1)
    for thread in threads:
        for r, target in enumerate(elements(thread, operand)):
            parts = (matrix[place(thread.lane, r, e)] << (e * bits) for e in range(count))
            write(thread, target, sum(parts), "b64" if kind == "f64" else "b32")


def multiply(threads, instruction):
    """mma.sync."""
    words = instruction.modifiers
    shape, kinds = shape_of(words), kinds_of(words)
    if shape == (8, 8, 4) and kinds[1] == "f16":
        quads(threads, instruction, kinds)
        return
    d, a, b, c = instruction.operands
    places = [
        lambda lane, r, e, f=f, kind=kind: f(lane, r, e, shape, kind)
        for f, kind in zip((place_c, place_a, place_b, place_c), kinds)
    ]
    inputs = [collect(threads, o, kind, p) for o, kind, p in zip((a, b, c), kinds[1:], places[1:])]
    spread(threads, d, kinds[0], product(words, shape, kinds, *inputs), places[0])


def quads(threads, instruction, kinds):
    """m8n8k4 on f16: four products, each by two quads of lanes sixteen apart."""
    words = instruction.modifiers
    row, column = [word for word in words if word in ("row", "col")]
    other = "row" if column == "col" else "col"
    d, a, b, c = instruction.operands

    def whole(kind):
        return lambda lane, r, e: quad_c(lane, 2 * r + e if kind == "f16" else r, kind)

    for quad in range(4):
        group = [thread for thread in threads if thread.lane // 4 % 4 == quad]
        left = collect(group, a, "f16", lambda lane, r, e: quad_a(row, lane, 2 * r + e))
        right = collect(group, b, "f16", lambda lane, r, e: quad_a(other, lane, 2 * r + e)[::-1])
        start = collect(group, c, kinds[3], whole(kinds[3]))
        result = product(words, (8, 8, 4), kinds, left, right, start)
        spread(group, d, kinds[0], result, whole(kinds[0]))


def row_addresses(threads, operand, words, count):
    """Where the eight-element rows of each 8 x 8 matrix lie: one address a lane."""
    places = [resolve(t, *address(t, operand, "shared")) for t in threads[: 8 * count]]
    return [places[8 * i : 8 * i + 8] for i in range(count)]


def load_matrices(threads, instruction):
    """ldmatrix of 8 x 8 elements of 16 bits."""
    words = instruction.modifiers
    targets = {t: elements(t, instruction.operands[0]) for t in threads}
    count = len(targets[threads[0]])
    for i, rows in enumerate(row_addresses(threads, instruction.operands[1], words, count)):
        matrix = {
            (r, c): memory.read(place + 2 * c, 2)
            for r, (memory, place) in enumerate(rows)
            for c in range(8)
        }
        for thread in threads:
            pair = [matrix[fragment(thread.lane, e, "trans" in words)] for e in range(2)]
            write(thread, targets[thread][i], pair[1] << 16 | pair[0], "b32")


def fragment(lane, element, transposed):
    place = (lane // 4, lane % 4 * 2 + element)
    return place[::-1] if transposed else place


def store_matrices(threads, instruction):
    words = instruction.modifiers
    sources = {t: registers(t, instruction.operands[1], "b32") for t in threads}
    count = len(sources[threads[0]])
    for i, rows in enumerate(row_addresses(threads, instruction.operands[0], words, count)):
        for thread in threads:
            for e in range(2):
                r, c = fragment(thread.lane, e, "trans" in words)
                memory, place = rows[r]
                memory.write(place + 2 * c, 2, sources[thread][i] >> (16 * e) & mask(16))


def transpose(threads, instruction):
    """movmatrix."""
    matrix = collect(threads, instruction.operands[1], "f16", lambda n, r, e: fragment(n, e, False))
    spread(threads, instruction.operands[0], "f16", matrix, lambda n, r, e: fragment(n, e, True))


def wmma(threads, instruction):
    WMMA[instruction.modifiers[0]](threads, instruction)


def extents(words):
    """Rows and columns of the fragment that a wmma.load or .store moves."""
    m, n, k = shape_of(words)
    return {"a": (m, k), "b": (k, n)}.get(words[1], (m, n))


def flat(columns, total, kind):
    """Fragments of wmma are opaque: here element after element over lanes, repeated if it fits."""
    per = max(32 // bits_of(kind), 1)

    def place_for(count):
        def place(lane, register, element):
            return divmod(((lane * count + register) * per + element) % total, columns)

        return place

    return place_for


def layout(words, index=0):
    return [word for word in words if word in ("row", "col")][index]


def wmma_address(threads, instruction, operand, kind, columns, rows):
    """A function from row and column to memory, address and bit there."""
    words = instruction.modifiers
    rest = instruction.operands[2:]
    thread = threads[0]
    memory, base = resolve(thread, *address(thread, operand, space_of(words)))
    major = layout(words)
    stride = read(thread, rest[0], "u32") if rest else (columns if major == "row" else rows)
    bits = bits_of(kind)

    def where(row, column):
        index = row * stride + column if major == "row" else column * stride + row
        return memory, base + index * bits // 8, index * bits % 8

    return where


def wmma_load(threads, instruction):
    words = instruction.modifiers
    kind = kinds_of(words)[-1]
    rows, columns = extents(words)
    where = wmma_address(threads, instruction, instruction.operands[1], kind, columns, rows)
    size = max(bits_of(kind) // 8, 1)
    matrix = {}
    for r in range(rows):
        for c in range(columns):
            memory, place, shift = where(r, c)
            matrix[r, c] = memory.read(place, size) >> shift & mask(bits_of(kind))
    count = len(elements(threads[0], instruction.operands[0]))
    place = flat(columns, rows * columns, kind)(count)
    spread(threads, instruction.operands[0], kind, matrix, place)


def wmma_store(threads, instruction):
    words = instruction.modifiers
    kind = kinds_of(words)[-1]
    rows, columns = extents(words)
    where = wmma_address(threads, instruction, instruction.operands[0], kind, columns, rows)
    count = len(elements(threads[0], instruction.operands[1]))
    place = flat(columns, rows * columns, kind)(count)
    for at, pattern in collect(threads, instruction.operands[1], kind, place).items():
        memory, target, _ = where(*at)
        memory.write(target, bits_of(kind) // 8, pattern)


def wmma_multiply(threads, instruction):
    words = instruction.modifiers
    shape, kinds = shape_of(words), kinds_of(words)
    if len(kinds) == 2:  # .dtype.ctype of f16 operands
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    m, n, k = shape
    sizes = [(n, m * n), (k, m * k), (n, k * n), (n, m * n)]
    places = [
        flat(*size, kind)(len(elements(threads[0], operand)))
        for size, kind, operand in zip(sizes, kinds, instruction.operands)
    ]
    inputs = [
        collect(threads, operand, kind, place)
        for operand, kind, place in zip(instruction.operands[1:], kinds[1:], places[1:])
    ]
    spread(
        threads, instruction.operands[0], kinds[0], product(words, shape, kinds, *inputs), places[0]
    )


WMMA = {"load": wmma_load, "store": wmma_store, "mma": wmma_multiply}
COLLECTIVES = {
    "mma": multiply,
    "ldmatrix": load_matrices,
    "stmatrix": store_matrices,
    "movmatrix": transpose,
    "wmma": wmma,
}
