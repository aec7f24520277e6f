"""What is kept of a run: a row of a table, in memory and in a CSV file."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lockstep.correlation.csvfile import number, read_table
from lockstep.errors import InputError
from lockstep.files import replacing

FACTS = ("study", "size", "program", "items", "variant", "gpu", "changes", "key")


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One program on one variant.

    ``items`` is the program's size in its own unit. ``key`` identifies code, program and GPU: of
    two rows with the same key the counters are the same.
    """

    study: str
    size: str
    program: str
    items: int
    variant: str
    gpu: str
    changes: str
    key: str
    counters: dict[str, float]

    def record(self) -> dict[str, object]:
        """The facts, then the counters."""
        return {name: getattr(self, name) for name in FACTS} | self.counters


def write_rows(path: Path, rows: Iterable[StudyRow]) -> None:
    """Write a table, all at once or not at all; a number that is not defined is an empty cell."""
    records = [row.record() for row in rows]
    columns = list(dict.fromkeys(name for record in records for name in record))
    with replacing(path) as place, open(place, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _cell(v) for k, v in record.items()} for record in records)


def read_rows(path: Path) -> list[StudyRow]:
    """The rows of a table; raises :class:`InputError` if it is none of ours."""
    table = read_table(path, lambda cells: cells[: len(FACTS)] == list(FACTS))
    if tuple(table.columns[: len(FACTS)]) != FACTS:
        raise InputError(path, "", f"no table of a study: expected columns {', '.join(FACTS)}")
    rows = []
    for line, record in zip(table.lines, table.records()):
        facts: dict = {name: record.pop(name) for name in FACTS}
        if not (facts["items"].isdecimal() and len(facts["items"]) < 20):
            raise InputError(path, f"line {line}", f"items {facts['items']!r}: expected a number")
        counters = {name: number(text) for name, text in record.items()}
        known = {name: math.nan if found is None else found for name, found in counters.items()}
        rows.append(StudyRow(**facts | {"items": int(facts["items"])}, counters=known))
    return rows


def _cell(value: object) -> object:
    return "" if isinstance(value, float) and math.isnan(value) else value
