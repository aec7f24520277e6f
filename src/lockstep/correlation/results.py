"""Reads results of runs: objects, the JSON of ``--json``, and folders of ``--out``."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lockstep.correlation.csvfile import dimensions, number, read_table
from lockstep.correlation.launches import CYCLES, Launch
from lockstep.errors import InputError
from lockstep.metrics import output
from lockstep.metrics.result import Result

_ACTIVE_SUM, _ACTIVE_AVERAGE = "sm__cycles_active.sum", "sm__cycles_active.avg"
_TABLES = ("kernels.parquet", "kernels.csv")
_NEEDED = ("id", "name", "grid", "block", "cycles")
# What is launched, not how it goes; waves follow from it, and profilers write "0.00" of them.
_IDENTITY = ("launch__grid_size", "launch__block_size", "launch__waves_per_multiprocessor")


class Ours(NamedTuple):
    """The launches of one result, with the program's name, and where they come from.

    ``sampled``: they are some of the program's, which a plan chose.
    """

    program: str
    launches: list[Launch]
    origin: str
    sampled: bool = False


class _Kernel(msgspec.Struct):
    id: int
    name: str
    cycles: float
    metrics: dict[str, float | None]
    grid: list[int] = []
    block: list[int] = []
    complete: bool = True


class _Estimate(msgspec.Struct):
    launches: int = 0
    simulated: int = 0

    @property
    def of_some(self) -> bool:
        """Whether others were not simulated."""
        return self.simulated < self.launches


class _Document(msgspec.Struct):
    kernels: list[_Kernel]
    estimate: _Estimate | None = None

    @property
    def sampled(self) -> bool:
        """Whether some launches of the program alone were simulated."""
        return self.estimate is not None and self.estimate.of_some


class _Manifest(msgspec.Struct):
    trace: str
    estimate: _Estimate | None = None


def read_result(source: Result | str | Path, program: str = "") -> Ours:
    """The launches of a result: a :class:`Result`, a JSON file, or a folder of ``--out``.

    ``program`` is its name; without it, that of the workload, or of the file. Raises
    :class:`InputError` if a file is damaged, or is of a run that was not timed.
    """
    if isinstance(source, Result):
        document = msgspec.convert(output.finite(source.to_dict()), _Document)
        return _ours(document.kernels, program or source.workload.name, repr(source))
    path = Path(source)
    if path.is_dir():
        kernels, manifest = _of_folder(path)
        ours = _ours(kernels, program or manifest.trace or path.name, str(path))
        return ours._replace(sampled=manifest.estimate is not None and manifest.estimate.of_some)
    document, name = _of_json(path), path.name.removesuffix(".json")
    ours = _ours(document.kernels, program or name, str(path))
    return ours._replace(sampled=document.sampled)


def _ours(kernels: list[_Kernel], program: str, origin: str) -> Ours:
    if not kernels:
        raise InputError(origin, "", "has no kernel that was simulated")
    launches = [
        Launch(
            program, k.name, k.id, _metrics(k), tuple(k.grid), tuple(k.block), complete=k.complete
        )
        for k in kernels
    ]
    return Ours(program, launches, origin)


def _metrics(kernel: _Kernel) -> dict[str, float]:
    """The finite ones, with what Nsight Compute has and follows from them."""
    values = kernel.metrics | {CYCLES: kernel.cycles}
    found = {n: v for n, v in values.items() if v is not None and math.isfinite(v)}
    if found.get(_ACTIVE_SUM) and found.get(_ACTIVE_AVERAGE):
        sms = found[_ACTIVE_SUM] / found[_ACTIVE_AVERAGE]
        if math.isfinite(elapsed := sms * kernel.cycles):
            found["sm__cycles_elapsed.sum"] = elapsed
    return {name: value for name, value in found.items() if name not in _IDENTITY}


def _of_json(path: Path) -> _Document:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Document)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        problem = "no result with times, as `lockstep run --json` writes it"
        raise InputError(path, "", f"{problem} ({error})") from error


def _of_folder(path: Path) -> tuple[list[_Kernel], _Manifest]:
    """The kernels of a folder, and what was simulated."""
    table = next((path / name for name in _TABLES if (path / name).is_file()), None)
    if table is None:
        raise InputError(path, "", f"has no {' and no '.join(_TABLES)}, as --out writes them")
    rows = _parquet(table) if table.suffix == ".parquet" else _csv(table)
    return [_kernel(row, table) for row in rows], _manifest(path)


def _csv(path: Path) -> list[dict[str, Any]]:
    return list(read_table(path, lambda cells: False).records())


def _parquet(path: Path) -> list[dict[str, Any]]:
    import pandas

    if not output.has_parquet():
        raise InputError(path, "", output.NO_PARQUET)
    try:
        records = pandas.read_parquet(path).to_dict("records")
        return [{str(name): value for name, value in record.items()} for record in records]
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(path, "", f"cannot read it as Parquet ({reason})") from error


def _kernel(row: dict[str, Any], path: Path) -> _Kernel:
    if missing := [name for name in _NEEDED if name not in row]:
        raise InputError(path, "", f"not a table of kernels: without {', '.join(missing)}")
    where, cycles = _number(row["id"]), _number(row["cycles"])
    if where is None or cycles is None or where != int(where):
        found = f"id {row['id']!r} and cycles {row['cycles']!r}"
        raise InputError(path, "", f"not a table of kernels: {found}; expected numbers")
    metrics = {name: _number(value) for name, value in row.items() if "__" in name}
    grid, block = (_size(row[name]) for name in ("grid", "block"))
    complete = str(row.get("complete", True)) == "True"
    return _Kernel(int(where), str(row["name"]), cycles, metrics, grid, block, complete)


def _number(value: Any) -> float | None:
    """Of a cell: text in CSV."""
    return number(value) if isinstance(value, str) else float(value)


def _size(value: Any) -> list[int]:
    """Of a cell: text in CSV, an array in Parquet."""
    return list(dimensions(value)) if isinstance(value, str) else [int(n) for n in value]


def _manifest(path: Path) -> _Manifest:
    """The folder's manifest; one that says nothing where there is none."""
    try:
        return msgspec.json.decode((path / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _Manifest("")
