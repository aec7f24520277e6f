"""Floating-point operations, told by the opcodes of machine code, PTX and GCN.

Addition and multiplication are one operation of a lane, a fused multiplication with addition two;
packed operands have two of each. Products of matrices are counted by their shapes. Divisions,
roots, comparisons and conversions are none. Only runs that counted instructions know.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from lockstep.gpus.spec import GPU
from lockstep.metrics.facts import Facts, ratio
from lockstep.metrics.metric import Keyed, Metric

PRECISIONS = ("fp16", "fp32", "fp64", "tensor")
KINDS = tuple(f"{kind}{what}" for kind in "hfd" for what in ("add", "mul", "fma"))


class Floating(NamedTuple):
    """What an instruction computes: ``kind`` is one of KINDS, "" for products of matrices."""

    kind: str
    precision: str
    lane: int  # operations of each lane
    warp: int  # operations of the whole warp besides


_LETTERS = {"fp16": "h", "fp32": "f", "fp64": "d"}
_SASS = re.compile(r"([fdh])(add|mul|fma)(2|32i)?(?:\.|$)")
_PTX = re.compile(r"(add|sub|mul|fma|mad)\.(?:[\w:]+\.)*(b?f16x2|b?f16|f32x2|f32|f64)$")
_GCN = re.compile(
    r"v_(add|sub|subrev|mul|mac|mad|madmk|madak|fma)(?:_legacy)?_(f16|f32|f64)(?:_|$)"
)
_PRODUCT = re.compile(r"(?:wmma\.mma|mma|wgmma\.mma_async)\..*m(\d+)n(\d+)k(\d+)")
_MATRIX = re.compile(
    r"([hdqo]mma|[hq]gmma)\.(?:sp\.)?(\d+x\d+x\d+|16816|16832|1688|1684|884)(?:\.|$)"
)
_SHAPES = {
    "16816": (16, 8, 16), "16832": (16, 8, 32), "1688": (16, 8, 8), "1684": (16, 8, 4),
    # Of a warp's four products of 8 x 8 x 4 on Volta, in four steps; or of one in FP64.
    "884": (8, 8, 4),
}  # fmt: skip
_INTEGERS = re.compile(r"\.(?:[su](?:8|4)|b1)(?:\.|$)")
_WARPGROUP = 4  # warps that share a product
_SUM = {"sub": "add", "subrev": "add", "mac": "fma", "mad": "fma", "madmk": "fma", "madak": "fma"}


@lru_cache(maxsize=1 << 16)
def of_text(text: str) -> Floating | None:
    """What an instruction computes in floating point; None: nothing that counts."""
    words = text.lower().split()
    opcode = next((word for word in words if not word.startswith("@")), "")
    if found := _SASS.match(opcode):
        letter, what, form = found.groups()
        if opcode.startswith("hadd2.f32"):  # a conversion
            return None
        precision = {"h": "fp16", "f": "fp32", "d": "fp64"}[letter]
        return _scalar(what, precision, 2 if form == "2" else 1)
    if found := _PTX.match(opcode):
        what, kind = found.groups()
        precision = "fp64" if kind == "f64" else "fp32" if kind.startswith("f32") else "fp16"
        return _scalar(_SUM.get(what, what), precision, 2 if kind.endswith("x2") else 1)
    if found := _GCN.match(opcode):
        what, kind = found.groups()
        return _scalar(_SUM.get(what, what), f"fp{kind[1:]}", 1)
    return _product(opcode)


def _scalar(what: str, precision: str, elements: int) -> Floating:
    operations = (2 if what == "fma" else 1) * elements
    return Floating(_LETTERS[precision] + what, precision, operations, 0)


def _product(opcode: str) -> Floating | None:
    """A product of matrices."""
    if found := _PRODUCT.match(opcode):
        if _INTEGERS.search(opcode):
            return None
        m, n, k = (int(size) for size in found.groups())
        warps = _WARPGROUP if opcode.startswith("wgmma") else 1
    elif found := _MATRIX.match(opcode):
        shape = found[2]
        m, n, k = _SHAPES[shape] if shape in _SHAPES else map(int, shape.split("x"))
        warps = _WARPGROUP if "gmma" in found[1] else 1
    else:
        return None
    return Floating("", "tensor", 0, 2 * m * n * k // warps)


def operations(k: Facts, precision: str) -> float:
    """Operations of a kernel in a precision."""
    return sum(
        lanes * what.lane + warps * what.warp
        for what, lanes, warps in _floating(k)
        if what.precision == precision
    )


def executed(k: Facts, kind: str) -> float:
    """Thread instructions of a kind."""
    return sum(lanes for what, lanes, _ in _floating(k) if what.kind == kind)


def all_operations(k: Facts) -> float:
    """Operations of all precisions together."""
    return sum(operations(k, precision) for precision in PRECISIONS)


def _floating(k: Facts) -> list[tuple[Floating, int, int]]:
    """The instructions that compute, with their thread and warp instructions."""
    assert k.kernel is not None and k.kernel.source is not None, "its instructions were counted"
    source = k.kernel.source
    counts = (source.counts[name].tolist() for name in ("thread_instructions", "warp_instructions"))
    known = zip(map(of_text, source.texts), *counts)
    return [(what, lanes, warps) for what, lanes, warps in known if what is not None]


def kinds(gpu: GPU) -> list[Keyed]:
    """Every kind of floating-point instruction that counts."""
    return [(kind, kind) for kind in KINDS]


def precisions(gpu: GPU) -> list[Keyed]:
    """Every precision, and products of matrices."""
    return [(precision, precision) for precision in PRECISIONS]


METRICS = (
    Metric(
        "sim__thread_inst_{}.sum",
        "instructions",
        "Thread instructions that are {} of floating-point numbers (h: 16 bits, f: 32, d: 64); of "
        "packed numbers one. Undefined, as all of this section, unless instructions were counted.",
        lambda k, kind: executed(k, kind),
        each=kinds,
        kernel=True,
        counted=True,
    ),
    Metric(
        "sim__flops_{}.sum",
        "operations",
        "Floating-point operations in {}; tensor: of products of matrices, in whatever precision.",
        lambda k, precision: operations(k, precision),
        each=precisions,
        kernel=True,
        counted=True,
    ),
    Metric(
        "sim__flops.sum.per_second",
        "operations/s",
        "All floating-point operations, over all cycles.",
        lambda k: ratio(all_operations(k), k.seconds),
        kernel=True,
        counted=True,
    ),
    Metric(
        "sim__arithmetic_intensity_{}.ratio",
        "operations/byte",
        "Floating-point operations in {} for each byte read from DRAM or written there.",
        lambda k, precision: ratio(operations(k, precision), k.dram_bytes),
        each=precisions,
        kernel=True,
        counted=True,
    ),
    Metric(
        "sim__arithmetic_intensity_l2.ratio",
        "operations/byte",
        "All floating-point operations for each byte of the sectors that SMs and the L2 exchange.",
        lambda k: ratio(all_operations(k), l2_bytes(k)),
        kernel=True,
        counted=True,
    ),
)


def l2_bytes(k: Facts) -> float:
    """Bytes of the sectors of requests of SMs."""
    m = k.memory
    return (m.l2_read_sectors + m.l2_write_sectors + m.l2_atomic_sectors) * k.gpu.l2.sector_bytes
