"""What became of every parameter that rows could tell, as a table, CSV or JSON."""

import csv
import json
from pathlib import Path
from typing import NamedTuple

from lockstep.errors import InputError
from lockstep.files import replacing
from lockstep.gpus.fields import flatten
from lockstep.tuning.tuner import Tuned

INHERITED, FACT = "base", "fact"
SUFFIXES = (".csv", ".json")


class Outcome(NamedTuple):
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


def outcomes(tuned: Tuned) -> list[Outcome]:
    """All that was inferred, given, or looked for in vain."""
    before = flatten(tuned.base.gpu)
    kinds = dict.fromkeys(tuned.facts.values, FACT)
    kinds |= {path: found.inference.kind for path, found in tuned.found.items()}
    rows = [
        Outcome(path, kind, tuned.parameters[path], before.get(path), tuned.sources[path])
        for path, kind in kinds.items()
    ]
    return rows + [
        Outcome(path, INHERITED, before.get(path), before.get(path), why)
        for path, why in tuned.absent.items()
    ]


def write_report(tuned: Tuned, path: Path) -> None:
    """Write the outcomes as CSV, or as JSON if the file's name says so."""
    if path.suffix not in SUFFIXES:
        raise InputError(path, "", f"expected a name that ends in {' or '.join(SUFFIXES)}")
    rows = outcomes(tuned)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".json":
            json.dump([row._asdict() for row in rows], file, indent=1)
            file.write("\n")
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["parameter", "from", "value", "base", "why"])
        writer.writerows([r.parameter, r.kind, r.text, _text(r.before), r.why] for r in rows)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
