"""``lockstep trace``: a program in, its trace out."""

from pathlib import Path

import click

from lockstep.cli.convert import bytes_of
from lockstep.cli.parameters import check_writable
from lockstep.cli.programs import Program, program_options
from lockstep.cli.run import verify


@click.command()
@program_options
@click.option("--gpu", metavar="NAME", default="QV100", show_default=True, help="The GPU.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    required=True,
    help="FILE.lst or a directory.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def command(gpu, output, quiet, **program) -> None:
    """Execute PROGRAM and write what it did as a trace.

    PROGRAM is a built-in one (`lockstep kernels` lists them) or a PTX file. The trace is one file
    of lockstep's own format if its name ends in .lst, else a directory that Accel-Sim reads.
    Nothing is simulated.
    """
    from lockstep import api
    from lockstep.device import Device
    from lockstep.report.figures import scaled

    check_writable(output, directory=not api.is_tracefile_name(output))
    chosen = Program(**program)
    with Device(gpu, name=chosen.name) as device:
        with device.record(output):
            checks = chosen.run(device)
        verify(checks, quiet)
    if not quiet:
        kernels = len(api.load(output).kernels)
        click.echo(f"{output}: {kernels} kernels, {scaled(bytes_of(output), 'B')}", err=True)
