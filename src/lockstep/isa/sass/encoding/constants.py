"""Readers of operands in constant memory: see ``slots.py`` for what a reader is."""

from collections.abc import Callable

from lockstep.isa.sass.encoding import specification
from lockstep.isa.sass.encoding.addresses import Reader, Signs, Words, signed
from lockstep.isa.sass.encoding.operand import FILES, Constant, Register


def with_signs(sign: Callable[[int, Words], Signs], part: Callable[[int], str]) -> Reader:
    """Slot X of an arithmetic form: a word, with its signs and the part of it that is taken."""

    def read(word: int, words: Words, pc: int, out: list) -> None:
        flags = sign(word, words)
        offset = word >> 38 & 0xFFFC
        if word >> 91 & 1:
            bank: int | Register = Register("UR", word >> 32 & 63)
        else:
            bank, offset = word >> 54 & 31, signed(offset, 16)
        out.append(Constant(bank, offset, None, *flags, part(word)))

    return read


def indexed(spec: specification.Operand) -> Reader:
    """At a register plus an offset, in a numbered or a bindless bank."""
    if spec.kind == "indexed_UR":

        def bindless(word: int, words: Words, pc: int, out: list) -> None:
            index = Register("R", word >> 64 & 255)
            bank = Register("UR", word >> 24 & 63)
            out.append(_at(bank, signed(word >> 38 & 0xFFFF, 16), index))

        return bindless
    file = "UR" if spec.kind == "indexed_UC" else "R"
    mask = (1 << FILES[file]) - 1

    def read(word: int, words: Words, pc: int, out: list) -> None:
        index = Register(file, word >> 24 & mask)
        out.append(_at(word >> 54 & 31, signed(word >> 38 & 0xFFFF, 16), index))

    return read


def _at(bank: int | Register, offset: int, index: Register) -> Constant:
    """RZ as an index does not print beside an offset."""
    return Constant(bank, offset, None if index.is_zero and offset else index)


def at_byte() -> Reader:
    """At an offset that counts bytes, for loads of any size."""

    def read(word: int, words: Words, pc: int, out: list) -> None:
        offset = word >> 38 & 0xFFFF
        if word >> 91 & 1:
            out.append(Constant(Register("UR", word >> 24 & 63), offset))
        else:
            out.append(Constant(word >> 54 & 31, signed(offset, 16)))

    return read
