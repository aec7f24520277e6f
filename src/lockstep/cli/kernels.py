"""``lockstep kernels``: the programs that come with lockstep."""

import click

from lockstep.cli.console import console_of
from lockstep.report.columns import Column, Kind, table

PIPE_WIDTH = 120
COLUMNS = (
    Column("program", Kind.WORD),
    Column("does", Kind.PROSE),
    Column("size", rank=1),
    Column("counts", Kind.WORD, 0),
)


@click.command()
def command() -> None:
    """List the programs that `lockstep run` knows by name, and what their size counts."""
    from lockstep import kernels

    known = [kernels.load(name) for name in kernels.names()]
    rows = [[k.name, k.summary, f"{k.size:,}", k.unit] for k in known]
    console = console_of(pipe_width=PIPE_WIDTH)
    console.print(table(COLUMNS, rows, console.width))
