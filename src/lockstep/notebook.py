"""What notebooks show of objects: small tables in HTML, in which everything is escaped.

A class has ``_repr_html_`` and calls one of these; results, which are tables themselves, and
pictures show themselves.
"""

from collections.abc import Mapping, Sequence
from html import escape

MOST = 12  # rows of a table; how many more there are is said


def facts(title: str, values: Mapping[str, object]) -> str:
    """A title, and a row for each name and value; None is left out."""
    lines = [
        f"<tr><th>{escape(name)}</th><td>{_cell(value)}</td></tr>"
        for name, value in values.items()
        if value is not None
    ]
    return f"<p><b>{escape(title)}</b></p>\n<table><tbody>{''.join(lines)}</tbody></table>"


def rows(title: str, table: Sequence[Mapping[str, object]]) -> str:
    """A title, and the first rows of a table whose columns are those of its first row."""
    shown = table[:MOST]
    more = f"<br>The first {MOST} of {len(table):,} rows:" if len(table) > MOST else ""
    head = f"<p><b>{escape(title)}</b>{more}</p>"
    if not shown:
        return head
    names = "".join(f"<th>{escape(name)}</th>" for name in shown[0])
    lines = ("".join(f"<td>{_cell(row[name])}</td>" for name in shown[0]) for row in shown)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"{head}\n<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    """Numbers as people read them; what is undefined is a dash."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if value != value else f"{value:,.5g}"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_cell, value))
    return escape(str(value))
