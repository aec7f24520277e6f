"""What becomes of one input: accepted, refused in one line, or a defect."""

import re
import traceback
from typing import NamedTuple

import click

from fuzzing.target import Target
from lockstep.errors import InputError, LockstepError

LONGEST = 1000  # characters of a line that says what was wrong
ACCEPTED, REFUSED = "accepted", "refused"
DEFECTS = ("traceback", "message", "silent", "changing", "memory", "hang", "signal")
_FRAME = re.compile(r'File "[^"]*?/(lockstep/[^"]+)", line (\d+),? in (\S+)')


class Outcome(NamedTuple):
    """``kind`` is one of the names above; ``where`` tells defects of one kind apart."""

    kind: str
    where: str = ""
    detail: str = ""

    @property
    def is_defect(self) -> bool:
        """Whether somebody has to mend something."""
        return self.kind in DEFECTS

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same defect."""
        return self.kind, self.where


def place_of(trace: str) -> str:
    """The function of lockstep's that a traceback ends in."""
    found = _FRAME.findall(trace)
    return "{0}:{2}".format(*found[-1]) if found else "outside of lockstep"


def examine(target: Target, data: bytes, seed: bytes) -> Outcome:
    """Read an input twice and judge what came of it."""
    first, value = _read(target, data)
    second, again = _read(target, data)
    if first.is_defect:
        return first
    if first != second or value != again:
        return Outcome("changing", "", f"{first} {value!r:.300}, then {second} {again!r:.300}")
    if first.kind == ACCEPTED:
        try:
            problem = target.check(data, seed, value)
        except Exception as error:
            return _broken(error)
        if problem:
            return Outcome("silent", problem[:60], problem)
    return first


def _read(target: Target, data: bytes) -> tuple[Outcome, object]:
    try:
        return Outcome(ACCEPTED), target.read(data)
    except LockstepError as error:
        return _refused(str(error), error), None
    except click.ClickException as error:
        return _refused(error.format_message(), error), None
    except MemoryError as error:
        trace = "".join(traceback.format_exception(error))
        return Outcome("memory", place_of(trace), trace), None
    except Exception as error:
        return _broken(error), None


def _broken(error: Exception) -> Outcome:
    trace = "".join(traceback.format_exception(error))
    return Outcome("traceback", f"{type(error).__name__} in {place_of(trace)}", trace)


def _refused(message: str, error: Exception) -> Outcome:
    """A refusal, if its message is one clear line that no terminal trips over."""
    problem = ""
    if not message.strip():
        problem = "says nothing"
    elif "\n" in message:
        problem = "has several lines"
    elif not message.replace("\t", " ").isprintable():
        problem = "has control characters"
    elif len(message) > LONGEST:
        problem = f"is longer than {LONGEST} characters"
    elif isinstance(error, InputError) and not error.message.strip():
        problem = "does not say what is wrong"
    if problem:
        trace = "".join(traceback.format_exception(error))
        return Outcome("message", f"{problem}, {place_of(trace)}", f"{message!r}\n{trace}")
    return Outcome(REFUSED, "", message)
