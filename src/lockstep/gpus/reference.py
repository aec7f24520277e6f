"""The generated tables of ``docs/gpus.md``.

``python -m lockstep.gpus.reference docs/gpus.md`` renews them in place; the text around them is
written by hand.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from lockstep.gpus import library
from lockstep.gpus.library import ParameterRow
from lockstep.gpus.units import FALLBACK

EXAMPLE = "QV100"
_GENERAL = (
    (re.compile(r"^(sm\.units)\.\w+"), r"\1.UNIT"),
    (re.compile(r"\.(operations|intervals|instances)\.\w+$"), r".\1.CLASS"),
    (re.compile(r"^(sm\.unit_queues)\.\w+$"), r"\1.UNIT"),
    (re.compile(r"^(dram\.timing)\.\w+$"), r"\1.NAME"),
    (re.compile(r"^(sm\.holds|sm\.front_end\.redirects)\.\w+$"), r"\1.OPCODE"),
    (re.compile(r"^(shared\.(?:passes|extra_latency))\.\w+$"), r"\1.OPCODE"),
)


def renew(text: str) -> str:
    """``text`` with what stands between the markers of each table generated anew."""
    for name, table in (("gpus", gpus()), ("parameters", parameters()), ("classes", classes())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, _, rest = text.partition(begin)
        text = before + begin + table + end + rest.partition(end)[2]
    return text


def gpus() -> str:
    """The GPUs of the library with what datasheets state of them."""
    head = ("name", "GPU", "SMs", "MHz", "FP32 TFLOPS", "L2 MB", "DRAM GB/s", "validated against")
    rows = []
    for name in library.names():
        gpu, totals = library.gpu(name), library.totals(library.gpu(name))
        rows.append(
            (
                f"`{name}`",
                gpu.description,
                gpu.sm.count,
                f"{gpu.clock_mhz:g}",
                f"{totals.fp32_tflops:.1f}",
                f"{totals.l2_bytes / 2**20:g}",
                f"{totals.dram_gb_per_s:.0f}",
                "; ".join(gpu.validated) or "not yet",
            )
        )
    return _table(head, rows)


def parameters() -> str:
    """All parameters; units, classes and timing parameters in one row each."""
    found: dict[str, ParameterRow] = {}
    others = [name for name in library.names() if name != EXAMPLE]
    for row in (row for gpu in (EXAMPLE, *others) for row in library.describe(library.gpu(gpu))):
        name = row.name
        for pattern, general in _GENERAL:
            name = pattern.sub(general, name)
        found.setdefault(name, row._replace(name=name, value=row.value if name == row.name else ""))
    rows = ((f"`{r.name}`", r.unit, r.range, r.meaning, _value(r.value)) for r in found.values())
    return _table(("parameter", "unit", "range", "meaning", EXAMPLE), rows)


def classes() -> str:
    """What an operation class that no unit names runs as."""
    rows = ((op.name, other.name) for op, other in FALLBACK.items())
    return _table(("class", "runs as"), rows)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
