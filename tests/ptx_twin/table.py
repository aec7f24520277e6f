"""The table of operations: an opcode (and kind of type) to its one small function."""

import re
from functools import lru_cache

OPERATIONS = {}
TYPE = re.compile(r"([usb](8|16|32|64|128)|s16x2|u16x2|pred|t?b?f\d+(x2)?|e\dm\d(x[24])?)$")


def operation(*names):
    """Register a function ``(words, type, *patterns) -> pattern`` under names."""

    def register(function):
        for name in names:
            OPERATIONS[name] = function
        return function

    return register


@lru_cache(None)
def typed(words):
    """The modifiers that are types, in order."""
    return tuple(word for word in words if TYPE.match(word))


def is_float(kind):
    return "f" in kind or kind.startswith("e")
