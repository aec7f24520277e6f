"""``lockstep cache``: what is kept on disk between runs, filled ahead of time, shown, removed."""

import click

from lockstep.cli.group import CommandGroup
from lockstep.errors import LockstepError


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """What is kept on disk: machine code of the model and of kernels, the CUDA runtime.

    It lies where LOCKSTEP_CACHE_DIR says, or else in your own cache folder.
    """


@command.command()
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def build(quiet: bool) -> None:
    """Compile everything ahead of time, as for a container or a cluster's module.

    That is the model, the readers of traces, the built-in programs, plain and timed, what checks
    call, and the replacement of the CUDA runtime, if there is a C compiler. What is there already
    is kept.
    """
    from lockstep.cli.prebuilt import STEPS
    from lockstep.cli.progress import Progress
    from lockstep.store import places

    place = places.writable()
    if place is None:
        raise LockstepError(f"no cache can be written; name a folder with {places.VARIABLE}")
    with Progress(quiet) as progress:
        for step in STEPS:
            if not quiet:
                click.echo(f"{step.what}: ", nl=False)
            missing = step.build(progress.notice)
            if not quiet:
                click.echo(missing or "done")
    if not quiet:
        click.echo(f"in {place.path}")


@command.command()
def info() -> None:
    """Say where the caches are, what they hold, and whether all of it is whole.

    Exit code 1: something is damaged. It is made again when it is needed.
    """
    from lockstep import _jit, store
    from lockstep.engine.compilation import is_model_compiled
    from lockstep.report.figures import scaled
    from lockstep.store.places import places

    damaged = 0
    for place in places():
        click.echo(f"{place.path}: {_state(place)}")
        if place.refused:
            continue
        for kind, meaning in store.KINDS.items():
            found = store.survey(place, kind)
            click.echo(f"  {meaning}: {found.entries} entries, {scaled(found.size, 'B')}")
            for path, why in found.damaged.items():
                click.echo(f"  {path} is damaged: {why}")
            damaged += len(found.damaged)
    click.echo(f"compiler: {_jit.versions()}")
    compiled = "compiled" if is_model_compiled() else "not compiled yet"
    click.echo(f"model of this version, for this processor: {compiled}")
    raise SystemExit(1 if damaged else 0)


@command.command()
def clear() -> None:
    """Remove what is kept, of this version and of others; files that are not ours stay."""
    from lockstep import store
    from lockstep.store.places import places

    for place in places():
        if place.writable:
            click.echo(f"{place.path}: {store.clear(place)} entries removed")


def _state(place) -> str:
    if place.refused:
        return f"not used: {place.refused}"
    return "in use" if place.writable else "in use, read only"
