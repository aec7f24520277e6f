"""``lockstep replay``: a program's recorded calls in, the summary out."""

import click

from lockstep.cli.application import report
from lockstep.cli.checks import check_options, tell
from lockstep.cli.inside import INSIDE, check_inside, chosen_with, inside_options
from lockstep.cli.known import GPU_NAME
from lockstep.cli.options import (
    ADVICE,
    JSON,
    MEMORY,
    OUT,
    QUIET,
    SET,
    SUMMARY,
    THREADS,
    TIMING,
    source_options,
)
from lockstep.cli.outputs import OutputFiles
from lockstep.cli.parameters import FILE, find_gpu
from lockstep.cli.policies import POLICY
from lockstep.cli.progress import Progress


@click.command()
@click.argument("directory", type=FILE)
@click.option("--gpu", type=GPU_NAME, metavar="NAME", required=True, help="The GPU.")
@SET
@TIMING
@INSIDE
@POLICY
@MEMORY
@THREADS
@JSON
@OUT
@source_options
@ADVICE
@check_options
@SUMMARY
@QUIET
def command(
    directory, gpu, overrides, timing, inside, policies, source, advice, check_limit, detail, quiet,
    **options,
) -> None:  # fmt: skip
    """Execute the calls that `lockstep run --record DIRECTORY` recorded, without the program.

    Exit code 1: a kernel failed. It is 3 if --check has found something.
    """
    from lockstep.runtime import Simulator
    from lockstep.runtime.replay import replay

    files = OutputFiles.taken(options)
    files.check()
    source = source or files.source_table is not None or advice
    if not timing.simulates and (files.out or policies or source):
        raise click.UsageError("--out, --policy, --source and --advice need --timing")
    check_inside(inside, timing)
    timing = chosen_with(inside, timing)
    options |= inside_options(inside)
    spec, notice = find_gpu(gpu, overrides, quiet), Progress(quiet).notice
    options |= {"name": directory.name, "notice": notice, "source": source, **policies}
    simulator = Simulator(spec, timing.simulates, choose=timing.chooser, **options)
    try:
        complete = replay(simulator, directory)
        report(simulator, files, "" if quiet else detail, timing.chooser, advice)
        found = tell(simulator.device, check_limit)
    finally:
        simulator.close()
    if code := found or int(not complete):
        raise SystemExit(code)
