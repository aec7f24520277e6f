"""One file of HTML with everything in it: script, style, licence, and the data, compressed."""

import base64
import gzip
import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.metrics import output
from lockstep.metrics.result import Result
from lockstep.metrics.system import SystemResult
from lockstep.report import figures
from lockstep.report.page.document import document
from lockstep.report.page.system import system_document

if TYPE_CHECKING:
    import pandas

_SCRIPTS = (
    "uPlot.iife.min.js", "charts.js", "table.js", "sections.js", "system.js", "page.js",
)  # fmt: skip
_STYLES = ("uPlot.min.css", "page.css")


def write_report(
    result: Result | SystemResult,
    path: str | Path,
    comparison: dict[str, Any] | None = None,
    source: "pandas.DataFrame | None" = None,
) -> None:
    """Write a result as one page of HTML, for any browser of 2023 or later, without a network.

    Over time it shows what an interval was asked for; see :func:`.document.document` for the
    arguments, which a system of several GPUs does not have. Raises :class:`LockstepError` where the
    file cannot be written.
    """
    if isinstance(result, SystemResult):
        output.write_text(path, page(system_document(result)))
    else:
        output.write_text(path, page(document(result, comparison, source)))


def write_comparison(comparison: dict[str, Any], path: str | Path) -> None:
    """Write a page of a comparison alone, of ``RunComparison.to_dict``."""
    runs = [figures.clean(name) for name in comparison["runs"]]
    about = {"workload": "Comparison", "gpu": ", ".join(runs), "compare": comparison}
    output.write_text(path, page(about))


def page(data: dict[str, Any]) -> str:
    """The page of a document."""
    text = json.dumps(output.finite(data), allow_nan=False, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    parts = {
        "{{title}}": escape(f"{data['workload']} on {data['gpu']}"),
        "{{style}}": "\n".join(_asset(name) for name in _STYLES),
        "{{licence}}": _asset("uPlot.LICENSE").replace("--", "- -"),
        "{{data}}": packed,
        "{{script}}": "\n".join(_asset(name) for name in _SCRIPTS),
    }
    # in one pass: what a trace calls itself may look like a mark
    return re.sub(r"\{\{\w+\}\}", lambda mark: parts[mark[0]], _asset("page.html"))


def _asset(name: str) -> str:
    return (files("lockstep.report.page") / "assets" / name).read_text(encoding="utf-8")
