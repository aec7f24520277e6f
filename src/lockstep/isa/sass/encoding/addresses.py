"""Reads memory operands, which the tables describe as ``{ base = 24, offset = "40-63", ... }``.

| key | meaning |
|---|---|
| ``base`` | first bit of the vector register |
| ``uniform`` | first bit of a uniform register that is added |
| ``offset`` | bits of the signed byte offset |
| ``wide`` | bit that makes the base a 64-bit pair; without it the base is 32 bits, ``.U32`` |
| ``scale`` | bits that choose a factor of the base |
| ``descriptor`` | bit that makes the uniform register an access descriptor |
| ``descriptor_next`` | first bit of a uniform register, the one after which is the descriptor |
| ``optional`` | URZ does not print |
| ``signed`` | an offset alone prints with its sign |
| ``kind`` | a word before the bracket |
| ``only`` | bit without which the operand is not there |
| ``zero`` | RZ prints even beside another term |
"""

from collections.abc import Callable

from lockstep.isa.sass.encoding import specification
from lockstep.isa.sass.encoding.operand import ZERO, Address, Register

Words = tuple[str, ...]
Signs = tuple[bool, bool, bool]
"""Negated, absolute, inverted."""
Uniform = tuple[Register | None, Register | None, bool]
Reader = Callable[[int, Words, int, list], None]
EXPLICIT = 101  # bit with which access descriptors print before Hopper
SCALES = ("", "X4", "X8", "X16")


def address(description: dict, hidden: bool) -> Reader:
    """The function that reads the memory operand of a ``description``.

    Where descriptors are ``hidden`` they exist but do not print (before Hopper).
    """
    low, width = _span(description.get("offset"))
    base, terms = _base(description), _uniform(description, hidden)
    shown, kind = description.get("zero", False), description.get("kind", "")
    only, wide = description.get("only"), "wide" in description
    plain = description.get("signed", False)

    def read(word: int, words: Words, pc: int, out: list) -> None:
        if only is not None and not word >> only & 1:
            return
        bits = word >> low & ((1 << width) - 1)
        register = base(word)
        uniform, descriptor, described = terms(word)
        offset = signed(bits, width) if width else 0
        if register is not None and register.is_zero and not (shown or described):
            if uniform is None and bits and not wide:
                register, offset = None, offset if plain else bits
            elif uniform is not None and (not register.part or (hidden and wide)):
                register = None
        out.append(Address(register, uniform, offset, descriptor, kind))

    return read


def signed(value: int, width: int) -> int:
    """Two's complement of ``width`` bits."""
    return value - (1 << width) if value >> (width - 1) else value


def _base(description: dict) -> Callable[[int], Register | None]:
    if "base" not in description:
        return lambda word: None
    first, part = description["base"], _part(description)
    return lambda word: Register("R", word >> first & 255, part=part(word))


def _uniform(description: dict, hidden: bool) -> Callable[[int], Uniform]:
    """A function to: the register that is added, the descriptor, whether there is one."""
    first: int | None = description.get("uniform")
    after: int | None = description.get("descriptor_next")
    bit, optional = description.get("descriptor"), description.get("optional", False)

    def read(word: int) -> Uniform:
        number = None if first is None else word >> first & 63
        number = None if optional and number == ZERO["UR"] else number
        described = bit is not None and bool(word >> bit & 1)
        if not described:
            return (None if number is None else Register("UR", number)), None, False
        access = number if after is None else (word >> after & 63) + 1
        if access is None or (hidden and not word >> EXPLICIT & 1):
            return None, None, True
        return None, Register("UR", access), True

    return read


def _span(bits: str | None) -> tuple[int, int]:
    if bits is None:
        return 0, 0
    numbers = specification.bits_of(bits)
    return numbers[0], len(numbers)


def _part(description: dict) -> Callable[[int], str]:
    if "scale" in description:
        low, width = _span(description["scale"])
        return lambda word: SCALES[word >> low & ((1 << width) - 1)]
    if "wide" in description:
        bit = description["wide"]
        return lambda word: "64" if word >> bit & 1 else "U32"
    return lambda word: ""
