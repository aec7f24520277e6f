"""Register names of SASS and their numbers in the unified numbering of the instruction record."""

import re

from lockstep.errors import LockstepError
from lockstep.isa.instruction import (
    PREDICATES,
    UNIFORM_PREDICATES,
    UNIFORM_REGISTERS,
)

ZERO = 255  # R255 is RZ: it carries no dependence
_NAME = re.compile(r"(R|UR|P|UP)(\d{1,3})")
_ALWAYS = {"RZ", "URZ", "PT", "UPT", "SRZ"}
# File: its first number, how many registers it has, and the number that is its zero or true.
_FILES = {
    "R": (0, 256, ZERO),
    "P": (PREDICATES, 8, 7),
    "UR": (UNIFORM_REGISTERS, 64, 63),
    "UP": (UNIFORM_PREDICATES, 8, 7),
}


def register_number(name: str) -> int | None:
    """The unified number of R, P, UR and UP registers; None for RZ, PT, URZ, UPT.

    UR255, the spelling of URZ on Blackwell, is None too. Anything else is an error.
    """
    if name in _ALWAYS or name == "UR255":
        return None
    match = _NAME.fullmatch(name)
    if match:
        first, size, zero = _FILES[match[1]]
        number = int(match[2])
        if number < size:
            return None if number == zero else first + number
    raise LockstepError(f"no register is named {name[:20]!r}; expected R0 to R255, UR, P or UP")


def last_register(number: int) -> int:
    """The last general register of the file that ``number`` belongs to, or ``number`` itself.

    Ranges of several registers exist in the vector and in the uniform file only.
    """
    if number < ZERO:
        return ZERO - 1
    if UNIFORM_REGISTERS <= number < UNIFORM_PREDICATES - 1:
        return UNIFORM_PREDICATES - 2
    return number
