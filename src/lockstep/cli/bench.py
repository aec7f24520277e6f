"""``lockstep bench``: speed and memory, each trace in a process of its own."""

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME
from lockstep.cli.options import THREADS
from lockstep.cli.parameters import FILE, OUTPUT, check_writable


@click.command()
@click.argument("paths", nargs=-1, type=FILE)
@click.option(
    "--gpu",
    "name",
    type=GPU_NAME,
    metavar="NAME",
    help="The GPU; default: by the trace's binaries.",
)
@THREADS
@click.option(
    "--reference",
    type=FILE,
    metavar="CSV",
    help="Compare with another simulator: columns trace, config and user_seconds.",
)
@click.option("--json", "json_file", type=OUTPUT, help="Write the table as JSON.")
def command(paths, name, threads, reference, json_file) -> None:
    """Measure the traces at PATHS, or the shipped examples.

    With a reference and no GPU, each trace runs on every GPU that the reference has for it. Peak
    memory is that of a process which did nothing else.
    """
    from lockstep.metrics import output
    from lockstep.report import benchmark

    check_writable(json_file)
    paths = list(paths) or benchmark.examples()
    known = benchmark.read_reference(reference) if reference else {}
    jobs = benchmark.plan(paths, name, known)
    benchmark.warm_up(jobs[0], lambda text: click.echo(text, err=True))
    measured = []
    for job in jobs:
        click.echo(f"{job.trace} on {job.gpu or 'its GPU'} ...", err=True)
        measured.append(benchmark.measure(job, threads))
    console = console_of(json_file)
    console.print(benchmark.table(measured, console.width))
    if json_file:
        output.write_json(json_file, [m.to_dict() for m in measured])
    if any(m.stopped for m in measured):
        raise SystemExit(1)
