"""The rows that a modelled GPU has: those of the suite that were measured, and no others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lockstep.gpus.spec import GPU
from lockstep.microbench.benchmark import Benchmark, Case
from lockstep.microbench.simulate import simulate, target_of
from lockstep.microbench.suite import all_benchmarks
from lockstep.tuning.rows import Row, Rows, clocks


def simulated(gpu: GPU, measured: Sequence[Row], say: Callable[[str], None] = print) -> Rows:
    """The rows of the suite with the names and parameters of ``measured`` ones.

    Where a benchmark has none with the same parameters, because it runs in smaller sizes, all its
    rows are there. ``say`` hears what cannot run on this GPU.
    """
    rows = [
        Row(r.name, r.parameters, r.value, r.unit, r.notes, raw=clocks(r.raw))
        for r in simulate(gpu, chosen(all_benchmarks(target_of(gpu)), measured), say)
    ]
    return Rows(Path(f"simulated {gpu.name}"), tuple(rows))


def chosen(benchmarks: Iterable[Benchmark], measured: Iterable[Row]) -> list[Benchmark]:
    """The benchmarks of the rows, each with the cases that they need."""
    wanted: dict[str, set[str]] = {}
    for row in measured:
        wanted.setdefault(row.name, set()).add(row.parameters)
    found = ((benchmark, _cases(benchmark, wanted)) for benchmark in benchmarks)
    return [replace(benchmark, cases=cases) for benchmark, cases in found if cases]


def _cases(benchmark: Benchmark, wanted: dict[str, set[str]]) -> tuple[Case, ...]:
    named = [case for case in benchmark.cases if any(row.name in wanted for row in case.rows)]
    same = [
        case
        for case in named
        if any(row.parameters in wanted.get(row.name, ()) for row in case.rows)
    ]
    return tuple(same or named)
