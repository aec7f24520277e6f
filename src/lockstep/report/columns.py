"""Tables for terminals of any width: names are shortened and columns left out, no number is cut."""

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

GAP = 2  # columns of the terminal between two of a table
ALWAYS = 9  # a column that is never left out
LEAST_NAME, LEAST_PROSE = 12, 16  # widths below which other columns are left out first


class Kind(Enum):
    """What a column holds, which says what may happen to it where there is no room."""

    NAME = "name"  # may be shortened
    NUMBER = "number"  # stands at the right, whole or not at all
    WORD = "word"  # the same, at the left
    PROSE = "prose"  # goes on in the next line


class Column(msgspec.Struct, frozen=True):
    """A column of a table. Of two that do not fit, the one with the lower ``rank`` goes first."""

    heading: str
    kind: Kind = Kind.NUMBER
    rank: int = ALWAYS


def table(
    columns: Sequence[Column], rows: "Sequence[Sequence[str | Text]]", width: int, title: str = ""
) -> "Table":
    """A table of ``rows`` as texts, at most ``width`` wide if its first column allows that.

    Columns without a heading of any kind make a table without a head.
    """
    from rich.table import Table
    from rich.text import Text

    natural = [_natural(c, [row[k] for row in rows]) for k, c in enumerate(columns)]
    shown = _shown(columns, natural, width)
    widths = _widths(columns, natural, shown, width)
    view = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        show_header=any(c.heading for c in columns),
    )
    for k in shown:
        kind = columns[k].kind
        view.add_column(
            Text(columns[k].heading),
            justify="right" if kind is Kind.NUMBER else "left",
            width=widths[k],
            no_wrap=kind is not Kind.PROSE,
            overflow="fold" if kind is Kind.PROSE else "ellipsis",
        )
    for row in rows:
        cells = [row[k] for k in shown]
        view.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    return view


def _natural(column: Column, cells: "Sequence[str | Text]") -> int:
    """The widest text of a column."""
    from rich.cells import cell_len

    return max(cell_len(str(text)) for text in (column.heading, *cells))


def _least(column: Column, natural: int) -> int:
    """What a column needs."""
    if column.kind is Kind.NAME:
        return min(natural, LEAST_NAME)
    return min(natural, LEAST_PROSE) if column.kind is Kind.PROSE else natural


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _shown(columns: Sequence[Column], natural: list[int], width: int) -> list[int]:
    """The columns for which there is room."""
    shown = list(range(len(columns)))
    while _total([_least(columns[k], natural[k]) for k in shown]) > width:
        rank = min(columns[k].rank for k in shown)
        if rank == ALWAYS:
            break
        shown.remove(max(k for k in shown if columns[k].rank == rank))
    return shown


def _widths(
    columns: Sequence[Column], natural: list[int], shown: list[int], width: int
) -> dict[int, int]:
    """How wide each of these is: what it needs, then names as wide as they are, then prose."""
    widths = {k: _least(columns[k], natural[k]) for k in shown}
    spare = width - _total(list(widths.values()))
    for kind in (Kind.NAME, Kind.PROSE):
        growing = [k for k in shown if columns[k].kind is kind]
        while spare > 0 and (growing := [k for k in growing if widths[k] < natural[k]]):
            for k in growing[:spare]:
                widths[k] += 1
                spare -= 1
    for k in shown:  # the last resort: names of a few letters
        if spare < 0 and columns[k].kind is Kind.NAME:
            cut = min(-spare, widths[k] - 1)
            widths[k] -= cut
            spare += cut
    return widths
