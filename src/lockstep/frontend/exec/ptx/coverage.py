"""docs/ptx-coverage.md, from the table: ``python -m lockstep.frontend.exec.ptx.coverage``."""

import re
import sys

from lockstep.frontend.exec.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.frontend.exec.ptx.opcodes import TABLE

INTRODUCTION = """\
# PTX coverage

Generated from the table of opcodes; `python -m lockstep.frontend.exec.ptx.coverage >
docs/ptx-coverage.md` writes this page again. {opcodes} opcodes can be executed, in {forms} forms.
A kernel with any other instruction is refused when it is first launched, with the instruction's
name, line and column.

Forms are written as in the PTX manual: what stands in `[]` may be absent, of what stands in `{{}}`
one is chosen.
"""
REFUSED = {
    "isspacep.const": "constant variables lie in global memory here",
    "alloca.u64": "frames have the size that is declared",
    "stacksave.u64": "frames have the size that is declared",
    "stackrestore.u64": "frames have the size that is declared",
    "tex.2dms.v4.f32.s32": "textures have one sample an element",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32": "clusters have one CTA",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32": (
        "clusters have one CTA"
    ),
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes": (
        "tensor maps are tiled"
    ),
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    ".multicast::cluster": "clusters have one CTA",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32": "factors are dense",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16": "factors are dense",
}
"""Instructions of PTX ISA that are refused, an example of each kind, and why."""

REFUSALS = """\
## Refused

What is not listed above is refused; among it, an example of each kind:

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
