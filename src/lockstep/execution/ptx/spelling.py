"""Instructions whose modifiers are in another order than the manual's, as compilers print some.

``atom.add.release.gpu.u32`` is ``atom.release.gpu.add.u32``: ptxas 13.0 takes modifiers in any
order, but for those that make up the operation's name (``mul.lo``, ``cvta.to``), which come first,
and types, state spaces and layouts, which keep their order among each other.
"""

import functools
import re

from msgspec.structs import replace

from lockstep.execution.ptx.opcodes import TABLE, find
from lockstep.isa.ptx.syntax import Function

_HALVES = {"lo", "hi", "wide"}
_BARRIER = {"cta", "cluster", "sync", "arrive", "wait", "red", "warp"}
_NAMES = {
    **dict.fromkeys(("mul", "mad", "madc", "mul24", "mad24", "dp2a"), _HALVES),
    **dict.fromkeys(("bar", "barrier"), _BARRIER),
    "st": {"async"},
    "red": {"async"},
    "cp": {"async", "reduce", "bulk", "tensor", "prefetch", "mbarrier", "arrive", "wait_group"},
    "createpolicy": {"fractional", "range", "cvt"},
    "cvta": {"to"},
    "div": {"full"},
    "fence": {"proxy", "mbarrier_init"},
    "mbarrier": {
        *("init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx"),
        *("test_wait", "try_wait", "parity", "pending_count", "noComplete"),
    },
    "setmaxnreg": {"inc", "dec"},
    "tensormap": {"replace", "tile", "cp_fenceproxy"},
    "shf": {"l", "r"},
    "wgmma": {"mma_async", "sp"},
    "wmma": {"load", "store", "mma", "a", "b", "c", "d"},
}
"""Modifiers that are a part of an operation's name."""

_TYPE = re.compile(r"(?:[usbf]|bf|tf)\d+(?:x\d)?|u?e\dm\d(?:x\d)?|pred")
_KEEP_ORDER = [re.compile(p) for p in ("global|shared.*", "row|col", "xor|and|popc", "L2::evict.*")]


@functools.lru_cache(65536)
def spelling(name: str) -> str | None:
    """An instruction's full name as a form of the table has it, None if there is no such form."""
    if find(name) is not None:
        return name
    base, *words = name.split(".")
    for entry in TABLE.get(base, ()):
        for form in entry.forms:
            places = _places(form)
            if all(word in places for word in words):
                arranged = sorted(words, key=places.__getitem__)
                fits = entry.pattern.fullmatch(".".join([base, *arranged]))
                if fits and _fixed(base, arranged) == _fixed(base, words):
                    return fits[0]
    return None


@functools.cache
def _places(form: str) -> dict[str, int]:
    """The place of each modifier in a form; those of a choice share theirs, and all types."""
    places: dict[str, int] = {}
    choices = re.finditer(r"([\w:]*)\{([^{}]*)\}|[\w:]+", form.partition(".")[2])
    for number, found in enumerate(choices):
        front, choice = found.groups()
        for word in re.findall(r"[\w:]+", found[0] if choice is None else choice):
            places.setdefault((front or "") + word, number)
    types = [word for word in places if _TYPE.fullmatch(word)]
    return places | dict.fromkeys(types, min((places[t] for t in types), default=0))


def _fixed(base: str, words: list[str]) -> list[list[str]]:
    """What may not move: the name's part, and the order of types and the like."""
    names = _NAMES.get(base, ())
    count = next((k for k, word in enumerate(words) if word not in names), len(words))
    kept = [[w for w in words[count:] if kind.fullmatch(w)] for kind in _KEEP_ORDER]
    return [words[:count], *kept]


def respell(function: Function) -> None:
    """Put the modifiers of a function's instructions into the manual's order."""
    for number, instruction in enumerate(function.instructions):
        name = spelling(instruction.name)
        if name is not None and name != instruction.name:
            modifiers = tuple(name.split(".")[1:])
            function.instructions[number] = replace(instruction, modifiers=modifiers)
