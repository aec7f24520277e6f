"""The user's policies: which there are, what they refer to, and what is recorded of them."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from lockstep.errors import PolicyError, suggestion

POLICIES = (
    "scheduler",
    "l1_replacement",
    "l2_replacement",
    "l1_prefetcher",
    "l2_prefetcher",
    "slice_hash",
    "dram_scheduler",
)
"""Their names, as options and in manifests."""


def select(policies: Mapping[str, Callable | None]) -> dict[str, Callable]:
    """Those that were given; raises :class:`PolicyError` for a name that there is not."""
    for name in policies:
        check_name(name)
    return {name: function for name, function in policies.items() if function is not None}


def check_name(name: str) -> None:
    """Raise :class:`PolicyError` if there is no policy of a name."""
    if name not in POLICIES:
        there = f"there are {', '.join(POLICIES)}{suggestion(name, POLICIES)}"
        raise PolicyError(f"there is no policy {name!r}; {there}")


def plain(function: Any) -> Any:
    """The Python function in what Numba's decorators make of it."""
    return getattr(function, "py_func", function)


def place(function: FunctionType, line: int | None = None) -> str:
    """Where a function is, as errors say it."""
    code = function.__code__
    return f"{code.co_filename}, line {line or code.co_firstlineno}"


def captured(function: FunctionType) -> dict[str, Any]:
    """What a function takes from around it: global names, and variables of enclosing functions."""
    outside = inspect.getclosurevars(function)
    return dict(sorted({**outside.globals, **outside.nonlocals}.items()))


def helpers(function: FunctionType) -> list[FunctionType]:
    """The functions that a function refers to, and those that these refer to."""
    found: list[FunctionType] = []
    todo = [function]
    while todo:
        for value in captured(todo.pop()).values():
            value = plain(value)
            if isinstance(value, FunctionType) and value not in (function, *found):
                found.append(value)
                todo.append(value)
    return found


def describe(policy: Callable) -> dict[str, Any]:
    """What a manifest has of a policy: name, file, line, source, constants, and a digest of these.

    Two policies with the same digest decide alike; the file's place is not part of it.
    """
    function: FunctionType = plain(policy)
    parts = [function, *helpers(function)]
    values = {
        name: repr(value)
        for part in parts
        for name, value in captured(part).items()
        if isinstance(value, (bool, int, float, str, tuple))
    }
    source = "\n".join(map(_source, parts))
    return {
        "name": function.__qualname__,
        "file": function.__code__.co_filename,
        "line": function.__code__.co_firstlineno,
        "source": source,
        "constants": values,
        "digest": hashlib.sha256(repr((source, values)).encode()).hexdigest()[:32],
    }


def _source(function: FunctionType) -> str:
    """The text of a function; where there is none, as in a console, its byte code."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return f"{function.__code__.co_code.hex()} {function.__code__.co_consts}"
