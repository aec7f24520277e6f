"""Adds Triton's machine code to the corpus of ``sass_corpus.py``.

``pip install triton==3.5.1``, then, after ``sass_corpus.py build /tmp/corpus``::

    python scripts/sass_triton.py /tmp/corpus

compiles the kernels below ahead of time, without a GPU, for every architecture, and adds the
distinct instruction words to the files there.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

BYTES = 16
ARCHITECTURES = (70, 75, 80, 86, 89, 90)
OPTIONS = ({"num_warps": 4}, {"num_warps": 8, "num_stages": 4})


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    """One row a program."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, m, n, k, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A tile of C a program."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns, inner = tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + rows[:, None] * sa + inner[None, :]
    pb = b + inner[:, None] * sb + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for done in range(0, k, BK):
        left = inner < k - done
        x = tl.load(pa, mask=(rows[:, None] < m) & left[None, :], other=0.0)
        y = tl.load(pb, mask=left[:, None] & (columns[None, :] < n), other=0.0)
        total = tl.dot(x, y, total)
        pa += BK
        pb += BK * sb
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * sc + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def layer_norm(x, y, w, b, n, eps, BLOCK: tl.constexpr):
    """One row a program."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
    d = tl.where(inside, v - tl.sum(v, 0) / n, 0.0)
    scaled = d * tl.rsqrt(tl.sum(d * d, 0) / n + eps) * tl.load(w + at, mask=inside)
    tl.store(y + row * n + at, scaled + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def attention(q, k, v, o, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Flash attention, one block of queries a program."""
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        at = start + tl.arange(0, BN)
        s = tl.dot(queries, tl.load(k + at[None, :] * D + d[:, None])) * scale
        larger = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrink = tl.exp2(most - larger)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + at[:, None] * D + d[None, :])
        out = tl.dot(p.to(tl.float16), values, out * shrink[:, None])
        most = larger
    tl.store(o + rows[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16))


@triton.jit
def scans(x, y, BLOCK: tl.constexpr):
    """A prefix sum, a sort and an atomic."""
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(y + at, tl.cumsum(v, 0))
    tl.store(y + BLOCK + at, tl.sort(v))
    tl.atomic_add(y + 2 * BLOCK, tl.max(v, 0))


@triton.jit
def functions(x, y, z, n, BLOCK: tl.constexpr):
    """Elementwise functions."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)
    s = tl.sigmoid(a) * tl.log(b) + tl.sin(a) * tl.cos(b) + tl.sqrt(a) + tl.erf(b) + tl.floor(a)
    tl.store(z + at, s, mask=at < n)


def kernels() -> Iterator[tuple]:
    """Kernel, types of its arguments, sizes."""
    for kind, block in (("fp32", 1024), ("fp16", 4096)):
        yield softmax, {"x": f"*{kind}", "y": f"*{kind}", "n": "i32"}, {"BLOCK": block}
    norm = {"x": "*fp16", "y": "*fp16", "w": "*fp32", "b": "*fp32", "n": "i32", "eps": "fp32"}
    yield layer_norm, norm, {"BLOCK": 1024}
    yield scans, {"x": "*fp32", "y": "*fp32"}, {"BLOCK": 256}
    yield scans, {"x": "*i32", "y": "*i32"}, {"BLOCK": 512}
    yield functions, {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32"}, {"BLOCK": 512}
    heads = dict.fromkeys("qkvo", "*fp16") | {"n": "i32", "scale": "fp32"}
    yield attention, heads, {"D": 64, "BM": 64, "BN": 64}
    yield attention, heads, {"D": 128, "BM": 128, "BN": 64}
    sizes = dict.fromkeys(("m", "n", "k", "sa", "sb", "sc"), "i32")
    for kind in ("fp16", "bf16", "fp32", "i8", "fp8e5"):
        types = {"a": f"*{kind}", "b": f"*{kind}", "c": "*fp16"} | sizes
        for bm, bn, bk in ((64, 64, 32), (128, 128, 64), (32, 64, 32)):
            yield matmul, types, {"BM": bm, "BN": bn, "BK": bk}


def compiled(architecture: int) -> Iterator[bytes]:
    """Cubins of all kernels, with aligned arguments and without."""
    for kernel, types, sizes in kernels():
        signature = types | dict.fromkeys(sizes, "constexpr")
        whole = [i for i, t in enumerate(types.values()) if t.startswith("*") or t == "i32"]
        for aligned in ({(i,): [["tt.divisibility", 16]] for i in whole}, None):
            for options in OPTIONS:
                source = ASTSource(kernel, signature, sizes, aligned)
                target = GPUTarget("cuda", architecture, 32)
                try:
                    yield triton.compile(source, target=target, options=options).asm["cubin"]
                except Exception as error:  # types that the architecture does not have
                    print(f"sm_{architecture}: {kernel.__name__} of {types}: {str(error)[:60]!r}")


def words(cubin: bytes) -> Iterator[str]:
    """The instruction words of a cubin, as in the corpus."""
    for section in ELFFile(io.BytesIO(cubin)).iter_sections():
        if section.name.startswith(".text."):
            data = section.data()
            for start in range(0, len(data), BYTES):
                yield f"{int.from_bytes(data[start : start + BYTES], 'little'):032x}"


def main(folder: Path) -> None:
    """Extend every file of the corpus."""
    for architecture in ARCHITECTURES:
        path = folder / f"sm_{architecture}.words"
        found = set(path.read_text().split()) if path.exists() else set()
        before = len(found)
        for cubin in compiled(architecture):
            found.update(words(cubin))
        path.write_text("".join(f"{word}\n" for word in sorted(found)))
        print(f"sm_{architecture}: {len(found) - before} instructions more, {len(found)} in all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
