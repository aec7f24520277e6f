"""Changes of an input: seeded, of any bytes, and of text by its lines, words and numbers.

A mutation is a function of a ``random.Random`` and the bytes that gives other bytes; those that
join two inputs also take the other one.
"""

import random
import re
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes, bytes], bytes]

LENGTHS = (1, 1, 2, 4, 8, 16, 50, 300)
EDGES = (
    *(0, 1, 2, 7, 31, 32, 33, 127, 128, 255, 256, 1023, 1024, 1025, 32767, 65535, 65536),
    *((1 << 24) - 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 53) + 1),
    *((1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 10**30),
)
NUMBERS = (
    *map(str, EDGES),
    *(str(-n) for n in EDGES),
    *("0x0", "0xffffffff", "0xffffffffffffffff", "0x1" + "0" * 20, "1e308", "1e999", "-0.0"),
    *("nan", "inf", "-inf", "0.1", "1e-320", "1_000", "08", "+5", "", "٣", "1" * 5000),
)
ODD = (
    "\0",
    "\x1b[2J",
    "\r",
    "\r\n",
    "\n",
    "\t",
    " ",
    "é",
    "\ud7ff",
    "￿",
    '"',
    "'",
    "\\",
    "#",
    "%n",
)
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_DIGIT = re.compile(rb"(?<![A-Za-z_])[0-9](?![A-Za-z_])")
_DIGITS = [b"%d" % n for n in range(10)]
_WORD = re.compile(rb"[A-Za-z0-9_.$%+-]+")
_SIZES = (1, 2, 4, 8)


def _place(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _slice(chance: random.Random, data: bytes) -> tuple[int, int]:
    start = _place(chance, data)
    return start, min(len(data), start + chance.choice(LENGTHS))


def flip(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """One to eight bits."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 8)) if data else 0):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """The rest is gone, or the beginning."""
    place = _place(chance, data)
    return data[place:] if chance.random() < 0.1 else data[:place]


def remove(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A piece is gone."""
    start, stop = _slice(chance, data)
    return data[:start] + data[stop:]


def insert(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """Random bytes, or the same one again and again."""
    place, count = _place(chance, data), chance.choice(LENGTHS)
    piece = chance.choice((chance.randbytes(count), chance.randbytes(1) * count))
    return data[:place] + piece + data[place:]


def overwrite(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """Random bytes, zeros or ones in the place of others."""
    start, stop = _slice(chance, data)
    piece = chance.choice((chance.randbytes(stop - start), bytes(stop - start)))
    return data[:start] + chance.choice((piece, b"\xff" * (stop - start))) + data[stop:]


def repeat(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A piece once more, where it is or elsewhere."""
    start, stop = _slice(chance, data)
    place = chance.choice((stop, _place(chance, data)))
    return data[:place] + data[start:stop] + data[place:]


def number(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A binary number, of either byte order, becomes an edge or a neighbour."""
    size = chance.choice(_SIZES)
    if len(data) < size:
        return data
    start = chance.randrange(len(data) - size + 1)
    start -= start % size if chance.random() < 0.7 else 0
    order = "little" if chance.random() < 0.9 else "big"
    old = int.from_bytes(data[start : start + size], order)
    new = chance.choice((chance.choice(EDGES), old + 1, old - 1, old * 2, -old, old ^ 1 << 7))
    piece = (new & (1 << 8 * size) - 1).to_bytes(size, order)
    return data[:start] + piece + data[start + size :]


def splice(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one input and the end of another, or a piece of it in between."""
    place = _place(chance, data)
    if chance.random() < 0.5:
        return data[:place] + other[_place(chance, other) :]
    start, stop = _slice(chance, other)
    return data[:place] + other[start:stop] + data[place:]


BINARY: tuple[Mutation, ...] = (
    *(flip, flip, number, number, number, cut, remove, insert, overwrite, repeat, splice),
)


def _a_line(chance: random.Random, lines: Sequence[bytes]) -> int:
    return chance.randrange(len(lines))


def lines(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """A line is gone, is there twice, changes places with another or comes from elsewhere."""
    rows = data.split(b"\n")
    a, b = _a_line(chance, rows), _a_line(chance, rows)
    match chance.randrange(5):
        case 0:
            del rows[a]
        case 1:
            rows.insert(b, rows[a])
        case 2:
            rows[a], rows[b] = rows[b], rows[a]
        case 3:
            rows.insert(a, chance.choice(other.split(b"\n")))
        case _:
            del rows[a : a + chance.choice((2, 5, 50))]
    return b"\n".join(rows)


def _replaced(chance: random.Random, data: bytes, pattern: re.Pattern, new: bytes) -> bytes:
    """What the pattern finds behind a random place; a search from there is cheap in long files."""
    found = pattern.search(data, _place(chance, data)) or pattern.search(data)
    return data[: found.start()] + new + data[found.end() :] if found else data


def text_number(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A number becomes an edge."""
    return _replaced(chance, data, _NUMBER, chance.choice(NUMBERS).encode("utf-8"))


def digit(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A digit becomes another one: mostly another legal input."""
    return _replaced(chance, data, _DIGIT, chance.choice(_DIGITS))


def odd(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """A character that breaks quotes, terminals or encodings."""
    place = _place(chance, data)
    return data[:place] + chance.choice(ODD).encode("utf-8") + data[place:]


def run(chance: random.Random, data: bytes, _: bytes) -> bytes:
    """One character many times: deep nesting, long words."""
    start, stop = _slice(chance, data)
    piece = (data[start:stop] or b"(")[:3] * chance.choice((10, 1000, 30000))
    return data[:start] + piece + data[start:]


def word(known: Sequence[str]) -> Mutation:
    """A mutation that puts a known word in the place of another, or anywhere."""
    words = [text.encode("utf-8") for text in known]

    def change(chance: random.Random, data: bytes, other: bytes) -> bytes:
        new = chance.choice(words) if words and chance.random() < 0.7 else _taken(chance, other)
        if chance.random() < 0.6:
            return _replaced(chance, data, _WORD, new)
        place = _place(chance, data)
        return data[:place] + new + data[place:]

    return change


def _taken(chance: random.Random, other: bytes) -> bytes:
    found = _WORD.search(other, _place(chance, other)) or _WORD.search(other)
    return found[0] if found else b""


def text(known: Sequence[str] = ()) -> tuple[Mutation, ...]:
    """Mutations of text in which those words mean something."""
    change = word(known)
    often = (digit, digit, digit, text_number, text_number, lines, lines, change, change)
    return (*often, odd, flip, cut, remove, insert, repeat, splice, run)


def mutate(
    chance: random.Random, data: bytes, other: bytes, mutations: Sequence[Mutation]
) -> bytes:
    """One change, or a few."""
    for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 3, 6))):
        data = chance.choice(mutations)(chance, data, other)
    return data
