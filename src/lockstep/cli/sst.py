"""``lockstep sst``: the element library for SST, compiled where SST is installed."""

from pathlib import Path

import click

from lockstep.cli.parameters import check_writable


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--sst-config", "tool", default="sst-config", show_default=True, help="SST's own tool."
)
def command(folder: Path, tool: str) -> None:
    """Compile the element library "lockstep" into FOLDER, for the SST that is installed here.

    It has the component lockstep.GPU, whose SMs lockstep simulates, and lockstep.FixedLatency, a
    memory to try it with. Needs sst-core 16 or later, and the C++ compiler that it was built with.
    """
    from lockstep.outside.sst.build import build

    check_writable(folder, directory=True)
    click.echo(f"{build(folder, tool)}: use it by: sst --add-lib-path={folder} ...")
