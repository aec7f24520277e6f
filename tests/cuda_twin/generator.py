"""Random CUDA kernels: functions, a kernel that calls them, and what of a launch of it is random.

Every program is a namespace of its own, so that one file holds many.
"""

import random
from pathlib import Path
from typing import NamedTuple

from cuda_twin import barriers, flow, groups, storage, uniform
from cuda_twin.statements import COUNTS, LOCAL, SMALL, Kinds, Names, Scale, Statements

CLASSES = Path(__file__).with_name("classes.h")
PARAMETERS = (77, 0x8000_0013, 0x1_2345_6789, -2.5)  # what all threads are given
WORDS = 16  # u64 of results of a thread
ACCUMULATORS = ("adds", "mins", "maxs", "ands", "ors", "xors", "counts", "raiseds")
KINDS = Kinds(
    alone=(flow.many_cases,),
    deeper=(flow.jump, flow.jump_back, flow.nested_exit),
    memory=(
        *(storage.scalar, storage.vector, storage.doubles, storage.record, storage.atomic),
        *(storage.copy, storage.atomic),
    ),
    uniform=(uniform.branch, uniform.branch, uniform.loop),
    together=(groups.tile, groups.tile),
    together_deeper=(uniform.agreed, uniform.agreed, uniform.while_any),
    block=(
        *(uniform.assign, uniform.assign, uniform.assign, groups.wide),
        *(barriers.named, barriers.counted),
    ),
)
BLOCKS = (
    (32, 1, 1),
    (33, 1, 1),
    (64, 1, 1),
    (17, 3, 1),
    (8, 4, 3),
    (96, 1, 1),
    (5, 1, 1),
    (128, 1, 1),
)
GRIDS = ((1, 1, 1), (2, 1, 1), (1, 2, 1), (3, 1, 1), (2, 1, 2))


class Program(NamedTuple):
    """The text of a program, and how it is launched."""

    name: str
    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def threads(self) -> int:
        """Of the whole grid."""
        x, y, z = self.grid
        return x * y * z * self.block[0] * self.block[1] * self.block[2]


def program(seed: int, scale: Scale = SMALL) -> Program:
    """The program of a seed."""
    chance = random.Random(f"random CUDA {seed}")
    name, functions = f"program{seed}x", []  # the letter ends the number in mangled names
    words = ", ".join(f"{chance.getrandbits(32)}u" for _ in range(16))
    parts = [f"__constant__ u32 table[16] = {{{words}}};"]
    for kind, write, count, pointers in (
        ("plain", _plain, 2, "functions"),
        ("pair", _paired, 1, ""),
        ("lanes", _lanes, 2, "gathered"),
        ("recursive", _recursive, 1, ""),
    ):
        if chance.random() >= scale.functions:
            continue
        own = [f"{kind}{number}" for number in range(count)]
        parts += [write(chance, scale, one) for one in own]
        functions += [(one, kind) for one in own]
        if pointers:
            listed = f"{pointers}[{count}])(u32, u32) = {{{', '.join(own)}}}"
            parts.append(f"__device__ u32 (*const {listed};")
    parts.append(_kernel(chance, scale, name, functions))
    parts.insert(0, f'#include "{CLASSES}"')
    text = f"namespace {name} {{\n" + "\n".join(parts) + "\n}\n"
    return Program(name, text, chance.choice(GRIDS), chance.choice(BLOCKS))


def _names(extra: tuple[str, ...] = ()) -> Names:
    letters = {"u32": "a", "u64": "b", "f32": "f", "f64": "d"}
    names = {kind: [f"{letters[kind]}{n}" for n in range(count)] for kind, count in COUNTS.items()}
    names["u32"] += extra
    return names


