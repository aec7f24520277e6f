"""``lockstep gpus``: what can be simulated, and what each was validated against."""

import click

from lockstep.cli.console import console_of

PIPE_WIDTH = 160
_HEADLINE = ("description", "architectures", "validated")  # shown above the table


@click.command()
@click.argument("name", required=False)
@click.option("--set", "overrides", multiple=True, metavar="K=V", help="Change a GPU parameter.")
def command(name: str | None, overrides: tuple[str, ...]) -> None:
    """List the GPUs of the library, or every parameter of the GPU called NAME."""
    if name is not None:
        _describe(name, overrides)
    elif overrides:
        raise click.UsageError("--set needs the NAME of a GPU")
    else:
        _list()


def _describe(name: str, overrides: tuple[str, ...]) -> None:
    """Every parameter: value, unit, allowed range, meaning, source."""
    from rich.table import Table

    from lockstep import api
    from lockstep.gpus import library

    gpu = api.gpu(name, overrides)
    table = Table(box=None, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    for heading, ratio in (("value", 3), ("meaning", 5), ("source", 7)):
        table.add_column(heading, overflow="fold", ratio=ratio)
    for row in library.describe(gpu, origin=name):
        if row.name not in _HEADLINE:
            meaning = f"{row.meaning} ({row.range})"
            table.add_row(row.name, f"{_text(row.value)} {row.unit}", meaning, row.source)
    console = console_of(PIPE_WIDTH)
    console.print(f"{gpu.name}: {gpu.description}")
    console.print(f"binaries: {_binaries(gpu.architectures)}")
    console.print(f"validated against: {'; '.join(gpu.validated) or 'nothing yet'}\n")
    console.print(table)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _binaries(architectures: tuple[int, ...]) -> str:
    return " ".join(f"sm_{a}" for a in architectures) or "none natively"


def _list() -> None:
    from rich.table import Table

    from lockstep import api
    from lockstep.gpus import library
    from lockstep.report.figures import scaled

    table = Table(box=None, pad_edge=False)
    for heading in ("GPU", "binaries", "SMs", "clock", "FP32", "L2", "DRAM"):
        justify = "left" if heading in ("GPU", "binaries") else "right"
        table.add_column(heading, justify=justify, no_wrap=True)
    table.add_column("validated against", overflow="fold")
    for name in api.gpu_names():
        g = api.gpu(name)
        totals = library.totals(g)
        table.add_row(
            name,
            _binaries(g.architectures),
            str(g.sm.count),
            f"{g.clock_mhz:,.0f} MHz",
            scaled(totals.fp32_tflops * 1e12, "FLOP/s"),
            f"{totals.l2_bytes / 2**20:.1f} MiB",
            scaled(totals.dram_gb_per_s * 1e9, "B/s"),
            "; ".join(g.validated) or "nothing yet",
        )
    console_of(PIPE_WIDTH).print(table)
