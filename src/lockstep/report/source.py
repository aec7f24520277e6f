"""The source lines, or the instructions, at which most scheduler-cycles were lost, as a table."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lockstep.metrics.result import Result
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import NONE, clean, count, decimal, kernel_name, percent
from lockstep.report.summary import LEAST_WIDTH
from lockstep.report.terms import terms

if TYPE_CHECKING:
    import pandas

LINES_SHOWN = 10
PLACE_WIDTH = 72  # characters of a file, a line and its text
LONGEST_SOURCE = 1 << 22  # bytes of a source file that is shown


def print_source(result: Result, console: Console) -> None:
    """Print the lines with most stalls, or where no line is known the instructions."""
    for part in parts(result, max(console.width, LEAST_WIDTH)):
        console.print(part)


def parts(result: Result, width: int) -> "list[Table | Text | str]":
    """What :func:`print_source` prints: nothing for a run without kernels."""
    if not result.run.kernels:
        return []
    lines = result.source_lines
    if lines.empty:
        shown, what = _top(result.source), "Instructions"
        places = [f"{pc:#06x} {clean(text)}" for pc, text in zip(shown["pc"], shown["text"])]
    else:
        shown, what = _top(lines), "Source lines"
        places = [place(file, line) for file, line in zip(shown["file"], shown["line"])]
    if shown.empty:
        return ["", Text("Source: no scheduler-cycle was lost at an instruction.")]
    found: list[Table | Text | str] = ["", _table(result, shown, places, what, width)]
    if not lines.empty and (rest := _unplaced(result.source)) > 0:
        found.append(Text(f"Instructions without a known line: {percent(rest)} of the stalls."))
    return found


def _top(rows: "pandas.DataFrame") -> "pandas.DataFrame":
    """The rows with most stalls, in that order; equal ones as the code has them."""
    stalled = rows[rows["stalls"] > 0]
    return stalled.sort_values("stalls", ascending=False, kind="stable").head(LINES_SHOWN)


def _unplaced(rows: "pandas.DataFrame") -> float:
    """Percent of the stalls at instructions without a line."""
    stalls = rows["stalls"]
    return 100 * stalls[rows["line"] == 0].sum() / max(1, stalls.sum())


def _table(
    result: Result, rows: "pandas.DataFrame", places: list[str], what: str, width: int
) -> Table:
    words = terms(result.gpu)
    all_stalls = max(1, int(result.source["stalls"].sum()))
    several = result.source["kernel"].nunique() > 1
    cells = [
        [
            place,
            *([kernel_name(row["kernel"])] if several else []),
            percent(100 * row["stalls"] / all_stalls),
            _reason(row),
            count(row["warp_instructions"]),
            decimal(row["threads_per_instruction"]),
            decimal(row["sectors_per_request"]),
            percent(row["l1_hit_rate"]),
            percent(row["l2_hit_rate"]),
            count(row["bank_conflicts"]) if row["shared_accesses"] else NONE,
        ]
        for place, (_, row) in zip(places, rows.iterrows())
    ]
    columns = [
        Column(what[:-1].lower(), Kind.NAME),
        *([Column("kernel", Kind.NAME)] if several else []),
        Column("stalls"),
        Column("main reason", Kind.WORD, 8),
        Column("issued", rank=7),
        Column(f"{words.thread}s/inst.", rank=5),
        Column("sectors/req.", rank=6),
        Column("L1 hits", rank=4),
        Column("L2 hits", rank=2),
        Column("bank conflicts", rank=3),
    ]
    title = f"{what} with most stalls"
    return table(columns, cells, width, title)


def _reason(row: Any) -> str:
    """The main reason, and how much of the stalls it is of."""
    reason = row["stall_reason"]
    return f"{reason.replace('_', ' ')} {percent(100 * row[f'stall_{reason}'] / row['stalls'])}"


def place(file: str, line: int) -> str:
    """File and line, and what stands there if the file is on this machine."""
    text = _text(file)
    there = text[line - 1].strip() if 0 < line <= len(text) else ""
    name = clean(f"{Path(file).name}:{line}  {there}".rstrip())
    return name if len(name) <= PLACE_WIDTH else f"{name[: PLACE_WIDTH - 1]}…"


@cache
def _text(file: str) -> tuple[str, ...]:
    """The lines of a source file; none if it is not here."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > LONGEST_SOURCE:
            return ()
        return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()
