"""Kernels in which every form of an expression stands once, on values near the edges of types."""

import random

from cuda_twin.expressions import BINARY, CONVERSIONS, TERNARY, UNARY, Expressions
from cuda_twin.generator import WORDS, Program
from cuda_twin.intrinsics import GROUPS

FORMS_EACH = 3 * WORDS  # of a kernel
NAMES = {
    "u32": ["a0", "a1", "a2", "a3"],
    "u64": ["b0", "b1", "b2"],
    "f32": ["f0", "f1", "f2", "f3"],
    "f64": ["d0", "d1", "d2"],
}
VALUES = """\
    const u32 *row = in + thread * 16;
    const u32 me = linear(), lane = me & 31;
    u32 a0 = row[0], a1 = row[1], a2 = row[2] >> (row[3] & 31);
    u32 a3 = (u32)((i32)row[4] >> (row[5] & 31));
    u64 b0 = (u64)row[6] << 32 | row[7], b1 = b0 >> (row[8] & 63);
    u64 b2 = (u64)((i64)b0 >> (row[9] & 63));
    f32 f0 = __uint_as_float(row[10]), f1 = (f32)(i32)a3 * 0.5f;
    f32 f2 = (f32)(i32)(row[11] & 7) - 3.5f;
    f32 f3 = __uint_as_float((row[12] & 0x800FFFFFu) | 0x00300000u);
    f64 d0 = __longlong_as_double((i64)b0), d1 = (f64)(i64)b2 * 0.5, d2 = (f64)f2 * (f64)f1;
    if ((lane & 7) == 1) f0 = f2 / 0.0f, d0 = (f64)f0;
    if ((lane & 7) == 2) f0 = (f0 - f0) / (f0 - f0), d0 = (f64)f0;
"""


def forms() -> list[tuple[str, str]]:
    """All that there are, with their types; operands have types, too."""
    found = []
    for kind in BINARY:
        for table in (UNARY, BINARY, TERNARY):
            operand = "{" + kind + "}"
            found += [(kind, form.format(*[operand] * 3)) for form in table[kind]]
        for table in (CONVERSIONS, *GROUPS):
            found += [(kind, form) for form in table.get(kind, ())]
    return found


def surveys(seed: int) -> list[Program]:
    """Programs with all forms, on other operands for each seed."""
    everything = forms()
    count = -(-len(everything) // FORMS_EACH)
    return [_survey(seed, number, everything[number::count]) for number in range(count)]


def _survey(seed: int, number: int, some: list[tuple[str, str]]) -> Program:
    chance = random.Random(f"survey {seed} {number}")
    name, expressions = f"program{100 * seed + number}x", Expressions(chance, 0)
    lines = [f"__constant__ u32 table[16] = {{{', '.join('7391u' for _ in range(16))}}};"]
    lines += [
        f'extern "C" __global__ void {name}_kernel(const u32 *in, u64 *out, u32 *, u64 *,'
        " u32, u32, u64, f32) {"
    ]
    lines += ["    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;", VALUES]
    lines += [f"    u64 r[{WORDS}] = {{}};"]
    for place, (kind, form) in enumerate(some):
        text = expressions.filled(form, NAMES)
        value = f"bits({text})" if kind in ("f32", "f64") else text
        lines.append(f"    r[{place % WORDS}] = r[{place % WORDS}] * 31 + {value};")
    lines += [f"    for (u32 i = 0; i < {WORDS}; i++) out[thread * {WORDS} + i] = r[i];", "}"]
    text = f"namespace {name} {{\n" + "\n".join(lines) + "\n}\n"
    return Program(name, text, (2, 1, 1), (96, 1, 1))
