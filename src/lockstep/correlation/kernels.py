"""Which names of kernels mean the same one, whoever wrote them: linkers, profilers, lockstep."""

import functools
import re

from lockstep.names import demangled

_UNNAMED = re.compile(r"\(anonymous namespace\)::|<unnamed>::|\(anonymous\)::")
_CAST = re.compile(r"\([A-Za-z_][\w: ]*\)(?=-?\d)")  # of a template's constant
_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
CORRELATION = re.compile(r" \[\d+\]\Z")  # nvprof's, behind a name
_WORDS = {"true": "1", "false": "0"}
_OPENING, _CLOSING = "<([{", ">)]}"


@functools.lru_cache(maxsize=4096)
def full_name(name: str) -> str:
    """A kernel's name with its template arguments, without result, parameters and blanks."""
    text = CORRELATION.sub("", demangled(name.strip()))
    text = _CAST.sub("", _UNNAMED.sub("", text))
    text = _without_parameters(text)
    text = text[_start_of_name(text) :]
    text = re.sub(r"\b(true|false)\b", lambda m: _WORDS[m[0]], _SUFFIX.sub(r"\1", text))
    return re.sub(r"\s+", "", text)


@functools.lru_cache(maxsize=4096)
def base_name(name: str) -> str:
    """The same without namespaces and template arguments; ``name`` is a full name."""
    depth, kept = 0, []
    for character in name:
        depth += character == "<"
        if depth <= 0:
            kept.append(character)
        depth -= character == ">"
    text = "".join(kept).rpartition("::")[2]
    return text or name


def same_kernel(name: str, other: str) -> bool:
    """Whether two names may be of one kernel; some leave out namespaces or template arguments."""
    a, b = full_name(name), full_name(other)
    if "<" in a and "<" in b:
        return a == b
    return base_name(a) == base_name(b)


def _without_parameters(text: str) -> str:
    """Up to the parenthesis that belongs to the last one."""
    if not text.endswith(")"):
        return text
    depth = 0
    for place in range(len(text) - 1, 0, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if not depth:
            return text[:place].rstrip()
    return text


def _start_of_name(text: str) -> int:
    """Behind the last blank that is in no brackets: what is before it is the result's type."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += character in _OPENING
        depth -= character in _CLOSING
        if character == " " and depth == 0:
            start = place + 1
    return start
