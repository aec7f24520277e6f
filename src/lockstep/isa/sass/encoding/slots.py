"""Turns operands of the tables into functions that read them from an instruction word.

A reader is called with the word, the modifiers already decoded, the pc, and the list of operands
to extend: an operand may be absent, and a packed immediate is two.
"""

from collections.abc import Callable

import msgspec

from lockstep.isa.sass.encoding import constants, specification
from lockstep.isa.sass.encoding.addresses import Reader, Signs, Words, address, signed
from lockstep.isa.sass.encoding.immediates import immediate
from lockstep.isa.sass.encoding.operand import (
    FILES,
    Address,
    Barriers,
    Immediate,
    Name,
    Register,
    Target,
)

NO_YIELD = 1 << 109  # operands stay in the reuse cache only if no other warp comes between

# The forms of arithmetic instructions: which source the 32-bit slot X holds, the other of B and C
# being in the register slot Y, and what X is.
FORMS = {
    1: ("B", "register"),
    2: ("C", "immediate"),
    3: ("C", "constant"),
    4: ("B", "immediate"),
    5: ("B", "constant"),
    6: ("B", "uniform"),
    7: ("C", "uniform"),
}
FIRST = {"A": 24, "X": 32, "Y": 64}  # bit of each slot
HALVES = {"A": "74-75", "X": "60-61", "Y": "81-82"}  # bits that choose a part of each slot
LANE_SIGNS = ("PP", "PN", "NP", "ZP")
SIGNS = {"A": (72, 73), "X": (63, 62), "Y": (75, 74)}  # bits: negated or inverted, absolute
REUSE = {"A": 122, "B": 123, "X": 123, "C": 124, "XC": 124, "Y": 124}  # XC: slot X as source C


class SlotContext(msgspec.Struct):
    """What operands of one layout share."""

    form: int
    reuses: bool = True  # whether operands can stay in the reuse cache
    file: str = "R"  # of the source slots
    immediate: str = "unsigned"  # how slot X reads as a number
    signs: dict[str, list[int]] = {}  # instead of SIGNS, by slot
    halves: dict[str, str] = {}  # instead of HALVES, by slot
    values: dict[str, tuple[Words, ...]] = {}
    bits: dict[str, str] = {}  # places that have a name
    hidden: bool = False  # access descriptors do not print


def reader(text: str | dict, context: SlotContext) -> Reader:
    """The function that reads the operand ``text`` of the tables; a memory operand is a dict."""
    if isinstance(text, dict):
        return address(text, context.hidden)
    for name, bits in context.bits.items():
        text = text.replace(f"@{name}", f"@{bits}")
    spec = specification.operand(text)
    read = _plain(spec, context)
    return _conditional(read, spec.condition, spec.unless) if spec.condition else read


def _conditional(read: Reader, condition: str, unless: bool) -> Reader:
    wanted = frozenset(condition.split(" or "))

    def by_word(word: int, words: Words, pc: int, out: list) -> None:
        if wanted.isdisjoint(words) == unless:
            read(word, words, pc, out)

    return by_word


def _plain(spec: specification.Operand, context: SlotContext) -> Reader:
    kind = spec.kind
    if kind in REUSE:
        return _slot(spec, context)
    if kind.startswith("'"):
        name = Name(kind.strip("'"))
        return lambda word, words, pc, out: out.append(name)
    if kind in ("PI", "UPI"):
        return _inverted_predicate(spec)
    if kind in ("P", "UP"):
        return _predicate(spec)
    if kind in FILES:
        return _register(spec, spec.bits[0], context)
    if kind in _KINDS:
        return _KINDS[kind](spec, context)
    return _word(spec, context.values[kind])


def _field(bits: tuple[int, ...]) -> Callable[[int], int]:
    first, mask = bits[0], (1 << len(bits)) - 1
    if bits == tuple(range(first, first + len(bits))):
        return lambda word: word >> first & mask
    return lambda word: sum((word >> bit & 1) << i for i, bit in enumerate(bits))


def every_value(words: tuple[Words, ...], bits: tuple[int, ...]) -> tuple[Words, ...]:
    """The words of each value that those bits can have; ``???n`` for one that means nothing."""
    return words + tuple((f"???{i}",) for i in range(len(words), 1 << len(bits)))


