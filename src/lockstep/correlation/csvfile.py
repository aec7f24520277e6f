"""Tables as profilers write them: compressed or not, with other lines before, in and after them."""

import csv
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from lockstep.errors import InputError

MOST_BYTES = 1 << 28  # of a table, decompressed
_MARK = "=="  # begins what profilers say between the lines of a table
_NUMBER = re.compile(
    r"-?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)(?:[eE][+-]?\d{1,3})?\Z", re.ASCII
)
_OTHER_NUMBER = re.compile(r"-?[0-9][0-9.,'\u2019\s]*[0-9](?:[eE][+-]?[0-9]{1,3})?\Z")


class Table(NamedTuple):
    """A table with a head. Each row is as long as it; ``lines`` say where in the file they end."""

    path: Path
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]

    def records(self) -> Iterator[dict[str, str]]:
        """Each row by its columns; of two columns with one name the first counts."""
        for row in self.rows:
            yield dict(zip(reversed(self.columns), reversed(row)))

    def number(self, line: int, column: str, text: str) -> float | None:
        """As :func:`number`; raises :class:`InputError` for one that another language writes so."""
        value = number(text)
        if value is None and _OTHER_NUMBER.match(text.removesuffix("%").rstrip()):
            what = f"{column} = {text[:40]!r}; expected a number as 1,234.5: write the table with "
            raise InputError(self.path, f"line {line}", f"{what}LC_ALL=C")
        return value

    def refuse_unit(self, line: int, column: str, unit: str, hint: str = "") -> NoReturn:
        """Raise :class:`InputError` for a unit that is not known."""
        what = f"{column} is in {unit[:40]!r}, which is no unit that is known{hint}"
        raise InputError(self.path, f"line {line}", what)

    def arranged(self, turns: Sequence[tuple[Hashable, float] | None]) -> "Table":
        """With the rows of a group in the order of their numbers, in the places of that group.

        ``turns`` are group and number of each row; None stays where it is.
        """
        groups: dict[Hashable, list[tuple[float, int]]] = {}
        for place, turn in enumerate(turns):
            if turn is not None:
                groups.setdefault(turn[0], []).append((turn[1], place))
        order = list(range(len(turns)))
        for group in groups.values():
            for (_, place), (_, row) in zip(group, sorted(group)):
                order[place] = row
        return self._replace(
            rows=[self.rows[n] for n in order], lines=[self.lines[n] for n in order]
        )


def read_table(path: str | Path, is_head: Callable[[list[str]], bool]) -> Table:
    """The table whose head ``is_head`` knows by its columns, else that of the first line.

    A row that is shorter or longer than the head is refused. Raises :class:`InputError`.
    """
    path = Path(path)
    lines = _text(path).split("\n")
    said = [n for n, line in enumerate(lines) if line.strip() and not line.startswith(_MARK)]
    if not said:
        raise InputError(path, "", "is empty; expected a CSV table")
    head = next((n for n in said if is_head(_cells(lines[n]))), said[0])
    columns = _cells(lines[head])
    kept = [n for n in said if n > head]
    rows, numbers = [], []
    reader = csv.reader(io.StringIO("\n".join(lines[n] for n in kept)), strict=True)
    try:
        for row in reader:
            number = kept[reader.line_num - 1] + 1
            if len(row) != len(columns):
                what = f"{len(row)} cells where the head has {len(columns)}"
                raise InputError(path, f"line {number}", what)
            rows.append([cell.strip() for cell in row])
            numbers.append(number)
    except csv.Error as error:
        where = f"line {kept[min(reader.line_num, len(kept)) - 1] + 1}"
        raise InputError(path, where, f"not CSV: {error}") from error
    return Table(path, columns, rows, numbers)


def number(text: str) -> float | None:
    """A finite number, perhaps with commas between thousands or a percent sign; else None.

    A comma elsewhere may be a decimal one: that is no number.
    """
    text = text.removesuffix("%").rstrip()
    if len(text) > 64 or not _NUMBER.match(text):
        return None
    value = float(text.replace(",", ""))
    return value if abs(value) < 1e300 else None


def dimensions(text: str) -> tuple[int, ...]:
    """Three numbers of ``(12, 1, 1)``, ``12x1x1`` or ``12``; () of any other text."""
    if not re.fullmatch(r"[\s(\[]*\d{1,10}(?:[\s,x]+\d{1,10}){0,2}[\s)\]]*", text, re.ASCII):
        return ()
    found = [int(n) for n in re.findall(r"\d+", text)]
    return (*found, *[1] * (3 - len(found)))


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return []


def _opened(path: Path) -> BinaryIO | gzip.GzipFile | lzma.LZMAFile:
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")


def _text(path: Path) -> str:
    try:
        with _opened(path) as file:
            data = file.read(MOST_BYTES + 1)
    except EOFError as error:
        raise InputError(path, "", "the compressed file ends too early") from error
    except (lzma.LZMAError, zlib.error) as error:
        raise InputError(path, "", f"cannot decompress: {error}") from error
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise InputError(path, "", f"has more than {MOST_BYTES >> 20} MiB: too large a table")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not a text in UTF-8") from error
