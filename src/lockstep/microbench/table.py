"""The table of results: made from raw clocks, written and read as CSV."""

import csv
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TextIO

from lockstep.errors import InputError
from lockstep.microbench.benchmark import Case
from lockstep.microbench.measures import Raw

_OPEN: dict[str, Callable] = {".xz": lzma.open, ".gz": gzip.open}


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: what was measured, how it ran, the value (a median), and the clocks behind it."""

    name: str
    parameters: str
    value: float
    unit: str
    notes: str = ""
    raw: str = ""
    stands_for: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in a table of hardware, where it may have run in another size."""
        return self.name, self.stands_for or self.parameters


COLUMNS = [f.name for f in fields(TableRow)]


def rows_of(case: Case, raw: Raw) -> Iterator[TableRow]:
    """The rows that the raw words of a case's repeats say."""
    for row in case.rows:
        for reading in row.measure.read(raw):
            notes = "; ".join(text for text in (row.notes, reading.notes) if text)
            parameters = row.parameters.format(**reading.names)
            value = float(f"{reading.value:.6g}")
            yield TableRow(
                row.name, parameters, value, row.unit, notes, reading.raw, row.stands_for
            )


def write(rows: Iterable[TableRow], stream: TextIO) -> None:
    """Write a table."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        name, parameters, value, *texts = astuple(row)
        writer.writerow([name, parameters, f"{value:.6g}", *texts])


def read(path: Path) -> list[TableRow]:
    """Read a table, perhaps .xz or .gz; columns that are not ours are ignored.

    Rows of benchmarks that failed (named ERROR) are left out. Raises :class:`InputError`.
    """
    try:
        with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="") as stream:
            return [_row(path, k, record) for k, record in enumerate(csv.DictReader(stream), 2)
                    if record.get("name") != "ERROR"]  # fmt: skip
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from None
    except (UnicodeDecodeError, EOFError, lzma.LZMAError, zlib.error, csv.Error) as error:
        raise InputError(path, "", f"no table of microbenchmarks: {error}") from None


def _row(path: Path, line: int, record: dict[str, str | None]) -> TableRow:
    try:
        value = float(record["value"] or "")
        name, parameters = record["name"] or "", record["parameters"] or ""
    except (KeyError, ValueError):
        raise InputError(
            path, f"line {line}", "no row of microbenchmarks: expected name, parameters and value"
        ) from None
    texts = (record.get(column) or "" for column in COLUMNS[3:])
    return TableRow(name, parameters, value, *texts)
