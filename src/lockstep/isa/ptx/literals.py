"""Number literals: integers in four bases, bit patterns of floats, decimal floats."""

import re
import struct

from lockstep.isa.ptx.syntax import Immediate

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)(U?)", re.ASCII)
_PATTERN = re.compile(r"0([fF][0-9a-fA-F]{8}|[dD][0-9a-fA-F]{16})")
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?", re.ASCII)
_BASES = {"x": 16, "X": 16, "b": 2, "B": 2}
_LONGEST = 80  # characters; 64 binary digits, or a decimal float as compilers print it


def float_bits(value: float) -> int:
    """The 64-bit pattern of ``value``."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def bits_float(bits: int) -> float:
    """The float whose 64-bit pattern is ``bits``."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def read_literal(text: str) -> tuple[Immediate, bool] | None:
    """The value of ``text``, and whether it is an unsigned integer; None if it is no literal.

    Integers are unsigned if they say so with U or pass the largest signed 64-bit value.
    """
    if len(text) > _LONGEST:
        return None
    if match := _INTEGER.fullmatch(text):
        value = _integer(match[1])
        unsigned = bool(match[2]) or value >= 1 << 63
        return (Immediate(value), unsigned) if value < 1 << 64 else None
    if match := _PATTERN.fullmatch(text):
        digits = match[1][1:]
        return Immediate(int(digits, 16), 4 * len(digits)), False
    if _DECIMAL.fullmatch(text):
        return Immediate(float_bits(float(text)), 64), False
    return None


def _integer(digits: str) -> int:
    if len(digits) == 1 or digits[0] != "0":
        return int(digits)
    base = _BASES.get(digits[1])
    return int(digits[2:], base) if base else int(digits, 8)
