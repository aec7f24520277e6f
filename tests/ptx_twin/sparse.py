"""mma.sp: the stored elements of A, where the metadata says that they stand.

PTX ISA, "Warp-level matrix instructions for sparse mma": f16, bf16 and bytes store two of four
neighbours, tf32 one of two, 4-bit integers two pairs of four pairs.
"""

from ptx_twin.matrix import (
    bits_of,
    collect,
    dot,
    encode_result,
    kinds_of,
    number,
    place_a,
    place_b,
    place_c,
    shape_of,
    spread,
)
from ptx_twin.matrix import multiply as multiply_dense
from ptx_twin.operands import read

HALVES = {0b0100: 0, 0b1110: 1}  # of tf32: two 16-bit halves


def nibble(threads, operand, kind, row, chunk, selector, pairs):
    """The four bits of metadata for a chunk of a row's columns."""
    quad = threads[4 * (row % 8) : 4 * (row % 8) + 4]
    if bits_of(kind) >= 16:  # each thread has four chunks of both rows
        thread = quad[selector * (2 if pairs else 1) + chunk // 4]
        return read(thread, operand, "b32") >> (16 * (row >= 8) + 4 * (chunk % 4)) & 15
    thread = quad[2 * selector + (row >= 8) + 2 * (chunk // 8)]
    return read(thread, operand, "b32") >> (4 * (chunk % 8)) & 15


def columns(kind, field):
    """Which columns of a chunk are stored."""
    if kind == "tf32":
        return [HALVES[field]]
    first, second = field & 3, field >> 2
    if bits_of(kind) == 4:
        return [2 * first, 2 * first + 1, 2 * second, 2 * second + 1]
    return [first, second]


def multiply(threads, instruction):
    """mma, sparse or dense."""
    if not instruction.modifiers[0].startswith("sp"):
        return multiply_dense(threads, instruction)
    words, (d, a, b, c, metadata, selector) = instruction.modifiers, instruction.operands
    (m, n, k), kinds = shape_of(words), kinds_of(words)
    shape = (m, n, k // 2)
    left = collect(threads, a, kinds[1], lambda *at: place_a(*at, shape, kinds[1]))
    right = collect(threads, b, kinds[2], lambda *at: place_b(*at, shape, kinds[2]))
    start = collect(threads, c, kinds[3], lambda *at: place_c(*at, shape, kinds[3]))
    width = {32: 2, 4: 8}.get(bits_of(kinds[1]), 4)
    pairs = k // width == 8
    result = {}
    for i in range(m):
        places = []
        for chunk in range(k // width):
            field = nibble(threads, metadata, kinds[1], i, chunk, selector.value, pairs)
            places += [chunk * width + column for column in columns(kinds[1], field)]
        row = [number(kinds[1], left[i, x]) for x in range(k // 2)]
        for j in range(n):
            column = [number(kinds[2], right[x, j]) for x in places]
            value = dot(words, kinds[1], row, column, number(kinds[3], start[i, j]))
            result[i, j] = encode_result(words, kinds[0], value)
    return spread(threads, d, kinds[0], result, lambda *at: place_c(*at, shape, kinds[0]))


COLLECTIVES = {"mma": multiply}
