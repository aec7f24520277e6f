"""The cases as machine code: one cubin for each architecture, made by ``scripts/sass_twin.py``."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cubin_files
from ptx_twin.cases import Bundle, all_cases
from ptx_twin.generator import kernel_ptx
from ptx_twin.table import is_float

FOLDER = Path(__file__).parent / "cubins"
ARCHITECTURES = (70, 75, 80, 90)
# The assembler may move this load before the store that the case has put there.
FREE = ("ld.global.nc",)
# Cases of video instructions of which ptxas 12.9 and 13.0 make code that does something else than
# the manual says, for all architectures: it saturates at other limits, keeps 32 bits of a sum
# before the second operation, inserts the upper half of a result, extends the wrong signs.
OTHER = frozenset((Path(__file__).parent / "ptxas_video.txt").read_text().splitlines())


@dataclass(frozen=True)
class Assembled:
    """A kernel of a cubin; ``uniform``: its operands are parameters, one launch a row.

    ``sampled``: it is executed whenever tests are, for an opcode that no other kernel has.
    """

    bundle: Bundle
    uniform: bool
    digest: str
    sampled: bool = False


def assembled(bundle, uniform):
    """A kernel with the digest of its text, which tells whether a cubin is of today."""
    text = kernel_ptx(bundle.cases, uniform=uniform)
    return Assembled(bundle, uniform, hashlib.sha256(text.encode()).hexdigest()[:16])


def pack(cubin, kernels):
    """The bytes of a file: a cubin and what its kernels are."""
    table = {
        name: ([c.name for c in k.bundle.cases], k.uniform, k.digest, k.sampled)
        for name, k in kernels.items()
    }
    return cubin_files.pack((cubin, table))


@cache
def unpack(architecture):
    """The cubin of an architecture, and its kernels by name."""
    cubin, table = cubin_files.unpack(FOLDER / f"sm_{architecture}.zst")
    cases = {case.name: case for case in all_cases()}
    kernels = {
        name: Assembled(Bundle(tuple(cases[n] for n in own)), *rest)
        for name, (own, *rest) in table.items()
    }
    return cubin, kernels


def settled(bundle, got, expected):
    """Results with the twin's in place of those that PTX leaves to the assembler."""
    return [
        [
            tuple(
                b if _is_open(case, row, kind, b) else a
                for kind, a, b in zip(case.results, ours, theirs)
            )
            for row, ours, theirs in zip(bundle.rows, mine, twins)
        ]
        for case, mine, twins in zip(bundle.cases, got, expected)
    ]


def _is_open(case, row, kind, twin):
    """Fields are said to have places and sizes up to 255; a move may keep the payload of a NaN."""
    if case.opcode in ("bfe", "bfi"):
        counts = (v for v, o in zip(row, case.operands) if o.endswith(":count"))
        return any(count > 255 for count in counts)
    return case.opcode == "cvt" and is_float(kind) and twin == 0x7FFFFFFF
