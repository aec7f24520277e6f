"""``lockstep replay``: a program's recorded calls in, the summary out."""

from pathlib import Path

import click

from lockstep.cli.application import report
from lockstep.cli.parameters import (
    MEMORY,
    OUTPUT,
    POSITIVE,
    Timing,
    check_writable,
    find_gpu,
    summary_option,
)
from lockstep.cli.policies import policy_option
from lockstep.cli.progress import Progress
from lockstep.cli.simulate import FILE


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--gpu", metavar="NAME", required=True, help="The GPU.")
@click.option("--set", "overrides", multiple=True, metavar="K=V", help="Change a GPU parameter.")
@click.option(
    "--timing",
    type=Timing(),
    default="full",
    show_default=True,
    help="Simulate all launches, none (fast), or one in N.",
)
@policy_option
@MEMORY
@click.option("--threads", type=POSITIVE, default=1, show_default=True, help="Host threads.")
@click.option("--json", "json_file", type=OUTPUT, help="Write all results as JSON.")
@click.option("--out", type=FILE, metavar="DIR", help="Write tables, manifest and summary.")
@summary_option
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def command(
    directory, gpu, overrides, timing, policies, json_file, out, detail, quiet, **options
) -> None:
    """Execute the calls that `lockstep run --record DIRECTORY` recorded, without the program.

    Exit code 1: a kernel failed.
    """
    from lockstep.runtime import Simulator
    from lockstep.runtime.replay import replay

    check_writable(json_file)
    check_writable(out, directory=True)
    if not timing and (out or policies):
        raise click.UsageError("--out and --policy need --timing")
    spec, notice = find_gpu(gpu, overrides, quiet), Progress(quiet).notice
    options |= {"name": directory.name, "notice": notice, **policies}
    simulator = Simulator(spec, timing, **options)
    try:
        complete = replay(simulator, directory)
        files = {"json_file": json_file, "out": out, "timeline": None}
        report(simulator, files, "" if quiet else detail)
    finally:
        simulator.close()
    if not complete:
        raise SystemExit(1)
