"""``lockstep gpus``: what can be simulated, and what each was validated against."""

from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME
from lockstep.cli.options import SET
from lockstep.report.columns import Column, Kind, table

if TYPE_CHECKING:
    from lockstep.gpus.datafile import LoadedGpu

PIPE_WIDTH = 160
_HEADLINE = ("description", "architectures", "validated")  # shown above the table


@click.command()
@click.argument("name", type=GPU_NAME, metavar="[NAME]", required=False)
@SET
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
    from lockstep.gpus import library

    origin, warnings = _origin(name)
    gpu = library.apply(origin.gpu, overrides)
    rows = [
        [row.name, f"{_text(row.value)} {row.unit}", f"{row.meaning} ({row.range})", row.source]
        for row in library.describe(gpu, origin)
        if row.name not in _HEADLINE
    ]
    console = console_of(pipe_width=PIPE_WIDTH)
    console.print(f"{gpu.name}: {gpu.description}")
    console.print(f"binaries: {_binaries(gpu.architectures)}")
    console.print(f"validated against: {'; '.join(gpu.validated) or 'nothing yet'}\n")
    console.print(table(_PARAMETERS, rows, console.width))
    for warning in warnings:
        click.echo(f"lockstep: {warning}", err=True)


def _origin(name: str) -> "tuple[LoadedGpu, tuple[str, ...]]":
    """What a name or a file stands for, with its sources, and what it has without counterpart."""
    from lockstep import api
    from lockstep.gpus import library

    if not api.is_configuration(name):
        return library.loaded(name), ()
    from lockstep.frontend.accelsim import config

    imported = config.load(name)
    return library.LoadedGpu(imported.gpu, imported.sources), imported.warnings


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _binaries(architectures: tuple[int, ...]) -> str:
    return " ".join(f"sm_{a}" for a in architectures) or "none natively"


def _list() -> None:
    from lockstep import api
    from lockstep.gpus import library
    from lockstep.report.figures import scaled

    rows = []
    for name in api.gpu_names():
        g = api.gpu(name)
        totals = library.totals(g)
        rows.append(
            [
                name,
                _binaries(g.architectures),
                str(g.sm.count),
                f"{g.clock_mhz:,.0f} MHz",
                scaled(totals.fp32_tflops * 1e12, "FLOP/s"),
                f"{totals.l2_bytes / 2**20:.1f} MiB",
                scaled(totals.dram_gb_per_s * 1e9, "B/s"),
                "; ".join(g.validated) or "nothing yet",
            ]
        )
    console = console_of(pipe_width=PIPE_WIDTH)
    console.print(table(_GPUS, rows, console.width))


_PARAMETERS = (
    Column("parameter", Kind.WORD),
    Column("value", Kind.PROSE),
    Column("meaning", Kind.PROSE, 1),
    Column("source", Kind.PROSE, 0),
)
_GPUS = (
    Column("GPU", Kind.WORD),
    Column("binaries", Kind.WORD, 4),
    Column("SMs"),
    Column("clock", rank=3),
    Column("FP32", rank=1),
    Column("L2", rank=0),
    Column("DRAM", rank=2),
    Column("validated against", Kind.PROSE, 5),
)
