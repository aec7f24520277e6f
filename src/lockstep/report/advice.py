"""Advice on a terminal: what was found, where, what to do, and what it gains."""

from typing import TYPE_CHECKING, Any

from lockstep.advice.advise import examined
from lockstep.metrics.result import Result
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import clean, count, decimal, kernel_name, percent
from lockstep.report.source import place
from lockstep.report.summary import LEAST_WIDTH

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

ITEMS_SHOWN = 8
HINTS_SHOWN = 2
MOST_LAUNCHES = 1000  # that a hint looks at: it has to cost nothing
INDENT = 3
LARGE = 1000  # numbers from here on have no decimals


def print_advice(result: Result, console: "Console") -> None:
    """Print the advice that ``result`` has, what takes most time first."""
    for part in parts(result.advice, max(console.width, LEAST_WIDTH)):
        console.print(part)


def print_hint(result: Result, console: "Console") -> None:
    """Print the names of what was found, in one line; nothing where that is nothing."""
    if len(result.run.kernels) > MOST_LAUNCHES:
        return
    problems = examined(result).problems[:HINTS_SHOWN]
    named = [
        f"{item.rule.title.lower()}{f' in {kernel_name(item.kernel)}' if item.kernel else ''}"
        for item in problems
    ]
    if named:
        console.print(f"\nSlow because of: {'; '.join(named)}. --advice tells more.", style="dim")


def parts(advice: dict[str, Any], width: int) -> "list[RenderableType]":
    """What :func:`print_advice` prints."""
    from rich.text import Text

    items = advice["items"]
    if not items:
        return ["", Text("Advice: no rule has found anything.")]
    more = f": the first {ITEMS_SHOWN} of {len(items)}" if len(items) > ITEMS_SHOWN else ""
    found: list[RenderableType] = ["", Text(f"Advice{more}", style="bold")]
    for number, item in enumerate(items[:ITEMS_SHOWN], 1):
        found += _item(number, item, width)
    runs = [row for row in advice["what_if"] if not row["kernel"]]
    if runs:
        title = Text("What if: the run, simulated without one limit", style="bold")
        found += ["", title, _what_if(runs, width)]
    return found


def _item(number: int, item: dict[str, Any], width: int) -> "list[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    where = kernel_name(item["kernel"]) if item["kernel"] else "the run"
    share = f"{percent(100 * item['share'])} of {'its' if item['kernel'] else 'the'} time"
    head = Text(f"{number}. {item['title']}", style="bold")
    limited = "at its limit in " if item["at_limit"] else ""
    head.append(f" in {where}: {limited}{share}", style="not bold")
    lines = [_prose(item["what"])]
    if item["line"]:
        lines.append(_prose(f"Most of it: {place(item['file'], item['line'])}"))
    elif item["text"]:
        lines.append(_prose(f"Most of it: {item['pc']:#06x} {clean(item['text'])}"))
    lines += [_prose(text) for text in (item["todo"], _gain(item)) if text]
    lines.append(_evidence(item["evidence"]))
    return [head, *(Padding(line, (0, 0, 0, INDENT), expand=False) for line in lines)]


def _prose(text: str) -> "Text":
    from rich.text import Text

    return Text(clean(text))


def _gain(item: dict[str, Any]) -> str:
    """What it would gain: as simulated, or as counters let expect; "" of a limit."""
    if item["simulated"] is not None:
        return (
            f"Simulated without {item['lift'].replace('_', ' ')} as a limit: "
            f"{count(item['simulated_cycles'])} cycles, {decimal(item['simulated'])} times as fast."
        )
    if item["at_limit"]:
        return ""
    tell = f" (--what-if simulates {item['lift'].replace('_', ' ')})" if item["lift"] else ""
    return f"Estimated: {decimal(item['gain'])} times as fast{tell}."


def _evidence(evidence: list[dict[str, Any]]) -> "Text":
    from rich.text import Text

    told = [
        f"{each['name']} "
        + (percent(each["value"]) if each["unit"] == "%" else _number(each["value"]))
        for each in evidence
    ]
    return Text("; ".join(told), style="dim")


def _number(value: float) -> str:
    return count(value) if value == int(value) or abs(value) >= LARGE else decimal(value)


def _what_if(runs: list[dict[str, Any]], width: int) -> "RenderableType":
    """Cycles of the run without each limit."""
    rows = [
        (row["lift"].replace("_", " "), count(row["cycles"]), f"{decimal(row['speedup'])}x")
        for row in sorted(runs, key=lambda row: -row["speedup"])
    ]
    columns = [Column("without limit", Kind.WORD), Column("cycles"), Column("speed-up")]
    return table(columns, rows, width)
