"""The GPUs that come with the simulator, and how to change one.

A GPU is data: ``QV100.toml`` beside this file is all there is to ``gpu("QV100")``. Users name a
GPU, or a file of their own, and override parameters by dotted name::

    replace(gpu("QV100"), **{"sm.count": 40, "sm.units.fp32.lanes": 32})
    apply(gpu("my.toml"), ["dram.timing.nRCD=14"])
"""

import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from lockstep.errors import SpecError, suggestion, unknown
from lockstep.gpus import fields
from lockstep.gpus.check import check
from lockstep.gpus.datafile import LoadedGpu, load
from lockstep.gpus.sm import ExecutionUnit
from lockstep.gpus.spec import GPU
from lockstep.gpus.units import threads_per_cycle
from lockstep.store import sources, tables

PROSE = ("description", "validated")
_FOLDER = Path(__file__).parent
_presets: dict[Path, LoadedGpu] = {}  # those read so far


class ParameterRow(NamedTuple):
    """One parameter of a GPU, documented."""

    name: str
    value: object
    unit: str
    range: str
    meaning: str
    source: str


class Totals(NamedTuple):
    """What datasheets state, computed from the parameters."""

    fp32_tflops: float
    l1_bytes: int  # of one SM, shared memory included where it is unified
    l2_bytes: int
    dram_gb_per_s: float


