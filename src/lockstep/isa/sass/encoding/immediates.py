"""Immediates: the 32 bits of slot X as an integer, one floating-point number or two halves."""

from lockstep.isa.sass.encoding.addresses import Reader, Words, signed
from lockstep.isa.sass.encoding.operand import Float, Immediate, to_float


def immediate(how: str) -> Reader:
    """The 32 bits of slot X as a number.

    It is ``signed``, ``unsigned``, ``float``, ``double``, ``half``, ``bfloat`` or two ``halves``;
    ``signed unless U8 or U16`` depends on the modifiers.
    """
    if how in _PACKED:
        return _PACKED[how]
    if how in ("float", "double"):
        width = 32 if how == "float" else 64

        def number(word: int, words: Words, pc: int, out: list) -> None:
            bits = word >> 32 & 0xFFFFFFFF
            out.append(Float(to_float(bits, width), bits, width))

        return number
    if how == "unsigned":
        return lambda word, words, pc, out: out.append(Immediate(word >> 32 & 0xFFFFFFFF))
    exceptions = frozenset(how.partition(" unless ")[2].split(" or "))

    def read(word: int, words: Words, pc: int, out: list) -> None:
        bits = word >> 32 & 0xFFFFFFFF
        positive = exceptions and not exceptions.isdisjoint(words)
        out.append(Immediate(bits if positive else signed(bits, 32)))

    return read


def _halves(word: int, words: Words, pc: int, out: list) -> None:
    """Two 16-bit numbers, the upper one first."""
    bfloat = "BF16_V2" in words
    for shift in (48, 32):
        bits = word >> shift & 0xFFFF
        out.append(Float(to_float(bits, 16, bfloat), bits, 16))


def _half(word: int, words: Words, pc: int, out: list) -> None:
    bits = word >> 32 & 0xFFFF
    out.append(Float(to_float(bits, 16), bits, 16))


def _bfloat(word: int, words: Words, pc: int, out: list) -> None:
    bits = word >> 32 & 0xFFFF
    out.append(Float(to_float(bits, 16, True), bits, 16))


_PACKED = {"halves": _halves, "half": _half, "bfloat": _bfloat}
