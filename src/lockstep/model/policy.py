"""Policies of the user: what such a function must be is checked before it is compiled."""

import builtins
import dis
import inspect
import re
from types import FunctionType

from lockstep import policies
from lockstep._jit import DISABLED, policy
from lockstep.errors import PolicyError

OURS = "lockstep."  # modules whose functions tests check, and a start of every run does not
_STORES = ("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_NO_REASON = "Failed in nopython mode pipeline"
_REASONS = {
    "NRT required": "it allocates memory, as for a list or an array",
    "No conversion from none": "it may end without an answer",
}


def compile_policy(function, usage: str, *arguments, writes: tuple[str, ...] = ()):
    """A user's plain function, ready to be called by the model; its answer is an int64.

    ``usage`` is how it is called, ``arguments`` are its types, see :func:`lockstep._jit.policy`,
    ``writes`` are the fields of records that it may change. Raises PolicyError, in one line.
    """
    function = policies.plain(function)
    if not isinstance(function, FunctionType):
        raise PolicyError(f"a policy is a plain Python function; found {type(function).__name__}")
    if not str(function.__module__).startswith(OURS):
        _check_call(function, usage, len(arguments))
        for part in (function, *policies.helpers(function)):
            _check_code(function, part, writes)
    try:
        return policy(function, "int64", *arguments)
    except Exception as error:  # all kinds, from several layers of the compiler
        raise _wrong(function, f"cannot be compiled: {_reason(error)}") from error


def _check_call(function: FunctionType, usage: str, count: int) -> None:
    parameters = inspect.signature(function).parameters.values()
    plain = all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters)
    if not plain or len(parameters) != count:
        raise _wrong(function, f"takes {inspect.signature(function)}; it is called as {usage}")


def _check_code(function: FunctionType, part: FunctionType, writes: tuple[str, ...]) -> None:
    """Refuse what a policy may not do, in itself or in a function that it calls.

    Exceptions get lost in compiled code, the model relies on its records, and printing waits for
    Python, which waits for the model.
    """
    calls = "" if part is function else f"calls {part.__name__}, which "
    for step in dis.get_instructions(part):
        message = _misdeed(part, step, writes)
        if message:
            line = step.positions.lineno if step.positions else None
            raise _wrong(function, calls + message, part, line)


def _misdeed(part: FunctionType, step: dis.Instruction, writes: tuple[str, ...]) -> str:
    if step.opname == "RAISE_VARARGS" and not DISABLED:
        return "raises an exception, which compiled code cannot pass on; it may return -1"
    if step.opname == "LOAD_GLOBAL" and not DISABLED:
        known = part.__globals__.get(step.argval, getattr(builtins, step.argval, None))
        if known is print:
            return "prints, which compiled code cannot do; NUMBA_DISABLE_JIT=1 runs it uncompiled"
    if step.opname in _STORES and step.argval not in writes:
        what = repr(step.argval) if step.opname.endswith("ATTR") else "what it is given"
        allowed = f"only {', '.join(writes)}" if writes else "nothing"
        return f"changes {what}; it may change {allowed}"
    return ""


def _reason(error: Exception) -> str:
    """The line of the compiler's message that says most."""
    if isinstance(error, KeyError):
        return f"there is no field {error}"
    # Where colorama is installed, the compiler's messages are bold and coloured.
    lines = [line.strip() for line in _STYLE.sub("", str(error)).splitlines()]
    first = next((x for x in lines if x and not x.startswith(_NO_REASON)), type(error).__name__)
    return next((meant for start, meant in _REASONS.items() if first.startswith(start)), first)


def _wrong(
    function: FunctionType, message: str, part: FunctionType | None = None, line: int | None = None
) -> PolicyError:
    where = policies.place(part or function, line)
    return PolicyError(f"{where}: policy {function.__name__} {message}")