def names() -> list[str]:
    """The GPUs of the library, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def gpu(name_or_path: str | os.PathLike) -> GPU:
    """The GPU of a name (in any case) or of a data file.

    Raises :class:`SpecError` for an unknown name, with the nearest known ones.
    """
    return _load(name_or_path).gpu


def loaded(name_or_path: str | os.PathLike) -> LoadedGpu:
    """The same with the source of each parameter."""
    return _load(name_or_path)


def source(name_or_path: str | os.PathLike, parameter: str) -> str:
    """Where the value of a parameter comes from; raises :class:`SpecError` for an unknown one."""
    sources = _load(name_or_path).sources
    if parameter not in sources:
        raise SpecError(unknown("parameter", parameter, sources))
    return sources[parameter]


def replace(gpu: GPU, **changes: object) -> GPU:
    """A copy of ``gpu`` with parameters changed by dotted name, checked as a whole.

    A value may be a text, read as ``apply`` does, or a whole group:
    ``replace(gpu, dram=other.dram)``. Raises :class:`SpecError`.
    """
    table, name = fields.flatten(gpu), gpu.name
    for path, value in changes.items():
        if path == "name" and isinstance(value, str):
            name = value
        elif isinstance(value, (msgspec.Struct, dict)) or (
            path == "sm.units" and isinstance(value, (tuple, list))
        ):
            table = _replace_group(table, path, value)
        else:
            _known_unit(path, table)
            table[path] = fields.accept(path, value, table)
    return check(fields.build(name, table))


def apply(gpu: GPU, overrides: Iterable[str]) -> GPU:
    """``replace`` for texts such as ``"sm.count=40"``, as the command line gives them.

    Raises :class:`SpecError`.
    """
    changes: dict[str, object] = {}
    for text in overrides:
        path, equals, value = text.partition("=")
        if not equals:
            raise SpecError(f"{text[:80]}: expected parameter=value, such as sm.count=40")
        changes[path.strip()] = value.strip()
    return replace(gpu, **changes) if changes else gpu


def describe(gpu: GPU, origin: str | os.PathLike | LoadedGpu | None = None) -> list[ParameterRow]:
    """All parameters with unit, range, meaning and source.

    ``origin`` is the name or file that ``gpu`` was loaded from, if that is not its name, or what
    was loaded. What differs from there has the source "given by the user".
    """
    known = LoadedGpu(gpu, {})
    if isinstance(origin, LoadedGpu):
        known = origin
    elif origin is not None or gpu.name in names():
        known = _load(gpu.name if origin is None else origin)
    before, table = fields.flatten(known.gpu), fields.flatten(gpu)
    rows = []
    for name, value in table.items():
        unit, meaning, allowed = _document(name, table)
        unchanged = name in before and before[name] == value
        where = known.sources.get(name, "") if unchanged else ""
        rows.append(ParameterRow(name, value, unit, allowed, meaning, where or "given by the user"))
    return rows


def digest(gpu: GPU) -> str:
    """SHA-256 of everything that can change a result, as 64 hexadecimal digits.

    The same on every machine and in every run; name, description and ``validated`` do not count.
    """
    exact = msgspec.convert(msgspec.to_builtins(gpu), GPU)  # 1 is 1.0 where a number may be broken
    values = {key: value for key, value in fields.flatten(exact).items() if key not in PROSE}
    units = [unit.name for unit in gpu.sm.units]
    return hashlib.sha256(json.dumps([units, sorted(values.items())]).encode()).hexdigest()


def totals(gpu: GPU) -> Totals:
    """Peak rates and capacities of the whole GPU."""
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    flops = 2 * threads_per_cycle(gpu, "FP32") * gpu.clock_mhz * 1e6
    beats = gpu.dram.clock_mhz * 1e6 * gpu.dram.beats_per_clock
    return Totals(
        fp32_tflops=flops / 1e12,
        l1_bytes=gpu.l1.bytes,
        l2_bytes=slices * gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes,
        dram_gb_per_s=gpu.dram.channels * gpu.dram.bus_bytes * beats / 1e9,
    )


def _are_units(value: object) -> bool:
    if not isinstance(value, (tuple, list)):
        return False
    return all(isinstance(unit, ExecutionUnit) for unit in value)


def _replace_group(table: dict[str, object], path: str, value: object) -> dict[str, object]:
    """``table`` with all parameters below ``path`` exchanged for those of ``value``."""
    if path == "sm.units" and not _are_units(value):
        raise SpecError(f"sm.units = {value!r:.60}: expected execution units")
    if isinstance(value, dict):
        fields.parameter(f"{path}.any", table)  # only tables of entries can be given so
    new = fields.flatten_group(path, value)
    kept = {key: old for key, old in table.items() if not key.startswith(path + ".")}
    return kept | {key: fields.accept(key, entry, table) for key, entry in new.items()}


def _known_unit(path: str, table: dict[str, object]) -> None:
    """An override may not invent an execution unit: it would lack most of its parameters."""
    start = ".".join(path.split(".")[:3])
    if path.startswith("sm.units.") and not any(key.startswith(start + ".") for key in table):
        units = dict.fromkeys(key.split(".")[2] for key in table if key.startswith("sm.units."))
        name = start.removeprefix("sm.units.")
        raise SpecError(
            f"no execution unit is named {name[:80]!r}: expected one of {', '.join(units)}"
            f"{suggestion(name, units)}"
        )


def _document(name: str, table: dict[str, object]) -> tuple[str, str, str]:
    found = fields.parameter(name, table)
    return found.unit, found.meaning, found.range


def _load(name_or_path: str | os.PathLike, folder: Path = Path(), depth: int = 0) -> LoadedGpu:
    path = _find(name_or_path, folder)
    if path.parent != _FOLDER:
        return load(path, _load, depth)
    if path not in _presets:  # no cache of functools: the depth ends circles
        _presets[path] = tables.kept(
            f"GPU {path.stem}", _files(), LoadedGpu, lambda: load(path, _load, depth)
        )
    return _presets[path]


@cache
def _files() -> list[str]:
    """All files of the package that a preset depends on."""
    return [*sources.closure("gpus/library.py"), *sources.files_in("gpus", (".toml",))]


def _find(name: str | os.PathLike, folder: Path) -> Path:
    """The data file of a GPU; a path is relative to ``folder``."""
    text = os.fspath(name)
    if not isinstance(name, str) or text.endswith(".toml") or os.sep in text:
        return folder / text
    for known in names():
        if known.lower() == text.lower():
            return _FOLDER / f"{known}.toml"
    raise SpecError(f"{unknown('GPU', text, names())} (known: {', '.join(names())})")
