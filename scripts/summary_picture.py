"""The picture of a summary in README.md: real output of a command, as an image.

``python scripts/summary_picture.py docs/summary.svg`` draws it anew; the tests of the documentation
say when that is needed.
"""

import html
import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

import lockstep
from lockstep.files import replacing
from lockstep.metrics.result import Result
from lockstep.report.summary import print_summary

ROOT = Path(__file__).parents[1]
COMMAND = "lockstep simulate examples/gemm.lst --gpu QV100"
WIDTH = 96
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # they would be fetched from elsewhere
_TEXT = re.compile(r'<text [^>]*?y="([\d.]+)"[^>]*?clip-path[^>]*>([^<]*)</text>')


def result() -> Result:
    """What the command shows."""
    return lockstep.simulate(ROOT / "examples" / "gemm.lst", "QV100")


def picture(of: Result) -> str:
    """The summary on a terminal, as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(f"$ {COMMAND}", style="dim", highlight=False)
    print_summary(of, console)
    drawn = console.export_svg(title="lockstep", theme=MONOKAI, unique_id="lockstep")
    return _FONTS.sub("", drawn)


def lines(svg: str) -> list[str]:
    """The text in a picture, but for what depends on the machine."""
    rows: dict[float, str] = {}
    for y, text in _TEXT.findall(svg):
        rows[float(y)] = rows.get(float(y), "") + html.unescape(text).replace("\xa0", " ")
    texts = [text.strip() for _, text in sorted(rows.items())]
    return [t for t in texts if t and not t.startswith(("simulated in", "scoreboard"))]


def main() -> None:
    """Write the file that is named."""
    with replacing(sys.argv[1]) as temporary:
        temporary.write_text(picture(result()), encoding="utf-8")


if __name__ == "__main__":
    main()
