"""How many registers each operand has; disassembly and traces give only the first of each.

A rule returns the widths of the destination and of the sources by position. The last source width
repeats for the sources that follow.
"""

import re
from typing import NamedTuple

from lockstep.isa.instruction import WARP_SIZE, OpClass, Space

GROUP_LANES = 4 * WARP_SIZE  # a warpgroup
LEAST_COLUMNS = 8
REGISTER_BITS = 32

# m, n and k of the matrix products; the digits run together in the opcode.
SHAPES = {
    "884": (8, 8, 4),
    "1684": (16, 8, 4),
    "1688": (16, 8, 8),
    "8816": (8, 8, 16),
    "8832": (8, 8, 32),
    "16816": (16, 8, 16),
    "16832": (16, 8, 32),
    "16864": (16, 8, 64),
    "88128": (8, 8, 128),
    "168128": (16, 8, 128),
    "168256": (16, 8, 256),
}
ELEMENT_BITS = {
    "F64": 64, "F32": 32, "TF32": 32, "F16": 16, "BF16": 16, "S8": 8, "U8": 8, "S4": 4, "U4": 4,
    "B1": 1, "E4M3": 8, "E5M2": 8, "E3M2": 8, "E2M3": 8, "E2M1": 4,
}  # fmt: skip
INPUT_BITS = {"HMMA": 16, "IMMA": 8, "BMMA": 1, "DMMA": 64, "QMMA": 8, "OMMA": 4}
DEFAULT_SHAPE = (16, 8, 16)
VOLTA_QUAD_PAIR = (2, (2, 2, 2, 1))  # one step of the 8x8x4 product: a pair of each
_FLOATS = {"F16", "F32", "F64"}
_INTEGERS = {"S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64"}
_GROUP_SHAPE = re.compile(r"(\d{1,3})x(\d{1,3})x(\d{1,3})")
_COUNT = re.compile(r"x?(\d{1,3})")


class OpcodeParts(NamedTuple):
    """What the rules look at: the opcode in parts and what the tables say of it."""

    base: str
    modifiers: tuple[str, ...]
    op: OpClass
    space: Space
    width: int  # bytes a thread accesses


Widths = tuple[int, tuple[int, ...]]


def _registers(elements: int, bits: int, lanes: int = WARP_SIZE) -> int:
    return max(1, elements * bits // (lanes * REGISTER_BITS))


def _accumulator_bits(o: OpcodeParts) -> int:
    if o.op == OpClass.DMMA:
        return 64
    kinds = [m for m in o.modifiers if m in ELEMENT_BITS]
    return 16 if kinds[:1] == ["F16"] else 32


def matrix(o: OpcodeParts) -> Widths:
    """Fragments of a warp's product D = A x B + C: their share of 32 lanes.

    Sources are A, B, C, then single registers (metadata of a sparse product, selectors).
    """
    if o.base == "HMMA" and "884" in o.modifiers:
        return VOLTA_QUAD_PAIR
    m, n, k = next((SHAPES[x] for x in o.modifiers if x in SHAPES), DEFAULT_SHAPE)
    kinds = [x for x in o.modifiers if x in ELEMENT_BITS]
    bits = INPUT_BITS.get(o.base, 16)
    if o.base == "IMMA" and kinds:
        bits = ELEMENT_BITS[kinds[0]]
    elif "TF32" in kinds:
        bits = 32
    a = _registers(m * k // (2 if "SP" in o.modifiers else 1), bits)
    d = _registers(m * n, _accumulator_bits(o))
    return d, (a, _registers(k * n, bits), d, 1)


def warpgroup(o: OpcodeParts) -> Widths:
    """Products of a warpgroup: the accumulator is shared by 128 lanes.

    Inputs are descriptors of two 64-bit halves for A and B, or a fragment of A of the same size.
    """
    shapes = [_GROUP_SHAPE.fullmatch(x) for x in o.modifiers]
    m, n = next(((int(s[1]), int(s[2])) for s in shapes if s), (64, 8))
    return _registers(min(m, 64) * min(n, 256), _accumulator_bits(o), GROUP_LANES), (4,)


def group_columns(opcode: str) -> int:
    """Columns of a product of a warpgroup, from an opcode such as HGMMA.64x128x16.F32."""
    shapes = (_GROUP_SHAPE.fullmatch(x) for x in opcode.split("."))
    return next((int(s[2]) for s in shapes if s), LEAST_COLUMNS)


def convert(o: OpcodeParts) -> Widths:
    """64-bit types are pairs; F2F names the destination type first, the others by kind."""
    kinds = [m for m in o.modifiers if m in _FLOATS or m in _INTEGERS]
    if o.base in ("F2F", "FRND", "I2I"):
        to, of = kinds[:1], kinds[-1:]
    else:
        to_float = o.base.startswith("I2F")
        to = [k for k in kinds if (k in _FLOATS) == to_float]
        of = [k for k in kinds if (k in _FLOATS) != to_float]
    return (1 + _is_64(to), (1 + _is_64(of),))


def _is_64(kinds: list[str]) -> bool:
    return any(k.endswith("64") for k in kinds)


def memory(o: OpcodeParts) -> Widths:
    """The data operand has the access width; a 64-bit (``.E``) address is a pair."""
    wide = "E" in o.modifiers and o.space in (Space.GLOBAL, Space.GENERIC)
    return _data_registers(o), (1 + wide, _data_registers(o))


def _data_registers(o: OpcodeParts) -> int:
    if o.base in ("LDSM", "STSM"):  # .2 and .4: that many 8 x 8 matrices, a register each
        return next((int(m) for m in o.modifiers if m in ("2", "4")), 1)
    registers = max(1, o.width // 4)
    return max(1, registers // 2) if "ENL2" in o.modifiers else registers


def compare_and_swap(o: OpcodeParts) -> Widths:
    """Before Volta the comparand and the new value are consecutive registers of one operand."""
    data, (address, _) = memory(o)
    return data, (address, 2 * data)


def surface(o: OpcodeParts) -> Widths:
    """The coordinates, then the data: bytes (.D), or channels in the surface's format (.P)."""
    axes = next((_AXES[m[:2]] + m.endswith("_ARRAY") for m in o.modifiers if m[:2] in _AXES), 1)
    data = _data_registers(o)
    if "P" in o.modifiers:
        data = next((count for part, count in _PARTS.items() if part in o.modifiers), 4)
    return data, (axes, 1) if o.base == "SULD" else (axes, data, 1)


def tensor(o: OpcodeParts) -> Widths:
    """Tensor memory to or from registers: ``.x32`` is 32 registers a lane."""
    counts = [_COUNT.fullmatch(m) for m in o.modifiers if m.startswith("x")]
    count = next((min(int(c[1]), 128) for c in counts if c), 1)
    return count, (1, count)


def by_class(o: OpcodeParts) -> Widths:
    """What holds where a table gives no widths."""
    if o.op in _MEMORY:
        return memory(o)
    if "64" in o.modifiers and o.op in _PAIRED:
        return 2, (2,)
    return 1, (1,)


_MEMORY = {OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION}
_AXES = {"1D": 1, "2D": 2, "3D": 3}
_PARTS = {"R": 1, "RG": 2}
_PAIRED = {OpClass.INT32, OpClass.MOVE, OpClass.UNIFORM}
RULES = {
    "": by_class,
    "matrix": matrix,
    "warpgroup": warpgroup,
    "convert": convert,
    "surface": surface,
    "tensor": tensor,
    "compare_and_swap": compare_and_swap,
}