def _function(s: Statements, signature: str) -> Names:
    """Begin a function that is given ``x``, with which all its variables begin."""
    _open(s, signature)
    names = _names()
    for number, name in enumerate(names["u32"]):
        s.write(f"u32 {name} = x {'+-^*'[number % 4]} {3 * number + 1}u;")
    for name in names["u64"]:
        s.write(f"u64 {name} = (u64)a1 * a2 + {len(name)};")
    s.write("f32 f0 = (f32)a0, f1 = (f32)(i32)a1 / 7.0f;")
    s.write("f64 d0 = (f64)a2, d1 = (f64)b0 / 3.0;")
    return names


def _open(s: Statements, signature: str) -> None:
    s.lines.append(f"{signature} {{")
    s.write("const u32 me = linear(), lane = me & 31;")


def _text(s: Statements) -> str:
    return "\n".join([*s.lines, "}"])


def _digest(names: Names) -> str:
    """Everything in one word."""
    terms = [*names["u32"], *(f"(u32)({n} ^ {n} >> 32)" for n in names["u64"])]
    terms += [f"bits({n})" for n in names["f32"]]
    terms += [f"(u32)(bits({n}) >> 32)" for n in names["f64"]]
    return " + ".join(f"{2 * k + 1}u * {term}" for k, term in enumerate(terms))


def _plain(chance: random.Random, scale: Scale, name: str) -> str:
    """A function of one thread."""
    s = Statements(chance, scale, kinds=KINDS)
    qualifier = chance.choice(("CALLED", "CALLED", "INLINE"))
    names = _function(s, f"{qualifier} u32 {name}(u32 x, u32 y)")
    s.write("a0 += y;")
    s.body(names, None, False, 1, 2)
    if chance.random() < 0.5:
        s.write(f"if ({s.e.condition(names)}) return a0 ^ y;")
        s.body(names, None, False, 1, 1)
    s.write(f"return {_digest(names)};")
    return _text(s)


def _paired(chance: random.Random, scale: Scale, name: str) -> str:
    """A function that returns a structure."""
    s = Statements(chance, scale, kinds=KINDS)
    names = _function(s, f"CALLED Pair {name}(u32 x, u64 y, i16 z)")
    s.write("b0 ^= y; a1 += (u32)(i32)z;")
    s.body(names, None, False, scale.depth - 1, 2)
    s.write(f"Pair pair = {{{_digest(names)}, b0 + b1, (i16)a0}};")
    s.write("return pair;")
    return _text(s)


def _lanes(chance: random.Random, scale: Scale, name: str) -> str:
    """A function of all lanes of a mask."""
    s = Statements(chance, scale, kinds=KINDS)
    names = _function(s, f"CALLED u32 {name}(u32 x, u32 mask)")
    s.body(names, "mask", False, 1, 2)
    s.write(f"return {_digest(names)};")
    return _text(s)


def _recursive(chance: random.Random, scale: Scale, name: str) -> str:
    """A function that calls itself, once or twice, for some of its lanes."""
    s = Statements(chance, scale, kinds=KINDS)
    names = _function(s, f"CALLED u32 {name}(u32 n, u32 x, u32 mask)")
    s.write("u32 deeper = __ballot_sync(mask, n > 0);")
    s.write("if (n == 0) {")
    s.write("    mask &= ~deeper;")
    s.body(names, "mask", False, scale.depth - 1, 1)
    s.write(f"    return {_digest(names)};")
    s.write("}")
    s.body(names, "deeper", False, scale.depth - 1, 1)
    s.write(f"u32 y = {name}(n - 1, {s.e.value('u32', names, 1)}, deeper);")
    s.write(f"{s.variable(names, 'u32')} ^= y;")
    s.body(names, "deeper", False, scale.depth - 1, 1)
    if chance.random() < 0.5:
        s.write(f"bool again = n > 1 && {s.e.condition(names)};")
        s.write("u32 some = __ballot_sync(deeper, again);")
        s.write("if (again) {")
        s.write(f"    a0 += {name}(n - 2, {s.e.value('u32', names, 1)}, some);")
        s.body(names, "some", False, scale.depth - 1, 1)
        s.write("}")
    s.body(names, "deeper", False, scale.depth - 1, 1)
    s.write(f"return {_digest(names)} + y;")
    return _text(s)


