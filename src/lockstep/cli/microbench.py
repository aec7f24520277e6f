"""``lockstep microbench``: the suite of microbenchmarks on a modelled GPU, beside a real one's."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME
from lockstep.cli.options import QUIET, SET
from lockstep.cli.parameters import FILE, OUTPUT, check_writable, find_gpu
from lockstep.errors import LockstepError, suggestion

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.gpus.spec import GPU
    from lockstep.microbench.benchmark import Benchmark, Target
    from lockstep.microbench.table import TableRow


FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option(
    "--gpu",
    "name",
    type=GPU_NAME,
    metavar="NAME",
    default="H100_SXM",
    show_default=True,
    help="The GPU.",
)
@SET
@click.option(
    "--only",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Benchmarks, or a group, by name; may hold *, and several are possible.",
)
@click.option(
    "--direct", is_flag=True, help="Only benchmarks that parameters are read from without a fit."
)
@click.option("--full", is_flag=True, help="Sizes and rows of hardware: slow.")
@click.option("--list", "listing", is_flag=True, help="Say what there is; run nothing.")
@click.option("-o", "--output", "csv_file", type=OUTPUT, help="Write the rows as CSV.")
@click.option(
    "--against",
    metavar="CSV",
    help="Compare with measured rows: a file, or h100-sxm, which lockstep has.",
)
@click.option(
    "--export",
    "folder",
    type=FOLDER,
    metavar="DIR",
    help="Write what a machine with a GPU needs to run the suite; run nothing.",
)
@click.option("--raw", type=FILE, metavar="FILE", help="Rows from what such a machine wrote.")
@QUIET
def command(
    name, overrides, patterns, direct, full, listing, csv_file, against, folder, raw, quiet
) -> None:
    """Measure a modelled GPU with the kernels that measure real ones."""
    from lockstep.microbench import against as comparing
    from lockstep.microbench import report
    from lockstep.microbench.simulate import target_of

    check_writable(csv_file)
    check_writable(folder, directory=True)
    measured = comparing.reference(against) if against else []
    gpu = find_gpu(name, overrides, quiet)
    chosen = choose(patterns, replace(target_of(gpu), full=full), direct)
    console = console_of(csv_file)
    if listing:
        console.print(report.listed(chosen, console.width))
        return
    if folder:
        _export(folder, gpu, patterns, direct)
        return
    rows, failures = _read(raw, patterns) if raw else _simulated(gpu, chosen, quiet)
    _write(rows, csv_file)
    if measured:
        for view in report.compared(comparing.compare(rows, measured), console.width):
            console.print(view)
    elif not quiet:
        console.print(report.values(rows, console.width))
    if failures:
        raise SystemExit(1)


def choose(patterns: tuple[str, ...], target: "Target", direct: bool = False) -> "list[Benchmark]":
    """The benchmarks that patterns name, all if there are none; or those of them in DIRECT."""
    from lockstep.microbench.suite import all_benchmarks
    from lockstep.microbench.suite.direct import DIRECT

    known = [b for b in all_benchmarks(target) if not direct or b.name in DIRECT]
    for pattern in patterns:
        if not any(_fits(benchmark, pattern) for benchmark in known):
            names = {name for benchmark in known for name in (benchmark.group, *benchmark.names)}
            near = suggestion(pattern, sorted(names)) or "; lockstep microbench --list has them all"
            raise LockstepError(f"no benchmark {pattern}{near}")
    return [b for b in known if not patterns or any(_fits(b, p) for p in patterns)]


def _fits(benchmark: "Benchmark", pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in (benchmark.group, *benchmark.names))


def _simulated(
    gpu: "GPU", chosen: "list[Benchmark]", quiet: bool
) -> "tuple[list[TableRow], list[str]]":
    """The rows, and what failed."""
    from lockstep.cli.progress import Progress
    from lockstep.microbench.simulate import simulate

    failures: list[str] = []
    with Progress(quiet) as progress:

        def step(done: int, total: int, case: str, device: "Device") -> None:
            progress.update(done, total, device.clock, 0, case)

        def fail(text: str) -> None:
            failures.append(text)
            click.echo(f"lockstep: {text}", err=True)

        return list(simulate(gpu, chosen, progress.notice, step, fail)), failures


def _export(folder: Path, gpu: "GPU", patterns: tuple[str, ...], direct: bool) -> None:
    from lockstep.microbench.export import export
    from lockstep.microbench.simulate import target_of

    target = replace(target_of(gpu), full=True)
    count = export(folder, target, choose(patterns, target, direct))
    click.echo(f"{folder}: {count} cases for {target.sms} SMs; bash {folder}/run.sh measures a GPU")


def _read(path: Path, patterns: tuple[str, ...]) -> "tuple[list[TableRow], list[str]]":
    """The rows that a GPU's clocks say, and what failed there."""
    from lockstep.microbench.plan import Raw

    raw = Raw(path)
    for failure in raw.failures:
        click.echo(f"lockstep: failed: {failure}", err=True)
    return list(raw.rows(choose(patterns, raw.target))), raw.failures


def _write(rows: "list[TableRow]", path: Path | None) -> None:
    from lockstep.files import replacing
    from lockstep.microbench import table

    if path:
        with replacing(path) as place, open(place, "w", encoding="utf-8", newline="") as stream:
            table.write(rows, stream)
