"""``lockstep convert``: from Accel-Sim's trace format to lockstep's own, and back."""

from pathlib import Path

import click

from lockstep.cli.parameters import FILE, check_writable
from lockstep.report.figures import scaled


@click.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--plan",
    type=FILE,
    metavar="FILE",
    help="Write only the launches that this plan chooses, and weights.csv: OUT is a directory.",
)
@click.option("--link", is_flag=True, help="With --plan: links to the files of IN, no copies.")
def command(source: Path, target: Path, plan: Path | None, link: bool) -> None:
    """Convert the trace IN to OUT.

    OUT becomes one file of lockstep's own format if its name ends so, else a directory with a
    kernelslist.g that Accel-Sim reads.
    """
    from lockstep import api

    if link and plan is None:
        raise click.UsageError("--link needs --plan")
    if plan and api.is_tracefile_name(target):
        raise click.UsageError(
            f"--plan and {target}: live points are made of programs (lockstep trace --plan); of a "
            "trace OUT is a directory"
        )
    check_writable(target, directory=not api.is_tracefile_name(target))
    if plan:
        _choose(source, target, plan, link)
        return
    workload = api.load(source)
    api.save(workload, target)
    before, after = (scaled(bytes_of(p), "B") for p in (source, target))
    click.echo(f"{target}: {len(workload.kernels)} kernels, {after} (from {before})", err=True)


def _choose(source: Path, target: Path, plan_file: Path, link: bool) -> None:
    """Write what a plan chooses of a trace."""
    from lockstep.sampling import Plan
    from lockstep.sampling.accelsim import write_chosen

    plan = Plan.read(plan_file)
    write_chosen(plan, source, target, link)
    click.echo(f"{target}: {len(plan.chosen)} of {len(plan)} kernels", err=True)


def bytes_of(path: Path) -> int:
    """Bytes of a file, or of all files in a directory; a kernel list stands for its directory."""
    if path.name == "kernelslist.g":
        path = path.parent
    if path.is_dir():
        return sum(p.stat().st_size for p in path.iterdir() if p.is_file())
    return path.stat().st_size