def _kernel(
    chance: random.Random, scale: Scale, name: str, functions: list[tuple[str, str]]
) -> str:
    s = Statements(chance, scale, functions, in_kernel=True, kinds=KINDS)
    parameters = "const u32 *in, u64 *out, u32 *accumulators, u64 *sums"
    parameters += ", u32 p0, u32 p1, u64 q0, f32 r0"
    _open(s, f'extern "C" __global__ void {name}_kernel({parameters})')
    _memory(s)
    names = _names()
    _read(s, names)
    readable = _names(("lane", "me"))
    exits = [n for n in range(1, scale.statements) if chance.random() < 0.3]
    for number in range(scale.statements):
        if number in exits:
            _leave(s, readable)
        s.body(names, "all", True, 0, 1)
        s.write(f"{s.variable(names, s.any_kind())} += {chance.choice(('me', 'lane'))};")
    _results(s, names)
    return _text(s)


def _memory(s: Statements) -> None:
    s.write("const u32 threads = blockDim.x * blockDim.y * blockDim.z;")
    s.write("const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);")
    s.write("const u32 thread = block * threads + me;")
    s.write("__shared__ u32 slots[128];")
    s.write("DYNAMIC_SHARED(dynamic);")
    for number, array in enumerate(ACCUMULATORS):
        s.write(f"u32 *{array} = accumulators + {4 * number};")
        if array not in ("counts", "raiseds"):
            s.write(f"__shared__ u32 shared_{array}[4];")
            first = "0xFFFFFFFFu" if array in ("mins", "ands") else "0"
            s.write(f"if (me < 4) shared_{array}[me] = {first};")
    s.write("slots[me] = me, dynamic[me] = me;")
    s.write(f"u32 local[{LOCAL}];")
    s.write(f"for (u32 i = 0; i < {LOCAL}; i++) local[i] = i * me;")
    s.write("Square square; Other other;")
    s.write("square.side = other.a = other.b = me;")
    for line in (*storage.BEGIN, *uniform.BEGIN):
        s.write(line)
    s.write("u32 all = everybody();")
    s.write("__syncthreads();")


def _read(s: Statements, names: Names) -> None:
    """All variables from the thread's row of the input."""
    s.write(f"const u32 *row = in + thread * {WORDS};")
    for number, name in enumerate(names["u32"]):
        s.write(f"u32 {name} = row[{number}];")
    s.write("u64 b0 = (u64)a0 << 32 | row[5], b1 = row[6];")
    s.write("f32 f0 = (f32)(i32)row[7], f1 = __uint_as_float(row[8]);")
    s.write("f64 d0 = (f64)f0 / 3.0, d1 = (f64)(i64)b0;")


def _leave(s: Statements, names: Names) -> None:
    """Some threads end here."""
    leaves = s.new("c")
    s.write(f"bool {leaves} = {s.e.condition(names)};")
    s.write(f"all = __ballot_sync(all, !{leaves});")
    s.write(f"if ({leaves}) {{")
    s.write(f"    out[thread * {WORDS}] = {_digest(names)};")
    s.write("    return;")
    s.write("}")


def _results(s: Statements, names: Names) -> None:
    values = [*names["u32"], *names["u64"]]
    values += [f"bits({n})" for kind in ("f32", "f64") for n in names[kind]]
    for number, value in enumerate(values):
        s.write(f"out[thread * {WORDS} + {number}] = {value};")
    s.write(f"for (u32 i = 0; i < {LOCAL}; i++) out[thread * {WORDS} + 15] += (i + 1) * local[i];")
    s.write(f"out[thread * {WORDS} + 13] += {storage.DIGEST} + {uniform.DIGEST};")
    s.write("__syncthreads();")
    kept = [a for a in ACCUMULATORS if a not in ("counts", "raiseds")]
    total = " + ".join(f"(u64)shared_{array}[me & 3] * {2 * k + 1}" for k, array in enumerate(kept))
    s.write(f"out[thread * {WORDS} + 14] = {total};")
