"""C++ names in so many characters: what tells them apart stays as long as there is room.

First go the versions of libraries, then scopes and what tunes a kernel, then arguments of
arguments, then the last arguments.
"""

import re
from collections.abc import Iterator

_VERSION = re.compile(r"\b(?:(?:CUB|THRUST)_\d\w*|__\d+)::")  # inline namespaces of CCCL
_CAST = re.compile(r"\(([^()<>]*)\)(?=[\w-])")  # a constant's type
_LONG_LAMBDA = re.compile(r"\{lambda\(.{25,}\)(#\d+)\}")
_POLICY = re.compile(r"[Pp]olicy_?\d+(?:_t)?")  # how CCCL tunes a kernel for a GPU: all have one
_OPEN, _CLOSE = "<({[", ">)}]"
_MOST_NESTED = 3


def brief(name: str, width: int) -> str:
    """A name without its function's parameters, in at most ``width`` characters."""
    text = name
    for text in _shorter(name):
        if len(text) <= width:
            return text
    return _cut(text, width)


def _shorter(name: str) -> Iterator[str]:
    """Ever shorter texts for a name; one alone if its brackets do not match, as in operator->."""
    yield name
    if not _matches(name):
        return
    text = _VERSION.sub("", name)
    yield text
    yield _parts(text, "::")[-1]
    for depth in range(_MOST_NESTED, 0, -1):
        yield _unscoped(text, depth)


def _matches(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in _OPEN) - (character in _CLOSE)
        if depth < 0:
            return False
    return depth == 0


def _parts(text: str, separator: str) -> list[str]:
    """What separators outside of brackets part."""
    found, depth, start = [], 0, 0
    for k, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if depth == 0 and text.startswith(separator, k):
            found.append(text[start:k])
            start = k + len(separator)
    return [*found, text[start:]]


def _arguments(text: str) -> tuple[str, list[str], str]:
    """A template's name, its arguments, and what follows these; none: all is name."""
    begin, depth = text.find("<"), 0
    if begin < 0 or "(" in text[:begin]:
        return text, [], ""
    for k in range(begin, len(text)):
        depth += (text[k] == "<") - (text[k] == ">")
        if depth == 0:
            return text[:begin], _parts(text[begin + 1 : k], ", "), text[k + 1 :]
    return text, [], ""


def _unscoped(text: str, depth: int) -> str:
    """A type or constant without scopes, and with arguments of arguments as deep as that."""
    text = _CAST.sub(lambda match: f"({match[1].rsplit('::')[-1]})", text)
    text = _LONG_LAMBDA.sub(r"{lambda(…)\1}", _parts(text, "::")[-1])
    name, arguments, rest = _arguments(text)
    if not arguments:
        return text
    if depth == 0:
        return f"{name}<…>{rest}"
    shown = [_unscoped(one, depth - 1) for one in arguments]
    kept = [one for one in shown if not _POLICY.fullmatch(one)]
    return f"{name}<{', '.join(kept or shown)}>{rest}"


def _cut(text: str, width: int) -> str:
    """The first arguments alone, if there is room for one; else the beginning."""
    name, arguments, _ = _arguments(text) if _matches(text) else (text, [], "")
    for count in range(len(arguments) - 1, 0, -1):
        shown = f"{name}<{', '.join(arguments[:count])}, …>"
        if len(shown) <= width:
            return shown
    return text[: width - 1] + "…"