def _predicate(spec: specification.Operand) -> Reader:
    first, file, absent = spec.bits[0], spec.kind, spec.absent
    bit = spec.bits[-1] + 1 if len(spec.bits) > 1 else first + 3
    able = "!" in spec.signs

    def read(word: int, words: Words, pc: int, out: list) -> None:
        number = word >> first & 7
        inverted = bool(able and word >> bit & 1)
        if number != absent or inverted:
            out.append(Register(file, number, False, False, inverted))

    return read


def _inverted_predicate(spec: specification.Operand) -> Reader:
    """A predicate whose number is encoded as 7 minus itself, so that zero bits mean PT."""
    first, bit, file = spec.bits[0], spec.bits[-1] + 1, spec.kind.removesuffix("I")
    able = "!" in spec.signs

    def read(word: int, words: Words, pc: int, out: list) -> None:
        number, inverted = 7 - (word >> first & 7), bool(able and word >> bit & 1)
        if number != 7 or inverted:
            out.append(Register(file, number, inverted=inverted))

    return read


def _part(spec: specification.Operand, context: SlotContext) -> Callable[[int], str]:
    if not spec.parts:
        return lambda word: ""
    chosen = [(_field(bits), every_value(context.values[name], bits)) for name, bits in spec.parts]
    return lambda word: ".".join(w for get, values in chosen for w in values[get(word)])


def _register(spec: specification.Operand, first: int, context: SlotContext) -> Reader:
    file, mask = spec.kind.removeprefix("C"), (1 << FILES[spec.kind]) - 1
    signs = spec.signs
    part = _part(spec, context)
    bit = spec.bits[1] if len(spec.bits) == 2 else 0
    absent = spec.absent

    def read(word: int, words: Words, pc: int, out: list) -> None:
        number = word >> first & mask
        if number == absent:
            return
        on = bool(bit and word >> bit & 1)
        flags = (on and "-" in signs, False, on and bool({"~", "!"} & set(signs)))
        out.append(Register(file, number, *flags, False, part(word)))

    return read


def _slot(spec: specification.Operand, context: SlotContext) -> Reader:
    """A source of the arithmetic forms: where it is and what it is depend on the form."""
    place, content = spec.kind, "register"
    if place in ("B", "C"):
        held, what = FORMS[context.form]
        place, content = ("X", what) if held == place else ("Y", "register")
    elif place in ("X", "XC"):
        place, content = "X", FORMS[context.form][1]
    negative, absolute = context.signs.get(place, SIGNS[place])
    halves = specification.bits_of(context.halves.get(place, HALVES[place]))
    spec = spec._replace(parts=tuple((name, _expand(bits, halves)) for name, bits in spec.parts))
    sign = _signs(spec.signs, negative, absolute)
    if content == "immediate":
        return immediate(context.immediate)
    if content == "constant":
        return constants.with_signs(sign, _part(spec, context))
    return _source(place, "UR" if content == "uniform" else context.file, sign, spec, context)


