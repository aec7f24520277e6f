"""One attempt at a point: its values, or why there are none. This runs in workers."""

from collections.abc import Callable, Mapping
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple

from lockstep.errors import LockstepError, printable

Value = int | float | str
_TOO_LARGE = 1 << 63  # for a column of integers
Evaluate = Callable[[Any], Mapping[str, Any]]
"""From a point to its values: numbers and texts by name. It goes to workers: a module has it."""


class Attempt(NamedTuple):
    """What came of one attempt: ``values``, or an ``error``; ``seconds`` that it took."""

    values: dict[str, Value]
    error: str = ""
    seconds: float = 0.0


def attempt(run: Evaluate, point: object) -> Attempt:
    """Evaluate a point; whatever goes wrong is an outcome, and not an exception."""
    began = perf_counter()
    try:
        values = {_text(str(name)): _plain(name, value) for name, value in run(point).items()}
    except LockstepError as error:
        return Attempt({}, _line(str(error)), perf_counter() - began)
    except Exception as error:  # of whatever the user's function does: the other points go on
        said = f"{type(error).__name__}: {error}"
        return Attempt({}, _line(said), perf_counter() - began)
    return Attempt(values, "", perf_counter() - began)


def _plain(name: str, value: Any) -> Value:
    """A value as a table holds it."""
    if isinstance(value, str):
        return _text(value, f"value {name!r}")
    if isinstance(value, Integral) and abs(int(value)) < _TOO_LARGE:
        return int(value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        kind = type(value).__name__
        raise LockstepError(f"value {name!r} is a {kind}: expected a number or a text") from None


def _text(text: str, what: str = "a name of a value") -> str:
    """The text: half a pair of surrogates, as of names of files, is in no table."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise LockstepError(f"{what} has {half}, which is no character: encode it") from None
    return text


def _line(text: str) -> str:
    return " ".join(printable(text).split()) or "an error without a message"
