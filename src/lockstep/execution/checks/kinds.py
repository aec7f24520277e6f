"""Which checks there are, and what they find."""

from collections.abc import Iterable
from enum import IntEnum, IntFlag

from lockstep.errors import LockstepError


class Check(IntFlag):
    """What a run looks for."""

    NOTHING = 0
    MEMORY = 1  # accesses outside allocations, also just outside; wrong frees
    INIT = 2  # reads of bytes that nobody wrote
    RACES = 4  # accesses to shared memory that nothing orders


ALL = Check.MEMORY | Check.INIT | Check.RACES
NAMES = {"memory": Check.MEMORY, "init": Check.INIT, "races": Check.RACES, "all": ALL}


class Hazard(IntEnum):
    """What is found beside the faults of ``access.Fault``, whose numbers are smaller."""

    UNWRITTEN_READ = 100
    READ_AFTER_WRITE = 101
    WRITE_AFTER_READ = 102
    WRITE_AFTER_WRITE = 103


def checks_of(names: str | Iterable[str] | None) -> Check:
    """The checks with these names, in one text with commas between them, or several.

    Raises :class:`LockstepError` for a name that is none.
    """
    found = Check.NOTHING
    texts = (names,) if isinstance(names, str) else tuple(names or ())
    for name in (part.strip() for text in texts for part in text.split(",")):
        if name not in NAMES:
            raise LockstepError(f"no check {name!r}: expected {', '.join(NAMES)}")
        found |= NAMES[name]
    return found
