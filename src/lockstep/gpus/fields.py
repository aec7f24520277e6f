"""The parameters of a GPU by dotted name: what each may hold, and its place in the specification.

A GPU is handled here as a flat table, ``{"sm.count": 80, "sm.units.fp32.lanes": 16, ...}``: what
a user overrides, what a data file gives a source for, and what is documented are all single
parameters. Execution units are addressed by their name, entries of tables by their key.
"""

import math
import operator
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple, SupportsFloat, SupportsIndex, TypeVar

import msgspec
from msgspec import inspect

from lockstep.errors import SpecError, suggestion, unknown
from lockstep.gpus.sm import ExecutionUnit
from lockstep.gpus.spec import GPU

Number = TypeVar("Number", int, float)
_OF_CUS = ("core", "cu", "vmu", "coherence")
_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


class GpuParameter(NamedTuple):
    """What one parameter may hold. ``kind`` is its type with the range, as msgspec tells it."""

    kind: inspect.Type
    unit: str
    meaning: str

    @property
    def range(self) -> str:
        """The allowed values in words, such as ``an integer from 1 to 4096``."""
        return _range(self.kind)

    @property
    def expected(self) -> str:
        """The allowed values with the unit."""
        return f"{self.range} ({self.unit})" if self.unit else self.range


def flatten(gpu: GPU) -> dict[str, object]:
    """All parameters of ``gpu`` but its name, in the order of the specification.

    Of a GPU of SMs, nothing of compute units.
    """
    table: dict[str, object] = {}
    for name in gpu.__struct_fields__:
        if gpu.core == "cu" or name not in _OF_CUS:
            table |= flatten_group(name, getattr(gpu, name))
    del table["name"]
    return table


def flatten_group(path: str, value: object) -> dict[str, object]:
    """The parameters below ``path``, or ``{path: value}`` if it is a single one."""
    if isinstance(value, msgspec.Struct):
        entries = {name: getattr(value, name) for name in value.__struct_fields__}
        if isinstance(value, ExecutionUnit):
            del entries["name"]
    elif isinstance(value, dict):
        entries = value
    elif path == "sm.units" and isinstance(value, (tuple, list)):
        entries = {unit.name: unit for unit in value}
    else:
        return {path: value}
    table: dict[str, object] = {}
    for name, entry in entries.items():
        table |= flatten_group(f"{path}.{name}", entry)
    return table


def build(name: str, table: dict[str, object]) -> GPU:
    """The GPU that ``table`` describes; a parameter left out has the specification's default."""
    tree: dict = {"name": name, "sm": {"units": {}}, "dram": {"timing": {}}}
    for path, value in table.items():
        *parents, last = path.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    units = tree["sm"]["units"]
    tree["sm"]["units"] = [{"operations": {}, **unit, "name": key} for key, unit in units.items()]
    for path, missing in required().items():
        if path != "name" and path not in table:
            raise SpecError(f"{path} is missing: expected {missing.expected}")
    for unit in units:
        if f"sm.units.{unit}.lanes" not in table:
            raise SpecError(f"sm.units.{unit}.lanes is missing")
    try:
        return msgspec.convert(tree, GPU)
    except msgspec.ValidationError as error:
        raise SpecError(f"{name}: {error}") from None


@cache
def required() -> dict[str, GpuParameter]:
    """The parameters of every GPU that have no default."""
    found: dict[str, GpuParameter] = {}
    _required(_root(), "", found)
    return found


@cache
def _root() -> inspect.StructType:
    root = inspect.type_info(GPU)  # a few milliseconds, and asked for by every parameter
    assert isinstance(root, inspect.StructType)
    return root


def parameter(path: str, known: Iterable[str] = ()) -> GpuParameter:
    """The parameter at a dotted name. ``known``: names to suggest if there is none."""
    found = _lookup(path)
    if found is None:
        raise SpecError(unknown("parameter", path, known))
    if _is_branch(found.kind):
        inside = [name for name in known if name.startswith(path + ".")]
        hint = f", such as {inside[0]}" if inside else ""
        raise SpecError(f"{path} is a group of parameters: expected one of them{hint}")
    return found


def accept(path: str, value: object, known: Iterable[str] = ()) -> object:
    """``value`` as the parameter at ``path`` holds it, or a :class:`SpecError` that says why not.

    A text is read as what the parameter holds: ``"40"``, ``"true"``, ``"0,8192,16384"``.
    """
    wanted = parameter(path, known)
    result = _accept(wanted.kind, value)
    if result is None:
        raise SpecError(
            f"{path} = {_shown(value)}: expected {wanted.expected}{_near(wanted, value)}"
        )
    return result


