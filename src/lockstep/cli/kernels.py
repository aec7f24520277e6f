"""``lockstep kernels``: the programs that come with lockstep."""

import click

from lockstep.cli.console import console_of

PIPE_WIDTH = 120


@click.command()
def command() -> None:
    """List the programs that `lockstep run` knows by name, and what their size counts."""
    from rich.table import Table

    from lockstep import kernels

    table = Table("program", "does", box=None, pad_edge=False)
    table.add_column("size", justify="right")
    table.add_column("counts")
    for name in kernels.names():
        kernel = kernels.load(name)
        table.add_row(name, kernel.summary, f"{kernel.size:,}", kernel.unit)
    console_of(PIPE_WIDTH).print(table)
