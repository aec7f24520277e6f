"""A correlation as one HTML page that needs nothing else: tables, and the plots in it."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from lockstep.correlation.comparison import Correlation
from lockstep.correlation.plots import PLOTS, drawable
from lockstep.correlation.report import ROWS, STATISTICS, headline, statistics_cells, worst_cells
from lockstep.metrics import manifest, output
from lockstep.report.columns import Column, Kind
from lockstep.report.pictures import check_matplotlib, drawn

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: left }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 36em; width: 49%; height: auto }
"""


def write_page(correlation: Correlation, path: str | Path, title: str, top: int | None) -> None:
    """Write the page, with the ``top`` worst rows or all.

    Raises :class:`LockstepError` without matplotlib.
    """
    check_matplotlib()
    output.write_text(path, "\n".join(_page(correlation, title, top)) + "\n")


def _page(correlation: Correlation, title: str, top: int | None) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{escape(title)}</h1>"
    yield f"<p>{escape(headline(correlation))}. lockstep {escape(manifest.version())}.</p>"
    yield "<h2>Counters</h2>"
    yield from _table(STATISTICS, statistics_cells(correlation))
    yield f"<h2>Worst rows by {escape(correlation.metrics[0])}</h2>"
    count = len(correlation.rows) if top is None else top
    yield from _table(ROWS, worst_cells(correlation, count))
    if correlation.remarks:
        lines = "".join(f"<li>{escape(remark)}</li>" for remark in correlation.remarks)
        yield f"<h2>Not compared</h2><ul>{lines}</ul>"
    yield "<h2>Plots</h2>"
    for metric in drawable(correlation):
        yield f"<h3>{escape(metric)}</h3>"
        for kind, draw in PLOTS.items():
            picture = drawn(draw(correlation, metric), "svg").decode("utf-8")
            yield _inline(picture, f"{metric}-{kind}")
    yield "</body></html>"


def _inline(svg: str, name: str) -> str:
    """A picture among others on a page: without a head, and with ids of its own."""
    body = svg[svg.index("<svg") :]
    prefix = re.sub(r"\W", "-", name)
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", body)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    kinds = ["number" if column.kind is Kind.NUMBER else "text" for column in columns]
    heads = (f'<th class="{k}">{escape(c.heading)}</th>' for k, c in zip(kinds, columns))
    yield f"<table><tr>{''.join(heads)}</tr>"
    for row in rows:
        cells = (f'<td class="{k}">{escape(text)}</td>' for k, text in zip(kinds, row))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table>"
