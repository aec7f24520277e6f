"""DRAM standards: which command may follow which, where, and after how many clocks.

A standard is a data file in ``standards/``: default parameters and a table of constraints
(earlier command, later command, scope, clocks). A GPU's ``dram.timing`` replaces parameters.
``resolve`` turns both into numbers; ``timing.py`` obeys them. A new standard is a new file.
"""

import ast
import functools
import math
import operator
import tomllib
from enum import IntEnum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from lockstep.errors import SpecError, suggestion
from lockstep.gpus.memory import Dram
from lockstep.store import tables

_FOLDER = Path(__file__).parent / "standards"


class Command(IntEnum):
    """DRAM commands; the value indexes the tables of earliest times."""

    ACT = 0
    PRE = 1
    RD = 2
    WR = 3
    REFab = 4  # refresh of all banks
    REFpb = 5  # refresh of one bank


class Scope(IntEnum):
    """How far a constraint reaches from the bank of the earlier command."""

    BANK = 0
    GROUP = 1
    CHANNEL = 2


class Constraint(msgspec.Struct, frozen=True):
    """The ``window``-th ``later`` command comes at least ``clocks`` after ``earlier``."""

    earlier: Command
    later: Command
    scope: Scope
    clocks: int
    window: int = 1


class DramTiming(msgspec.Struct, frozen=True):
    """A standard with a GPU's numbers filled in."""

    parameters: dict[str, int]  # in command clocks, nBL among them
    constraints: tuple[Constraint, ...]
    refresh_per_bank: bool


@functools.cache
def names() -> tuple[str, ...]:
    """The standards there are."""
    return tuple(sorted(_read(path)["name"] for path in _FOLDER.glob("*.toml")))


def load(name: str) -> dict:
    """The data file of a standard; the name's case does not matter."""
    return _read(_file(name))


def _file(name: str) -> Path:
    path = _FOLDER / f"{name.lower()}.toml"
    if not name.isalnum() or not path.exists():
        there = f"{', '.join(names())}{suggestion(name, names())}"
        raise SpecError(f"dram.standard is {name!r}; expected one of {there}")
    return path


@functools.cache
def _read(path: Path) -> dict:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def resolve(dram: Dram) -> DramTiming:
    """The constraints that a GPU's DRAM obeys, in command clocks; all its channels the same."""
    return _resolve(msgspec.json.encode(replace(dram, channels=1)))


@functools.cache
def _resolve(encoded: bytes) -> DramTiming:
    dram = msgspec.json.decode(encoded, type=Dram)
    files = ["model/dram/standard.py", f"model/dram/standards/{_file(dram.standard).name}"]
    return tables.kept(f"DRAM {encoded!r}", files, DramTiming, lambda: _of(dram))


def _of(dram: Dram) -> DramTiming:
    standard = load(dram.standard)
    parameters = _parameters(dram, standard)
    constraints = []
    for earlier, later, scope, clocks, *window in standard["table"]["constraints"]:
        if scope == "group" and dram.bank_groups == 1:
            continue  # one group: bank groups are switched off
        constraints.append(
            Constraint(
                Command[earlier],
                Command[later],
                Scope[scope.upper()],
                max(0, evaluate(clocks, parameters)),
                *window,
            )
        )
    per_bank = standard["refresh"] == "bank" and parameters["nRFCpb"] > 0
    return DramTiming(parameters, tuple(constraints), per_bank)


def _parameters(dram: Dram, standard: dict) -> dict[str, int]:
    """Every parameter of the standard: the GPU's where given, else the default."""
    known = standard["nanoseconds"] | standard["clocks"]
    for name in dram.timing:
        if name not in known:
            expected = ", ".join(sorted(known)) + suggestion(name, known)
            raise SpecError(f"dram.timing has no parameter {name!r}; expected one of {expected}")
    values = {"nBL": -(-dram.burst_length // dram.beats_per_clock), **dram.timing}
    for name, nanoseconds in standard["nanoseconds"].items():
        values.setdefault(name, math.ceil(round(nanoseconds * dram.clock_mhz / 1000, 6)))
    for name, clocks in standard["clocks"].items():
        if name not in values:
            values[name] = evaluate(clocks, values)
    return values


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def evaluate(expression: str | int, values: dict[str, int]) -> int:
    """The value of an expression of ``+ - * // max()``, whole numbers and parameters."""
    if isinstance(expression, int):
        return expression
    if expression in values:  # most are: start-up time is felt
        return values[expression]
    return _evaluate(ast.parse(expression, mode="eval").body, values)


def _evaluate(node: ast.expr, values: dict[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id="max"), args=arguments):
            return max(_evaluate(argument, values) for argument in arguments)
    raise ValueError(f"not an expression of DRAM parameters: {ast.unparse(node)}")
