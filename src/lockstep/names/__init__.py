"""C++ names of kernels from the names that linkers see."""

import functools
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_MOST_CALLS = 200_000  # for one name: about seven a character where it refers to nothing

_CONSTANT = re.compile(r"\((bool|(?:unsigned )?(?:int|long(?: long)?))\)(n?)(\d+)")
_NEGATIVE = re.compile(r"\)n(?=\d)")  # of other types, which keep their name: "(short)n4"
_SUFFIXES = {"unsigned": "u", "long": "l", "int": ""}
_NAMELESS = re.compile(r"\b_GLOBAL__N_\w*")  # how nvcc spells a namespace without a name
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
    from lockstep.names.parser import parse as parsed_name  # takes longer to load than most need

    def parse() -> Any:
        parsed = parsed_name(name)
        parsed = None if parsed is None else _spread(parsed)
        return None if parsed is None or not str(parsed) else parsed

    try:
        return _bounded(parse)
    except (
        NotImplementedError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
        TypeError,
    ):
        return None


def _bounded(function: Callable[[], Any]) -> Any:
    """The function's result; a ValueError where that would take too many calls.

    A name may refer to its own parts, twice to each: then 300 characters are a text of gigabytes.
    The calls that are made grow with that text. Where somebody profiles the process they are not
    counted: a profiler such as ``cProfile`` could not go on afterwards.
    """
    if sys.getprofile() is not None:
        return function()
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"
        if calls > _MOST_CALLS:
            raise ValueError("the name stands for too long a text")

    sys.setprofile(count)
    try:
        return function()
    finally:
        sys.setprofile(None)


def _spread(node: Any) -> Any:
    """A tree with the elements of parameter packs in their places, which the library leaves out."""
    if node.kind == "func":
        types = [_spread(one) for type_ in node.arg_tys for one in _elements(type_)]
        name = node.name and _spread(node.name)  # a type has none
        return node._replace(name=name, arg_tys=tuple(types))
    return node.map(_spread)


def _elements(node: Any) -> list[Any]:
    """What a type stands for: of a pattern with a pack, the pattern with each element of it."""
    if node.kind != "expand_arg_pack":
        return [node]
    packs: list[Any] = []

    def find(part: Any) -> Any:
        if part.kind == "tpl_arg_pack":
            packs.append(part)
            return part
        return part.map(find)

    def chosen(part: Any, k: int) -> Any:
        if part.kind == "tpl_arg_pack":
            return part.value[k]
        return part.map(lambda inner: chosen(inner, k))

    find(node.value)
    if not packs:  # it is spread already, within the arguments of a template
        return [node._replace(kind="name", value=f"{node.value}...")]
    return [chosen(node.value, k) for k in range(min(len(pack.value) for pack in packs))]


def _text(node: Any) -> str:
    text = _NEGATIVE.sub(")-", _CONSTANT.sub(_constant, str(node)))
    return _NAMELESS.sub("(anonymous namespace)", text)


def _constant(match: re.Match) -> str:
    """A template's constant as in a program: 4 for "(int)4", true for "(bool)1"."""
    kind, negative, digits = match.groups()
    if kind == "bool":
        return "true" if digits != "0" else "false"
    return "-" * bool(negative) + digits + "".join(_SUFFIXES[word] for word in kind.split())
