"""PTX for what CUDA C++ cannot ask for: matrix products of every shape, and Hopper's bulk copies."""

# ruff: noqa: E501 - a line of PTX is one string
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Register files: the type to load, how many there are at most, bytes of each.
_FILES = {
    "r": ("b32", 200, 4),
    "f": ("f32", 200, 4),
    "d": ("f64", 20, 8),
    "x": ("b64", 3, 8),
    "h": ("b16", 2, 2),
    "q": ("b128", 3, 16),
}
_PREDICATES = "setp.ne.s32 %p0, %t, 3; setp.ne.s32 %p1, %t, 5;"
_RESULT = "selp.s32 %t, 1, 0, %p0; st.global.s32 [%out + 4096], %t;"
_MODULE = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{{
    .reg .b32 %r<256>; .reg .f32 %f<256>; .reg .f64 %d<32>; .reg .b64 %x<8>, %in, %out;
    .reg .b16 %h<8>; .reg .pred %p<4>; .reg .b32 %t, %e; {quads}
    ld.param.u64 %in, [a]; ld.param.u64 %out, [b];
    ld.global.b32 %e, [%in + 2048]; mov.u32 %t, %tid.x;
    {body}
    ret;
}}
"""


class Snippet(NamedTuple):
    """A PTX instruction on generic operands, and the architectures that have it."""

    text: str
    since: str  # "80"; "90a" only compiles for that target
    until: int = 999


def products() -> Iterator[Snippet]:
    """Matrix products: dense and sparse, of every type."""
    yield from _half_products()
    yield from _integer_products()
    yield from _sparse_products()
    for shape, a, b, d in (
        ("m8n8k4", 1, 1, 2),
        ("m16n8k4", 2, 1, 4),
        ("m16n8k8", 4, 2, 4),
        ("m16n8k16", 8, 4, 4),
    ):
        name = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64"
        yield Snippet(_product(name, "d", d, "d", a, b), "80" if shape == "m8n8k4" else "90")


def _half_products() -> Iterator[Snippet]:
    for a in ("row", "col"):
        for b in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
                name = f"mma.sync.aligned.m8n8k4.{a}.{b}.{d}.f16.f16.{c}"
                yield Snippet(
                    _mixed(
                        name,
                        "f" if d == "f32" else "r",
                        8 if d == "f32" else 4,
                        2,
                        2,
                        "f" if c == "f32" else "r",
                        8 if c == "f32" else 4,
                    ),
                    "70",
                    75,
                )
    for shape, na, nb, since in (("m16n8k8", 2, 1, "75"), ("m16n8k16", 4, 2, "80")):
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f16.f16.f16.f16", "r", 2, "r", na, nb),
            since,
        )
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f32.f16.f16.f32", "f", 4, "r", na, nb),
            since,
        )
        yield Snippet(
            _product(f"mma.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32", "f", 4, "r", na, nb),
            "80",
        )
    yield Snippet(
        _product("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f", 4, "r", 2, 1), "80"
    )
    yield Snippet(
        _product("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f", 4, "r", 4, 2), "80"
    )
    for x in ("e4m3", "e5m2"):
        for y in ("e4m3", "e5m2"):
            yield Snippet(
                _product(f"mma.sync.aligned.m16n8k32.row.col.f32.{x}.{y}.f32", "f", 4, "r", 4, 2),
                "89",
            )


def _integer_products() -> Iterator[Snippet]:
    shapes = (
        ("m8n8k16", 1, 1, 2, 8, "75"),
        ("m16n8k16", 2, 1, 4, 8, "80"),
        ("m16n8k32", 4, 2, 4, 8, "80"),
        ("m8n8k32", 1, 1, 2, 4, "75"),
        ("m16n8k32", 2, 1, 4, 4, "80"),
        ("m16n8k64", 4, 2, 4, 4, "80"),
    )
    for shape, na, nb, nd, bits, since in shapes:
        for x in "su":
            for y in "su":
                for satfinite in ("", ".satfinite"):
                    name = (
                        f"mma.sync.aligned.{shape}.row.col{satfinite}.s32.{x}{bits}.{y}{bits}.s32"
                    )
                    yield Snippet(_product(name, "r", nd, "r", na, nb), since)
    for shape, na, nb, nd in (
        ("m8n8k128", 1, 1, 2),
        ("m16n8k128", 2, 1, 4),
        ("m16n8k256", 4, 2, 4),
    ):
        for op, since in (("xor", "75" if nd == 2 else "80"), ("and", "80")):
            yield Snippet(
                _product(
                    f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc",
                    "r",
                    nd,
                    "r",
                    na,
                    nb,
                ),
                since,
            )


def _sparse_products() -> Iterator[Snippet]:
    for shape, n in (("m16n8k16", 2), ("m16n8k32", 4)):
        for d in ("f16", "f32"):
            name = f"mma.sp.sync.aligned.{shape}.row.col.{d}.f16.f16.{d}"
            yield Snippet(
                _product(
                    name, "f" if d == "f32" else "r", 4 if d == "f32" else 2, "r", n, n, ", %e, 0x0"
                ),
                "80",
                90,
            )
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32",
                "f",
                4,
                "r",
                n,
                n,
                ", %e, 0x0",
            ),
            "80",
            90,
        )
    for shape, n in (("m16n8k8", 2), ("m16n8k16", 4)):
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.f32.tf32.tf32.f32",
                "f",
                4,
                "r",
                n,
                n,
                ", %e, 0x0",
            ),
            "80",
            90,
        )
    for shape, n in (("m16n8k32", 2), ("m16n8k64", 4)):
        yield Snippet(
            _product(
                f"mma.sp.sync.aligned.{shape}.row.col.s32.s8.u8.s32", "r", 4, "r", n, n, ", %e, 0x0"
            ),
            "80",
            90,
        )


def _product(
    name: str, result: str, results: int, kind: str, a: int, b: int, tail: str = ""
) -> str:
    return _mixed(name, result, results, a, b, result, results, kind, tail)


def _mixed(name, result, results, a, b, third, thirds, kind="r", tail=""):
    def group(file: str, first: int, count: int) -> str:
        return "{" + ", ".join(f"%{file}{first + i}" for i in range(count)) + "}"

    return f"{name} {group(result, 0, results)}, {group(kind, 16, a)}, {group(kind, 24, b)}, {group(third, 0, thirds)}{tail};"


def listed() -> Iterator[Snippet]:
    """The instructions of ``corpus/instructions.txt``."""
    for line in (Path(__file__).parent / "corpus/instructions.txt").read_text().splitlines():
        if not line.startswith("#"):
            since, _, text = line.partition(" ")
            yield Snippet(text, since)


def warpgroup() -> Iterator[Snippet]:
    """Hopper's products of a group of four warps."""
    fence = "wgmma.fence.sync.aligned;"
    done = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    kinds = (
        ("k16", "f16.f16", (16, 32)),
        ("k16", "bf16.bf16", (32,)),
        ("k8", "tf32.tf32", (32,)),
        ("k32", "e4m3.e5m2", (16, 32)),
        ("k32", "s8.u8", (0,)),
        ("k32", "u8.u8", (0,)),
        ("k256", "b1.b1", (0,)),
    )
    for k, types, results in kinds:
        for bits in results:
            for n in (8, 16, 64, 128, 256):
                file, count, d = (
                    ("r", n // 4, "f16")
                    if bits == 16
                    else ("f", n // 2, "f32")
                    if bits
                    else ("r", n // 2, "s32")
                )
                regs = "{" + ", ".join(f"%{file}{64 + i}" for i in range(count)) + "}"
                flags = ", %p0" + (", 1, -1" if bits else "") + (", 0, 1" if k == "k16" else "")
                tail = ".and.popc" if types == "b1.b1" else ""
                name = f"wgmma.mma_async.sync.aligned.m64n{n}{k}.{d}.{types}{tail}"
                yield Snippet(f"{fence} {name} {regs}, %x0, %x1{flags}; {done}", "90a")
                flags = ", 1" + (", -1, 1" if bits else "") + (", 1" if k == "k16" else "")
                yield Snippet(
                    f"{fence} {name} {regs}, {{%r16, %r17, %r18, %r19}}, %x1{flags}; {done}", "90a"
                )
    for n in (24, 152, 208):
        yield Snippet("setmaxnreg.inc.sync.aligned.u32 %d;".replace("%d", str(n)), "90a")
        yield Snippet("setmaxnreg.dec.sync.aligned.u32 %d;".replace("%d", str(n)), "90a")


def module(snippet: Snippet, target: str, salt: int = 0) -> str:
    """A PTX module with one kernel: operands come from memory, and go back there."""
    loads, stores = [], []
    for file, (kind, count, size) in _FILES.items():
        for i in range(count):
            if re.search(rf"%{file}{i}\b", snippet.text):
                loads.append(f"ld.global.{kind} %{file}{i}, [%in + {salt * 32 + i * size}];")
                stores.append(f"st.global.{kind} [%out + {salt * 64 + i * size}], %{file}{i};")
    quads = ".reg .b128 %q<4>;" if "%q" in snippet.text else ""
    body = "\n    ".join([*loads, _PREDICATES, snippet.text, *stores, _RESULT])
    return _MODULE.format(target=target, quads=quads, body=body)


def snippets() -> list[Snippet]:
    """All of them."""
    return [*products(), *listed(), *warpgroup()]
