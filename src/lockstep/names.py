"""C++ names of kernels from the names that linkers see."""

import functools
import re
from typing import Any

_CONSTANT = re.compile(r"\((bool|(?:unsigned )?(?:int|long(?: long)?))\)(n?)(\d+)")
_SUFFIXES = {"unsigned": "u", "long": "l", "int": ""}
_MANGLED = re.compile(r"(?<![\w/.])_Z\w+(?![\w/]|\.\w)")  # but no part of a path


def demangled(name: str) -> str:
    """``void scale<float>(float*, int)`` for ``_Z5scaleIfEvPT_i``; other names as they are."""
    parsed = _parsed(name)
    return name if parsed is None else _text(parsed)


def short_name(name: str) -> str:
    """``scale<float>`` for ``_Z5scaleIfEvPT_i``: no result and no parameters."""
    parsed = _parsed(name)
    if parsed is None:
        return name
    return _text(parsed.name if parsed.kind == "func" else parsed)


def all_demangled(text: str) -> str:
    """A text, such as a message, with every mangled name in it demangled."""
    return _MANGLED.sub(lambda match: demangled(match[0]), text)


@functools.lru_cache(maxsize=4096)
def _parsed(name: str) -> Any:
    """The name's syntax tree; None where it is not mangled, or in a way that is not known."""
    if not name.startswith("_Z"):
        return None
    import itanium_demangler  # takes longer to load than most programs need

    try:
        parsed = itanium_demangler.parse(name)
        return None if parsed is None or not str(parsed) else parsed
    except (NotImplementedError, ValueError, IndexError, AttributeError, RecursionError, TypeError):
        return None


def _text(node: Any) -> str:
    return _CONSTANT.sub(_constant, str(node))


def _constant(match: re.Match) -> str:
    """A template's constant as in a program: 4 for "(int)4", true for "(bool)1"."""
    kind, negative, digits = match.groups()
    if kind == "bool":
        return "true" if digits != "0" else "false"
    return "-" * bool(negative) + digits + "".join(_SUFFIXES[word] for word in kind.split())