def _expand(bits: tuple[int, ...], halves: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(b for bit in bits for b in (halves if bit == specification.SLOT else (bit,)))


def _signs(allowed: str, negative: int, absolute: int) -> Callable[[int, Words], Signs]:
    """A function to the flags negated, absolute, inverted."""
    if not allowed:
        return lambda word, words: (False, False, False)
    minus, tilde, bars = "-" in allowed, "~" in allowed, "|" in allowed

    def read(word: int, words: Words) -> Signs:
        on = bool(word >> negative & 1)
        flipped = tilde and (not minus or "X" in words)
        return on and not flipped, bars and bool(word >> absolute & 1), on and flipped

    return read


def _source(
    place: str,
    file: str,
    sign: Callable[[int, Words], Signs],
    spec: specification.Operand,
    context: SlotContext,
) -> Reader:
    first, mask, reuse = FIRST[place], (1 << FILES[file]) - 1, 1 << REUSE[spec.kind] | NO_YIELD
    part = _part(spec, context)
    if file == "UR" or not context.reuses:
        reuse = 0
    if not spec.signs and not spec.parts:

        def plain(word: int, words: Words, pc: int, out: list) -> None:
            kept = reuse != 0 and word & reuse == reuse
            out.append(Register(file, word >> first & mask, False, False, False, kept))

        return plain

    def read(word: int, words: Words, pc: int, out: list) -> None:
        kept = reuse != 0 and word & reuse == reuse
        out.append(Register(file, word >> first & mask, *sign(word, words), kept, part(word)))

    return read


def _word(spec: specification.Operand, values: tuple[Words, ...]) -> Reader:
    get, absent = _field(spec.bits), spec.absent
    missing = range(len(values), 1 << len(spec.bits))
    values += tuple((f"???{i}",) for i in missing)

    def read(word: int, words: Words, pc: int, out: list) -> None:
        code = get(word)
        name = ".".join(values[code])
        if code != absent:
            out.append(Name(name, code))

    return read


def _number(spec: specification.Operand, context: SlotContext) -> Reader:
    get, absent = _field(spec.bits), spec.absent

    def read(word: int, words: Words, pc: int, out: list) -> None:
        value = get(word)
        if value != absent:
            out.append(Immediate(value))

    return read


def _barriers(spec: specification.Operand, context: SlotContext) -> Reader:
    get, absent = _field(spec.bits), spec.absent

    def read(word: int, words: Words, pc: int, out: list) -> None:
        mask = get(word)
        if mask != absent:
            out.append(Barriers(mask))

    return read


def _target(spec: specification.Operand, context: SlotContext) -> Reader:
    """A displacement in words of 4 bytes, from the next instruction or, if ABS, from zero."""
    get, width = _field(spec.bits), len(spec.bits)
    kind, _, file = spec.kind.partition("_")
    mask, relative = (1 << FILES[file]) - 1 if file else 0, kind != "absolute"
    unit = 1 if kind == "bytes" else 4

    def read(word: int, words: Words, pc: int, out: list) -> None:
        address = (signed(get(word), width) if relative or file else get(word)) * unit
        from_here = relative and "ABS" not in words
        base = Register(file, word >> 24 & mask) if file else None
        out.append(Target(address + pc + 16 if from_here else address, base, relative))

    return read


def _matrices(spec: specification.Operand, context: SlotContext) -> Reader:
    """Descriptors of the matrices A and B in uniform registers, or of B alone."""
    both = spec.kind.endswith("A")
    first = 24 if both else 32
    flags = [(72, "negA")] * both + [(63, "negB")]
    if not spec.kind.endswith(("nA", "nB")):  # operands of 16 bits can be transposed
        flags += [(61, "tnspA")] * both + [(62, "tnspB")]

    def read(word: int, words: Words, pc: int, out: list) -> None:
        part = ".".join(name for bit, name in flags if word >> bit & 1)
        uniform = Register("UR", word >> first & 63)
        out.append(Address(uniform=uniform, kind="gdesc", part=part))

    return read


def _swizzle(spec: specification.Operand, context: SlotContext) -> Reader:
    """What each lane of a quad does to its two terms: add, subtract or drop them."""
    first = spec.bits[0]

    def read(word: int, words: Words, pc: int, out: list) -> None:
        code = word >> first & 255
        out.append(Name("".join(LANE_SIGNS[code >> shift & 3] for shift in (6, 4, 2, 0)), code))

    return read


def _next_register(spec: specification.Operand, context: SlotContext) -> Reader:
    """The pair after the one that the bits name."""
    first = spec.bits[0]
    return lambda word, words, pc, out: out.append(Register("UR", (word >> first & 63) + 2))


_KINDS: dict[str, Callable[[specification.Operand, SlotContext], Reader]] = {
    "imm": _number,
    "set": _barriers,
    "gdesc_A": _matrices,
    "gdesc_B": _matrices,
    "gdesc_nA": _matrices,
    "gdesc_nB": _matrices,
    "swizzle": _swizzle,
    "next_UR": _next_register,
    "indexed_R": lambda spec, _: constants.indexed(spec),
    "indexed_UR": lambda spec, _: constants.indexed(spec),
    "indexed_UC": lambda spec, _: constants.indexed(spec),
    "constant": lambda spec, _: constants.at_byte(),
    "bytes": _target,
    "relative": _target,
    "relative_R": _target,
    "relative_UR": _target,
    "absolute": _target,
    "absolute_R": _target,
    "absolute_UR": _target,
}
