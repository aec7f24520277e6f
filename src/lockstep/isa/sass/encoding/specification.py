"""Reads the words in which the tables describe operands and modifiers.

An operand is ``-|A|.half@74-75 if X``: signs that may apply, a kind, bits, parts, and when it is
there at all. ``tables/README.md`` has the grammar.
"""

import re
from typing import NamedTuple

from lockstep.isa.sass.encoding.operand import ZERO

SLOT = -1  # stands for the bits that the source slot has for a part
_OPERAND = re.compile(
    r"(?P<signs>[-!~|]*)(?P<kind>[A-Za-z0-9_/']+)\|?(?:@(?P<bits>[\d,-]+))?"
    r"(?P<parts>(?:\.\w+@[*\d,-]+)*)(?P<optional>\?\d*)?"
    r"(?: (?P<sense>if|unless) (?P<condition>.+))?"
)


class Operand(NamedTuple):
    """An operand of the tables, in parts."""

    signs: str
    kind: str
    bits: tuple[int, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...]
    absent: int | None  # the value at which the operand is not there
    condition: str  # words of which one must be among the modifiers, or "" for always
    unless: bool


class Modifier(NamedTuple):
    """A group of bits that chooses a word: the name of the list of words, and the bits."""

    values: str
    bits: tuple[int, ...]


def bits_of(text: str) -> tuple[int, ...]:
    """``73-75,80`` as bit numbers, least significant first; ``*`` is SLOT."""
    numbers: list[int] = []
    for part in text.split(",") if text else ():
        if part == "*":
            numbers.append(SLOT)
            continue
        low, dash, high = part.partition("-")
        numbers.extend(range(int(low), int(high if dash else low) + 1))
    return tuple(numbers)


def operand(text: str) -> Operand:
    """Parse one operand; ValueError if it does not follow the grammar."""
    match = _OPERAND.fullmatch(text)
    if not match:
        raise ValueError(f"cannot read the operand {text!r}")
    parts = [part.split("@") for part in match["parts"].split(".")[1:]]
    return Operand(
        match["signs"],
        match["kind"],
        bits_of(match["bits"]) if match["bits"] else (),
        tuple((name, bits_of(where)) for name, where in parts),
        _absent(match["kind"], match["optional"]),
        match["condition"] or "",
        match["sense"] == "unless",
    )


def _absent(kind: str, text: str | None) -> int | None:
    if not text:
        return None
    return int(text[1:]) if len(text) > 1 else ZERO.get(kind, 0)


def modifier(text: str) -> Modifier:
    """Parse one modifier, ``values@bits``; ``@always`` has no bits."""
    values, _, where = text.partition("@")
    return Modifier(values, () if where == "always" else bits_of(where))
