"""Names of machine code for Linux's ``perf``, which looks for those of a JIT in a file.

Wanted where the variable is set: whoever changes the model sees which function takes the time.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "LOCKSTEP_PERF_MAP"
WANTED = bool(os.environ.get(VARIABLE))
FOLDER = Path("/tmp")  # wherever other temporary files go: perf looks here
_PART = re.compile(r"(\d+)")


def tell(functions: Iterable[tuple[int, int, str]]) -> None:
    """Add functions to the file of this process: address, bytes, symbol."""
    with open(FOLDER / f"perf-{os.getpid()}.map", "a", encoding="utf-8") as file:
        file.writelines(f"{at:x} {size:x} {name_of(symbol)}\n" for at, size, symbol in functions)


def name_of(symbol: str) -> str:
    """The dotted name in a symbol of Numba's; others as they are."""
    if not symbol.startswith("_ZN"):
        return symbol
    parts, rest = [], symbol[3:]
    while length := _PART.match(rest):
        begin = length.end()
        parts.append(rest[begin : begin + int(length[1])])
        rest = rest[begin + int(length[1]) :]
    return ".".join(parts) or symbol