def _near(wanted: GpuParameter, value: object) -> str:
    """The name among those that a parameter chooses from that may have been meant."""
    kind = wanted.kind
    if isinstance(kind, inspect.LiteralType) and isinstance(value, str):
        return suggestion(value, [str(name) for name in kind.values])
    return ""


def _shown(value: object) -> str:
    """A value in a message: short and printable."""
    try:
        shown = value if isinstance(value, str) and value.isprintable() else repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        shown = "a number of thousands of digits"
    return shown if len(shown) <= 60 else shown[:57] + "..."


@lru_cache(maxsize=4096)
def _lookup(path: str) -> GpuParameter | None:
    kind: inspect.Type = _root()
    description = ("", "")
    for key in path.split("."):
        step = _child(kind, key)
        if step is None:
            return None
        kind, own = _unwrap(step)
        description = own if any(own) else description
    return GpuParameter(kind, *description)


def _required(kind: inspect.StructType, prefix: str, found: dict[str, GpuParameter]) -> None:
    for field in kind.fields:
        inner, description = _unwrap(field.type)
        if isinstance(inner, inspect.StructType):
            _required(inner, f"{prefix}{field.name}.", found)
        elif field.required and not _is_branch(inner):
            found[prefix + field.name] = GpuParameter(inner, *description)


def _is_branch(kind: inspect.Type) -> bool:
    units = isinstance(kind, inspect.VarTupleType) and isinstance(
        kind.item_type, inspect.StructType
    )
    return units or isinstance(kind, (inspect.StructType, inspect.DictType))


def _child(kind: inspect.Type, key: str) -> inspect.Type | None:
    if isinstance(kind, inspect.StructType):
        return next((f.type for f in kind.fields if f.name == key and key != "name"), None)
    if not _NAME.fullmatch(key):
        return None
    if isinstance(kind, inspect.DictType):
        return kind.value_type
    if isinstance(kind, inspect.VarTupleType) and _is_branch(kind):
        return kind.item_type
    return None


def _unwrap(kind: inspect.Type) -> tuple[inspect.Type, tuple[str, str]]:
    """The type without its annotations, and (unit, meaning)."""
    unit = meaning = ""
    while isinstance(kind, inspect.Metadata):
        notes = kind.extra_json_schema or {}
        unit, meaning = notes.get("title", unit), notes.get("description", meaning)
        kind = kind.type
    return kind, (unit, meaning)


def _range(kind: inspect.Type) -> str:
    match kind:
        case inspect.IntType() | inspect.FloatType():
            noun = "an integer" if isinstance(kind, inspect.IntType) else "a number"
            low = "" if kind.ge is None else f" from {kind.ge:,.15g}".replace(",", "")
            high = "" if kind.le is None else f" to {kind.le:,.15g}".replace(",", "")
            return noun + low + high
        case inspect.LiteralType():
            return "one of " + ", ".join(map(str, kind.values))
        case inspect.BoolType():
            return "true or false"
        case inspect.VarTupleType():
            return f"a list, each {_range(_unwrap(kind.item_type)[0])}"
        case _:
            return "a text"


def _accept(kind: inspect.Type, value: object) -> object | None:
    """The value in the parameter's own type, or None if it does not fit."""
    match kind:
        case inspect.BoolType():
            return {"true": True, "false": False}.get(str(value).lower())
        case inspect.IntType():
            return _within(kind, _integer(value))
        case inspect.FloatType():
            return _within(kind, _number(value))
        case inspect.LiteralType():
            return _choice(kind, value)
        case inspect.VarTupleType():
            return _list(_unwrap(kind.item_type)[0], value)
        case _:
            return value if isinstance(value, str) else None


def _choice(kind: inspect.LiteralType, value: object) -> object | None:
    if not isinstance(kind.values[0], str):
        value = _integer(value)
    return value if isinstance(value, (str, int)) and value in kind.values else None


def _integer(value: object) -> int | None:
    if type(value) is int:  # to ask for a protocol takes ten times as long
        return value
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            return int(value, 0)
        return operator.index(value) if isinstance(value, SupportsIndex) else None
    except (TypeError, ValueError):
        return None


def _number(value: object) -> float | None:
    is_plain = type(value) in (float, int)  # to ask for a protocol takes ten times as long
    if not is_plain and (
        isinstance(value, bool) or not isinstance(value, (str, SupportsFloat, SupportsIndex))
    ):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _within(kind: inspect.IntType | inspect.FloatType, value: Number | None) -> Number | None:
    if value is None or (kind.ge is not None and value < kind.ge):
        return None
    return None if kind.le is not None and value > kind.le else value


def _list(item: inspect.Type, value: object) -> tuple | None:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")] if value.strip() else []
    if not isinstance(value, (list, tuple)):
        return None
    items = tuple(_accept(item, entry) for entry in value)
    return None if None in items else items
