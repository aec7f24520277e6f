"""What became of every parameter that rows could tell, and how far each row is from the measured.

JSON has both; CSV has the rows.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from lockstep.errors import InputError
from lockstep.files import replacing
from lockstep.gpus.fields import flatten
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.tuner import Tuned

INHERITED, FACT = "base", "fact"
SUFFIXES = (".csv", ".json")
NEAR = (0.05, 0.1)  # residuals whose share is told


class ParameterOutcome(NamedTuple):
    """One parameter: where it is from, its value, that of the base, the rows or what is missing.

    ``kind``: ``direct``, ``fitted``, ``fact`` or ``base``.
    """

    parameter: str
    kind: str
    value: object
    before: object
    why: str

    @property
    def text(self) -> str:
        """The value, to be shown."""
        return _text(self.value)

    @property
    def base(self) -> str:
        """The base's value, to be shown; empty if it is the same."""
        return "" if self.before == self.value else _text(self.before)


class Residual(NamedTuple):
    """A measured row, what the GPU that was made has instead, and which parameters it tells.

    ``simulated`` is None where the suite has no such row in simulation.
    """

    row: Row
    simulated: float | None
    parameters: tuple[str, ...]

    @property
    def relative(self) -> float | None:
        """By which part of the measured value the simulated one is above it."""
        if self.simulated is None or not self.row.value:
            return None
        return self.simulated / self.row.value - 1


def outcomes(tuned: Tuned) -> list[ParameterOutcome]:
    """All that was inferred, given, or looked for in vain."""
    before = flatten(tuned.base.gpu)
    kinds = dict.fromkeys(tuned.facts.values, FACT)
    kinds |= {path: found.inference.kind for path, found in tuned.found.items()}
    rows = [
        ParameterOutcome(path, kind, tuned.parameters[path], before.get(path), tuned.sources[path])
        for path, kind in kinds.items()
    ]
    return rows + [
        ParameterOutcome(path, INHERITED, before.get(path), before.get(path), why)
        for path, why in tuned.absent.items()
    ]


def residuals(tuned: Tuned, rows: Rows, simulated: Rows | None) -> list[Residual]:
    """Every measured row, in the order of the file."""
    tells: dict[Row, list[str]] = {}
    for path, found in tuned.found.items():
        for row in found.rows:
            tells.setdefault(row, []).append(path)
    have = {(r.name, r.parameters, r.unit): r.value for r in simulated or ()}
    return [
        Residual(row, have.get((row.name, row.parameters, row.unit)), tuple(tells.get(row, ())))
        for row in rows
    ]


def summary(found: Sequence[Residual]) -> str:
    """How many rows were compared, and how near they are, in one line."""
    off = [abs(r.relative) for r in found if r.relative is not None]
    if not off:
        return f"none of {len(found)} rows was simulated"
    shares = ", ".join(f"{sum(o <= n for o in off) / len(off):.0%} within {n:.0%}" for n in NEAR)
    middle = f"median residual {median(off):.1%}"
    return f"{len(off)} of {len(found)} rows have a simulated counterpart: {middle}, {shares}"


def check_name(path: Path | None) -> None:
    """Raise if a report cannot have this name."""
    if path is not None and path.suffix not in SUFFIXES:
        raise InputError(path, "", f"expected a name that ends in {' or '.join(SUFFIXES)}")


def write_report(tuned: Tuned, found: Sequence[Residual], path: Path) -> None:
    """Write the residuals as CSV, or with the outcomes as JSON if the file's name says so."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".json":
            json.dump(_document(tuned, found), file, indent=1)
            file.write("\n")
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["name", "parameters", "unit", "measured", "simulated", "residual", "tells"]
        )
        writer.writerows(_cells(residual) for residual in found)


def _cells(residual: Residual) -> list[str]:
    row, relative = residual.row, residual.relative
    return [
        row.name,
        row.parameters,
        row.unit,
        f"{row.value:.6g}",
        "" if residual.simulated is None else f"{residual.simulated:.6g}",
        "" if relative is None else f"{relative:.4f}",
        " ".join(residual.parameters),
    ]


def _document(tuned: Tuned, found: Sequence[Residual]) -> dict:
    rows = [
        {
            "name": r.row.name,
            "parameters": r.row.parameters,
            "unit": r.row.unit,
            "measured": r.row.value,
            "simulated": r.simulated,
            "residual": r.relative,
            "tells": list(r.parameters),
        }
        for r in found
    ]
    return {"parameters": [outcome._asdict() for outcome in outcomes(tuned)], "rows": rows}


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
