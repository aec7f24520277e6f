"""docs/metrics.md, generated from the registry: ``python -m lockstep.metrics.document``."""

import ast
import inspect
import sys
from functools import lru_cache
from types import ModuleType

from lockstep.metrics import (
    aliases,
    compute_unit,
    crossbar,
    dram,
    execution,
    flops,
    l2,
    metric,
    modules,
    sm_memory,
    speed_of_light,
)
from lockstep.metrics.metric import Metric
from lockstep.metrics.registry import SECTIONS

INTRODUCTION = """\
# Metrics

Generated from the registry in `src/lockstep/metrics`; `python -m lockstep.metrics.document >
docs/metrics.md` writes this page again. A metric has Nsight Compute's name where the definition is
the same; all other names begin with `sim__`.

In a formula, `k.sm` and `k.memory` are the counters of `src/lockstep/model/counters.py`, summed
over the SMs and over the memory partitions, `k.modules` those of each module; `k.gpu` is the
specification, `k.cycles` the length from the launch on, `k.running` those of these cycles in which
there were CTAs, where kernels overlap up to a window more. `percent` and `ratio` are undefined, not
infinite, without a denominator: NaN in tables, null in JSON. `{}` in a name stands for one metric
of each {keys}.

Counters are those of the whole GPU while a kernel ran: where kernels of several streams overlap,
each also counts what the others did meanwhile, from its launch on. The columns
`warp_instructions` and `thread_instructions` of the kernel table are a kernel's own, unless the
run ended before it. In `result.total` everything counts once, and host copies too.

`lockstep metrics` finds them by words, by Nsight Compute's names and by GPGPU-Sim's:

```console
$ lockstep metrics sim__l2_hit_rate.pct
sim__l2_hit_rate.pct (%)
...
```
"""
STATES = """
## States of schedulers and warps

A scheduler does one of these in each cycle (`sim__scheduler_{}.pct`): it issues, or waits for the
reason of the warp that can go on first. A warp does one of these in each cycle
(`sim__warp_cycles_{}_per_inst.ratio`), where instructions were [counted](source-view.md). The last
column has the nearest of Nsight Compute's states of warps, which are what
`smsp__average_warps_issue_stalled_` goes on with.

| state | means | Nsight Compute |
|---|---|---|"""
NOT_SELECTED = (
    "| `not_selected` | of warps: it could have issued, and another one did | `not_selected` |"
)
NAMES = """
## Other names

Where nothing differs, the definition is the same, and `lockstep correlate` takes measurements of
that name for ours. nvprof's names are in [Comparing with hardware](correlate.md)."""
_MODULES = (
    execution, flops, compute_unit, sm_memory, crossbar, l2, dram, modules, speed_of_light,
)  # fmt: skip
_KEYS = {
    metric.operation_classes: "operation class",
    metric.stall_reasons: "scheduler state",
    metric.warp_states: "state of a warp",
    metric.units_of_cus: "unit of a compute unit",
    metric.execution_units: "kind of execution unit",
    flops.kinds: "kind of floating-point instruction",
    flops.precisions: "precision",
    modules.links: "link between modules",
}


def page() -> str:
    """The whole page, Markdown."""
    keys = ", ".join(list(_KEYS.values())[:-1]) + " or " + list(_KEYS.values())[-1]
    parts = [INTRODUCTION.replace("{keys}", keys)]
    for title, entries in SECTIONS.items():
        parts.append(f"\n## {title}\n\n| name | unit | meaning | formula |\n|---|---|---|---|")
        parts.extend(_row(entry) for entry in entries)
    parts += [*_states(), *_names()]
    return "\n".join(parts) + "\n"


def _states() -> list[str]:
    """What schedulers and warps wait for."""
    rows = [
        f"| `{reason.name.lower()}` | {state.meaning} | {state.nsight and f'`{state.nsight}`'} |"
        for reason, state in aliases.STATES.items()
    ]
    return [STATES, *rows, NOT_SELECTED]


def _names() -> list[str]:
    """Other names of metrics."""
    parts = [NAMES]
    for title, known in (("Nsight Compute", aliases.NSIGHT), ("GPGPU-Sim", aliases.GPGPUSIM)):
        parts.append(f"\n### {title}\n\n| name | here | differs |\n|---|---|---|")
        parts += [f"| `{a.name}` | `{a.metric}` | {a.differs} |" for a in known]
    return parts


def _row(entry: Metric) -> str:
    meaning = entry.meaning if entry.each is None else entry.meaning.replace("{}", "…")
    formula = formula_of(entry).replace("|", "\\|")
    return f"| `{entry.name}` | {entry.unit} | {meaning} | `{formula}` |"


def formula_of(entry: Metric) -> str:
    """The formula of an entry, as it is written."""
    return _formulas()[entry.name]


@lru_cache(maxsize=1)
def _formulas() -> dict[str, str]:
    """The source text of every formula, by the name of its metric."""
    found: dict[str, str] = {}
    for module in _MODULES:
        found |= _formulas_of(module)
    return found


def _formulas_of(module: ModuleType) -> dict[str, str]:
    entries = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Metric"
    ]
    found = {}
    for name, _, _, formula in (entry.args[:4] for entry in entries):
        assert isinstance(name, ast.Constant) and isinstance(formula, ast.Lambda)
        found[str(name.value)] = ast.unparse(formula.body)
    return found


if __name__ == "__main__":
    sys.stdout.write(page())
