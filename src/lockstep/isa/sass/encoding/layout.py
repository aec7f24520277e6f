"""Loads the tables: for an architecture and an opcode field, the layouts it may have."""

import functools
import tomllib
from collections.abc import Collection, Iterable
from importlib import resources
from typing import NamedTuple

from lockstep.isa.sass.encoding import specification
from lockstep.isa.sass.encoding.slots import Reader, SlotContext, Words, every_value, reader

ARCHITECTURES = (70, 75, 80, 86, 89, 90)
TABLES = (
    "integer", "float", "half", "convert", "uniform", "predicate", "control", "memory", "texture",
    "tensor", "bulk",
)  # fmt: skip
FORM_SHIFT = 9
DESCRIPTORS = 90  # the first architecture whose access descriptors print
SPECIAL_REGISTERS = 256
VARIABLE_LATENCY = 0x100  # opcodes from here on leave their operands out of the reuse cache
MOST_WORDS = 4096  # combinations of modifiers that a layout remembers


class Vocabulary(NamedTuple):
    """What tables refer to by name: lists of words, and places of bits."""

    values: dict[str, tuple[Words, ...]]
    bits: dict[str, str]
    hidden: bool  # access descriptors do not print


class EncodingLayout:
    """How one instruction is encoded: its fixed bits, modifiers and operands."""

    __slots__ = (
        "_remembered", "fields", "guard", "mask", "match", "mnemonic", "power", "results",
        "selector", "sources", "words",
    )  # fmt: skip

    def __init__(self, entry: dict, form: int, words: Vocabulary):
        name = entry["name"].split(".")
        self.mnemonic, self.words = name[0], tuple(name[1:])
        self.guard: str = entry.get("guard", "P")
        self.mask, self.match = _when(entry.get("when", {}))
        self.power = _mask(specification.bits_of(entry.get("power_of_two", "")))
        self.fields = [_modifier(text, words.values) for text in entry.get("modifiers", ())]
        self.selector = _mask({bit for _, bits in self.fields for bit in bits})
        context = SlotContext(
            form,
            entry["code"] < VARIABLE_LATENCY,
            entry.get("file", "R"),
            entry.get("immediate", "unsigned"),
            entry.get("signs", {}),
            entry.get("halves", {}),
            words.values,
            words.bits,
            words.hidden,
        )
        self.results = _readers(entry.get("results", ()), context)
        self.sources = _readers(entry.get("sources", ()), context)
        self._remembered: dict[int, Words] = {}

    def fits(self, word: int) -> bool:
        """Whether the fixed bits of the word are those of this layout."""
        if word & self.mask != self.match:
            return False
        return not self.power or (word & self.power).bit_count() == 1

    def modifiers(self, word: int) -> Words:
        """The words after the mnemonic's dots."""
        chosen = word & self.selector
        words = self._remembered.get(chosen)
        if words is None:
            words = _joined(w for f, bits in self.fields for w in f[_gather(word, bits)])
            words = self.words + words
            if len(self._remembered) < MOST_WORDS:
                self._remembered[chosen] = words
        return words


def _joined(words: Iterable[str]) -> Words:
    """The words, a part of a shape such as ``x16`` joined to the one before it."""
    found: list[str] = []
    for word in words:
        if word[0] == "x":
            found[-1] += word
        else:
            found.append(word)
    return tuple(found)


def _readers(texts: list[str], context: SlotContext) -> list[Reader]:
    return [reader(text, context) for text in texts]


def _when(conditions: dict[str, int]) -> tuple[int, int]:
    mask = match = 0
    for where, value in conditions.items():
        for i, bit in enumerate(specification.bits_of(where)):
            mask |= 1 << bit
            match |= (value >> i & 1) << bit
    return mask, match


def _mask(bits: Collection[int]) -> int:
    return sum(1 << bit for bit in bits)


def _gather(word: int, bits: tuple[int, ...]) -> int:
    return sum((word >> bit & 1) << i for i, bit in enumerate(bits))


def _modifier(text: str, values: dict) -> tuple[tuple[Words, ...], tuple[int, ...]]:
    name, bits = specification.modifier(text)
    if not bits:  # words that are always there
        return (tuple(name.split(".")),), ()
    if name.isupper() or name[0].isdigit():  # a word that one bit adds
        return ((), (name,)), bits
    return every_value(values[name], bits), bits


def read(name: str) -> dict:
    """One table file, parsed."""
    package = resources.files("lockstep.isa.sass.encoding")
    return tomllib.loads(package.joinpath("tables", f"{name}.toml").read_text())


def _values(lists: dict[str, list[str] | dict[str, str]]) -> dict[str, tuple[Words, ...]]:
    return {name: _complete(values) for name, values in lists.items()}


def _complete(values: list[str] | dict[str, str]) -> tuple[Words, ...]:
    """Words by value; ``???n`` for a value that means nothing."""
    chosen = (
        {int(k): v for k, v in values.items()}
        if isinstance(values, dict)
        else dict(enumerate(values))
    )
    names = (chosen.get(i, f"???{i}") for i in range(max(chosen) + 1))
    return tuple(tuple(name.split(".")) if name else () for name in names)


def covers(entry: dict, architecture: int) -> bool:
    """Whether an entry is for that architecture: its ``since`` and ``until`` are inclusive."""
    return entry.get("since", 0) <= architecture <= entry.get("until", 999)


@functools.cache
def vocabulary(architecture: int) -> Vocabulary:
    """The names that tables use, with what newer architectures add or change."""
    data = read("values")
    values, bits = dict(data["values"]), dict(data["bits"])
    for change in data.get("change", ()):
        if covers(change, architecture):
            values.update(change.get("values", {}))
            bits.update(change.get("bits", {}))
    return Vocabulary(
        _values(values) | {"special": _special(architecture)}, bits, architecture < DESCRIPTORS
    )


def _special(architecture: int) -> tuple[Words, ...]:
    """Names of the special registers, by number."""
    data = read("special_registers")
    names = dict(data["names"])
    for change in data["change"]:
        if covers(change, architecture):
            names.update(change["names"])
    return tuple((names.get(str(i), f"SR{i}"),) for i in range(SPECIAL_REGISTERS))


@functools.cache
def layouts(architecture: int) -> dict[int, tuple[EncodingLayout, ...]]:
    """Layouts by the 12-bit opcode field; of several the first whose fixed bits fit is meant."""
    words = vocabulary(architecture)
    found: dict[int, list[EncodingLayout]] = {}
    for table in TABLES:
        data = read(table)
        for entry in data["instruction"]:
            full = data.get("default", {}) | entry
            for variant in full.get("variants", ({},)):
                if covers(full | variant, architecture):
                    _add(found, full | variant, words)
    return {code: tuple(each) for code, each in found.items()}


def _add(found: dict[int, list[EncodingLayout]], entry: dict, words: Vocabulary) -> None:
    for form in entry["forms"]:
        code = entry["code"] | form << FORM_SHIFT
        found.setdefault(code, []).append(EncodingLayout(entry, form, words))
