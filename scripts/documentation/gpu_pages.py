"""A page for each GPU of the library: every parameter with its value, meaning and source."""

from functools import cache
from html import escape

from generated_page import GeneratedPage

from lockstep.gpus import library

_SHOWN_ABOVE = ("description", "architectures", "validated")
_NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n"  # ten thousand rows would bury all else


@cache
def pages() -> dict[str, GeneratedPage]:
    """The pages, by their places in the site."""
    return {f"gpus/{name}.md": GeneratedPage(name, _page(name)) for name in library.names()}


def _page(name: str) -> str:
    gpu = library.gpu(name)
    rows = [row for row in library.describe(gpu) if row.name not in _SHOWN_ABOVE]
    binaries = " ".join(f"sm_{a}" for a in gpu.architectures) or "none natively"
    lines = [
        f"# {name}",
        "",
        escape(gpu.description),
        "",
        f"* binaries: {binaries}",
        f"* validated against: {escape('; '.join(gpu.validated)) or 'nothing yet'}",
        f"* `lockstep run saxpy --gpu {name}`, `lockstep.gpu({name!r})`",
        "",
        "What parameters mean, and how to change them, is told in [GPUs](../gpus.md).",
        "",
        "<table><thead><tr><th>parameter<th>value<th>meaning<th>source</tr></thead><tbody>",
    ]
    for row in rows:
        value = ", ".join(map(str, row.value)) if isinstance(row.value, tuple) else str(row.value)
        meaning = f"{row.meaning} ({row.range})"
        cells = (f"<code>{row.name}</code>", escape(f"{value} {row.unit}"), escape(meaning),
                 escape(row.source))  # fmt: skip
        lines.append("<tr>" + "".join(f"<td>{cell}" for cell in cells) + "</tr>")
    lines.append("</tbody></table>")
    return _NO_SEARCH + "\n".join(lines) + "\n"
