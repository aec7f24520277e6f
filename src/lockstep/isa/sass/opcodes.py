"""From an opcode's text to its meaning: the tables, the modifiers, and families for the rest."""

import functools
import itertools
import re
import tomllib
from pathlib import Path

import msgspec
import numpy as np

from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.isa.sass.widths import RULES, OpcodeParts
from lockstep.store import sources, tables

GENERATIONS = {
    "kepler": 30, "maxwell": 50, "pascal": 60, "volta": 70, "turing": 75, "ampere": 80, "ada": 89,
    "hopper": 90, "blackwell": 100,
}  # fmt: skip
"""The file of each table, oldest first, and the first SASS version (70 = sm_70) that it is for.

It stands here and not in the files, so that a trace of one version does not wait for all tables.
"""
NEWEST = next(reversed(GENERATIONS))
MEMORY_CLASSES = frozenset(
    {OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION, OpClass.ASYNC_COPY}
    | {OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE}
    | {OpClass.TEXTURE, OpClass.SURFACE}
    | {OpClass.CACHE_CONTROL}
)
DEFAULT_WIDTH = 4
UNKNOWN = "unknown"  # mnemonic of machine code whose encoding no table describes
_WIDTH = re.compile(r"(?:U|S|B|F|BF)?(8|16|32|64|128|256)(?:x(2|4|8))?")


class OpcodeEntry(msgspec.Struct, frozen=True):
    """What a table says of one opcode, or of one opcode with one modifier."""

    op: OpClass
    space: Space = Space.NONE
    width: int = 0
    widths: str | tuple[int, ...] = ""
    hidden_destination: int = 0


class OpcodeTable(msgspec.Struct, frozen=True):
    """The opcodes of one generation, those it inherits included."""

    name: str
    entries: dict[str, OpcodeEntry]
    variants: dict[tuple[str, str], OpcodeEntry]


class Opcode(msgspec.Struct, frozen=True):
    """An opcode with its modifiers, understood."""

    op: OpClass
    space: Space
    width: int  # bytes a thread accesses if the instruction has addresses
    cache: CachePolicy
    destination: int  # registers of the destination
    sources: tuple[int, ...]  # registers of each source; the last number repeats
    hidden_destination: int
    accumulates: bool  # the source that is also the destination is as wide as it


_FOLDER = Path(__file__).parent / "tables"


def _read(name: str) -> dict:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text())


def _entry(group: dict) -> OpcodeEntry:
    widths = group.get("widths", "")
    return OpcodeEntry(
        OpClass[group["class"]],
        Space[group.get("space", "NONE")],
        group.get("width", 0),
        widths if isinstance(widths, str) else tuple(widths),
        group.get("hidden_destination", 0),
    )


@functools.cache
def load(name: str) -> OpcodeTable:
    """The table of one generation, by its file name."""
    own = sources.closure("isa/sass/opcodes.py")
    files = [*own, *sources.files_in("isa/sass/tables", (".toml",))]
    return tables.kept(f"opcodes of {name}", files, OpcodeTable, lambda: _made(name))


def _made(name: str) -> OpcodeTable:
    data = _read(name)
    entries: dict[str, OpcodeEntry] = {}
    variants: dict[tuple[str, str], OpcodeEntry] = {}
    if "extends" in data:
        parent = load(data["extends"])
        entries, variants = dict(parent.entries), dict(parent.variants)
    for group in data.get("group", ()):
        entries.update(dict.fromkeys(group["opcodes"], _entry(group)))
    for variant in data.get("variant", ()):
        variants[variant["opcode"], variant["modifier"]] = _entry(variant)
    return OpcodeTable(data["name"], entries, variants)


@functools.cache
def table(architecture: int) -> OpcodeTable:
    """The table for a SASS version: the newest generation that is not newer than it.

    0 (unknown) and versions before all tables get the newest one.
    """
    fitting = (name for name in reversed(GENERATIONS) if GENERATIONS[name] <= architecture)
    return load(next(fitting, NEWEST))


@functools.cache
def _modifiers() -> dict:
    return _read("modifiers")


