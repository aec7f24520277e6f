"""The errors a user can cause, each one line long: what was wrong, where, and what was expected."""

import re
from collections.abc import Iterable
from os import PathLike
from typing import Self

from lockstep.names import all_demangled

_LONG = re.compile(r"(\S{200})\S{300,}")  # what nobody reads to its end


class LockstepError(Exception):
    """Base of every error that is the input's fault and not the simulator's.

    Its message calls kernels and functions by their C++ names, however it was written, and is one
    that a terminal can show, whatever a file has put into it.
    """

    def __str__(self) -> str:
        return printable(all_demangled(super().__str__()))


def printable(message: str) -> str:
    """The message without control characters (but for those of lines) and endless words."""
    if not message.isprintable():
        message = "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in message)
    return _LONG.sub(r"\1...", message)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest that do."""
    return f"no {what} is named {name[:80]!r}{suggestion(name, known)}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``"; did you mean a or b?"``, or an empty text if nothing is near."""
    from difflib import get_close_matches  # every start would pay for it

    lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(name[:80].lower(), lower, n=3, cutoff=0.6)
    last = name.lower().rpartition(".")[2]
    near += [key for key in lower if last and key.rpartition(".")[2] == last]
    names = list(dict.fromkeys(lower[key] for key in near))[:3]
    return f"; did you mean {' or '.join(names)}?" if names else ""


class InputError(LockstepError):
    """A file is malformed, truncated or missing.

    ``path`` is the file, ``where`` a line ("line 12") or byte position ("byte 4096"), or "". The
    message is one line, also where it quotes a name that has several.
    """

    def __init__(self, path: str | PathLike[str], where: str, message: str):
        self.path, self.where, self.message = str(path), where, message
        place = f"{path}, {where}" if where else str(path)
        super().__init__(f"{place}: {message}")

    def __str__(self) -> str:
        return super().__str__().replace("\n", r"\n").replace("\t", r"\t")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        """Rebuild from the three parts, so that the error survives pickling."""
        return type(self), (self.path, self.where, self.message)


class SpecError(LockstepError):
    """A GPU specification or an override names no field, or a value outside its range."""


class PolicyError(LockstepError):
    """A user's policy cannot be compiled, or does what it may not."""


class WorkloadError(LockstepError):
    """A kernel cannot run on the chosen GPU: for example one CTA needs more than an SM has."""


class EndOfKernel(Exception):
    """Raised by a front end instead of a CTA: the kernel failed and ends with those before."""
