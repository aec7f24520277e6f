"""docs/ptx-coverage.md, from the table: ``python -m lockstep.execution.ptx.coverage``."""

import re
import sys

from lockstep.execution.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.execution.ptx.opcodes import TABLE
from lockstep.execution.ptx.refusals import REFUSED

INTRODUCTION = """\
# PTX coverage

Generated from the table of opcodes; `python -m lockstep.execution.ptx.coverage >
docs/ptx-coverage.md` writes this page again. {opcodes} opcodes can be executed, in {forms} forms.
A module with any other instruction is refused when it is loaded, with the instruction's name, line
and column, and why; how many others there are is told, and the lines of the first ten.

```python
import lockstep

with lockstep.Device("A100") as device:
    module = device.load_ptx("examples/kernels/saxpy/saxpy.ptx")
    assert list(module.entries) == ["saxpy"]  # all of it can be executed
```

Forms are written as in the PTX manual: what stands in `[]` may be absent, of what stands in `{{}}`
one is chosen.
"""
REFUSALS = """\
## Refused

Modifiers in another order than the manual's are taken as ptxas takes them. These instructions are
refused (`*` is whatever there is in its place); what is neither above nor here is refused as no
instruction of the PTX ISA.

| instruction | why |
|---|---|
"""
_BASE = re.compile(r"(\w+|\{[\w,]+\})(.*)")


def forms() -> dict[str, list[str]]:
    """The forms of each opcode."""
    listed: dict[str, list[str]] = {}
    for entry in dict.fromkeys(entry for own in TABLE.values() for entry in own):
        for form in entry.forms:
            for name, rest in _split(form):
                listed.setdefault(name, []).append(name + rest)
    return dict(sorted(listed.items()))


def _split(form: str) -> list[tuple[str, str]]:
    """The opcodes that a form begins with, and its rest."""
    first, rest = _BASE.fullmatch(form).groups()
    return [(name, rest) for name in first.strip("{}").split(",")]


def page() -> str:
    """The whole page, Markdown."""
    table = forms()
    count = sum(map(len, table.values()))
    parts = [INTRODUCTION.format(opcodes=len(table), forms=count)]
    for name, own in table.items():
        lines = "\n".join(own)
        parts.append(f"## {name}\n\n```text\n{lines}\n```\n")
    rows = "\n".join(f"| `{name}` | {why} |" for name, why in REFUSED.items())
    return "\n".join([*parts, f"{REFUSALS}{rows}\n"])


if __name__ == "__main__":
    sys.stdout.write(page())
