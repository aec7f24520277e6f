"""``lockstep gpus``: what can be simulated, and what each was validated against."""

import click


@click.command()
@click.argument("name", required=False)
@click.option("--set", "overrides", multiple=True, metavar="K=V", help="Change a GPU parameter.")
def command(name: str | None, overrides: tuple[str, ...]) -> None:
    """List the GPUs of the library, or every parameter of the GPU called NAME."""
    from lockstep import api
    from lockstep.gpus import library

    if name:
        click.echo(library.describe(api.gpu(name, overrides)))
    elif overrides:
        raise click.UsageError("--set needs the NAME of a GPU")
    else:
        _list()


def _list() -> None:
    from rich.console import Console
    from rich.table import Table

    from lockstep import api
    from lockstep.metrics.facts import dram_peak
    from lockstep.report.figures import scaled

    table = Table(box=None, pad_edge=False)
    for heading in ("GPU", "binaries", "SMs", "clock", "L2", "DRAM"):
        justify = "left" if heading in ("GPU", "binaries") else "right"
        table.add_column(heading, justify=justify, no_wrap=True)
    table.add_column("validated against", overflow="fold")
    for name in api.gpu_names():
        g = api.gpu(name)
        l2 = g.dram.channels * g.l2.slices_per_channel * g.l2.sets * g.l2.ways * g.l2.line_bytes
        table.add_row(
            name,
            " ".join(f"sm_{a}" for a in g.architectures),
            str(g.sm.count),
            f"{g.clock_mhz:,.0f} MHz",
            f"{l2 / 2**20:.1f} MiB",
            scaled(dram_peak(g), "B/s"),
            "; ".join(g.validated) or "nothing yet",
        )
    console = Console(highlight=False)
    Console(highlight=False, width=None if console.is_terminal else 120).print(table)