def is_known(opcode: str, architecture: int) -> bool:
    """Whether the tables list the opcode for that SASS version (for any version if it is 0)."""
    base = opcode.partition(".")[0]
    if architecture == 0:
        return any(base in load(name).entries for name in GENERATIONS)
    return base in table(architecture).entries


def unlisted(instructions: np.ndarray, texts: list[str], architecture: int) -> np.ndarray:
    """Which records, of those opcodes, are machine code that no generation's table lists.

    Most are classed by a family none the less. Opcodes of PTX, in lower case, are no machine code.
    ``architecture``: the SASS version of the code, whose table is looked into first.
    """
    named = np.array([text == UNKNOWN or _is_unlisted(text, architecture) for text in texts], bool)
    return (instructions["op"] == OpClass.UNKNOWN) | named[instructions["text"]]


@functools.lru_cache(maxsize=1 << 16)
def _is_unlisted(opcode: str, architecture: int) -> bool:
    if not opcode.partition(".")[0].isupper():
        return False
    return not (is_known(opcode, architecture) or is_known(opcode, 0))


def opcodes(architecture: int) -> dict[str, OpClass]:
    """Every base opcode of that SASS version and its class."""
    return {base: entry.op for base, entry in table(architecture).entries.items()}


@functools.lru_cache(maxsize=1 << 16)
def decode(opcode: str, architecture: int, addressed: bool) -> Opcode:
    """The meaning of an opcode; one in no table is classed by its family, never refused."""
    base, *rest = opcode.split(".")
    modifiers = tuple(rest)
    entry = _find(base, modifiers, architecture) or _guess(base, addressed)
    memory = addressed or entry.op in MEMORY_CLASSES
    width = entry.width or (_width(modifiers) if memory else 0)
    space = Space.GENERIC if addressed and entry.space == Space.NONE else entry.space
    operation = OpcodeParts(base, modifiers, entry.op, space, width)
    destination, sources = _widths(entry.widths, operation)
    return Opcode(
        entry.op,
        space,
        width,
        _cache_policy(modifiers) if memory else CachePolicy.DEFAULT,
        destination,
        sources,
        entry.hidden_destination,
        entry.widths == "warpgroup",
    )


def _find(base: str, modifiers: tuple[str, ...], architecture: int) -> OpcodeEntry | None:
    own = table(architecture)
    for modifier in modifiers:
        if (base, modifier) in own.variants:
            return own.variants[base, modifier]
    if base in own.entries:
        return own.entries[base]
    others = (load(name).entries for name in reversed(GENERATIONS))
    return next((entries[base] for entries in others if base in entries), None)


def _guess(base: str, addressed: bool) -> OpcodeEntry:
    """The class of an opcode in no table: the longest known name it begins with, or its family."""
    known = load(NEWEST).entries
    begins = (base[:n] for n in range(len(base) - 1, 2, -1))
    longest = next((known[name] for name in begins if name in known), None)
    if longest and (not addressed or longest.op in MEMORY_CLASSES):
        return longest
    op = _family(base)
    if addressed and op not in MEMORY_CLASSES:
        op = OpClass.LOAD
    return OpcodeEntry(op, Space[_modifiers()["family_space"].get(op.name, "NONE")])


def _family(base: str) -> OpClass:
    families = _modifiers()["family"]
    fitting = [prefix for prefix in families if base.startswith(prefix)]
    return OpClass[families[max(fitting, key=len)]] if fitting else OpClass.UNKNOWN


def _width(modifiers: tuple[str, ...]) -> int:
    for modifier in modifiers:
        match = _WIDTH.fullmatch(modifier)
        if match:
            return min(64, int(match[1]) * int(match[2] or 1) // 8)
    return DEFAULT_WIDTH


def _cache_policy(modifiers: tuple[str, ...]) -> CachePolicy:
    named = _modifiers()["cache"]
    keys = (*modifiers, *map(".".join, itertools.pairwise(modifiers)))
    policy = CachePolicy.DEFAULT
    for key in keys:
        if key in named:
            policy |= CachePolicy[named[key]]
    return policy


def _widths(widths: str | tuple[int, ...], operation: OpcodeParts) -> tuple[int, tuple[int, ...]]:
    if isinstance(widths, str):
        return RULES[widths](operation)
    return widths[0], widths[1:] or (1,)
