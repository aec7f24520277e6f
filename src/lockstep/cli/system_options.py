"""``--system`` and ``--gpus``: several GPUs for a CUDA program."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from lockstep.cli.options import together
from lockstep.cli.parameters import POSITIVE

if TYPE_CHECKING:
    from lockstep.gpus.spec import GPU
    from lockstep.gpus.system import GpuSystem

# Advice first: it asks for the source view.
_OF_ONE = {
    "out": "--out",
    "source_table": "--source-table",
    "advice": "--advice",
    "source": "--source",
    "checkpoint": "--checkpoint-dir",
    "resume": "--resume",
}
system_options = together(
    click.option(
        "--system", metavar="NAME", help="Of a CUDA program: several GPUs, as DGX_H100 or a file."
    ),
    click.option(
        "--gpus",
        type=POSITIVE,
        metavar="N",
        help="Only N GPUs of --system; without it, N of --gpu behind a PCIe switch.",
    ),
)


def system_of(
    name: str | None,
    count: int | None,
    gpu: str | None,
    overrides: tuple[str, ...],
    alone: "Callable[[], GPU]",
) -> "GPU | GpuSystem":
    """The GPUs that a program runs on; ``alone``: the one that it has where nothing was said."""
    from lockstep.gpus import systems

    if name is None:
        return alone() if count is None else systems.on_switch(alone(), count)
    if gpu is not None:
        raise click.UsageError("--system has its GPUs: leave --gpu out, or give --gpus without it")
    return systems.system(name, count, overrides)


def check_system(options: dict, has_chooser: bool) -> None:
    """Refuse what only one GPU can have. ``options``: all that were given, by name."""
    if has_chooser:
        raise click.UsageError("--system and --gpus need --timing full or none")
    for name, option in _OF_ONE.items():
        if options.get(name):
            raise click.UsageError(
                f"{option} is for one GPU; of a system there are --json, --timeline and --report"
            )
