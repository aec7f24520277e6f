"""The page that lists all benchmarks: docs/microbench-list.md."""

from collections.abc import Iterable

from lockstep.microbench.benchmark import Benchmark, Target
from lockstep.microbench.suite import all_benchmarks
from lockstep.microbench.suite.direct import DIRECT
from lockstep.microbench.suite.kinds import ACCELSIM

HEAD = """# All microbenchmarks

What each benchmark of the [suite](microbench.md) measures, what its timed loop is in machine code
of sm_90, and what else its value holds. Rows: on a GPU of 132 SMs, and in the simulator. This page
is made by `python scripts/microbench_list.py`.

```console
$ lockstep microbench --list --only 'launch.*'
...
launch.empty_grid...
...
```
"""
COLUMNS = ("benchmark", "measures", "timed", "holds, too", "rows")
GPU = Target(132, 90)


def page() -> str:
    """All of it."""
    small = {b.name: b for b in all_benchmarks(GPU)}
    groups: dict[str, list[Benchmark]] = {}
    for benchmark in all_benchmarks(Target(GPU.sms, GPU.architecture, full=True)):
        groups.setdefault(benchmark.group, []).append(benchmark)
    lines = [HEAD]
    for group, benchmarks in groups.items():
        lines += [f"## {group}\n", _line(COLUMNS), _line(["---"] * len(COLUMNS))]
        lines += [_line(_cells(b, small.get(b.name))) for b in benchmarks]
        lines.append("")
    lines += [_direct(), _kinds()]
    return "\n".join(lines)


def _cells(full: Benchmark, small: Benchmark | None) -> list[str]:
    since = f"from sm_{full.since}" if full.since > GPU.architecture - 20 else ""
    until = f"up to sm_{full.until}" if full.until < GPU.architecture else ""
    holds = "; ".join(text for text in (full.caveat, since, until) if text)
    rows = [sum(len(case.rows) for case in b.cases) for b in (full, small) if b]
    shown = f"{rows[0]}, {rows[1] if len(rows) > 1 and not full.hardware_only else 0}"
    names = ", ".join(f"`{name}`" for name in full.names)
    return [names, full.what, full.loop, holds, shown]


def _direct() -> str:
    lines = [
        "## Read without a fit\n",
        "Parameters of a GPU that rows say directly (`lockstep microbench --direct` runs these):\n",
        _line(("benchmark", "parameters")), _line(["---"] * 2),
        *(_pair(name, paths) for name, paths in DIRECT.items()),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _kinds() -> str:
    lines = [
        "## Kinds of Accel-Sim\n",
        "The benchmarks of Accel-Sim's suite, by folder, and those here that measure the same:\n",
        _line(("there", "here")), _line(["---"] * 2),
        *(_pair(there, here) for there, here in ACCELSIM.items()),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _pair(name: str, others: tuple[str, ...]) -> str:
    return _line([f"`{name}`", ", ".join(f"`{other}`" for other in others)])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
