"""``lockstep convert``: from Accel-Sim's trace format to lockstep's own, and back."""

from pathlib import Path

import click

from lockstep.cli.parameters import FILE, MemorySize, check_writable
from lockstep.report.figures import scaled


@click.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--plan",
    type=FILE,
    metavar="FILE",
    help="Write only the launches that this plan chooses: to a file with what is in the caches "
    "before them (live points), to a directory with weights.csv.",
)
@click.option("--link", is_flag=True, help="With --plan: links to the files of IN, no copies.")
@click.option(
    "--l2",
    "l2_bytes",
    type=MemorySize(),
    metavar="SIZE",
    help="With --plan and a file: the largest L2 that is to be simulated; default: that of the "
    "GPU that suits IN.",
)
def command(
    source: Path, target: Path, plan: Path | None, link: bool, l2_bytes: int | None
) -> None:
    """Convert the trace IN to OUT.

    OUT becomes one file of lockstep's own format if its name ends so, else a directory with a
    kernelslist.g that Accel-Sim reads.
    """
    from lockstep import api

    one_file = api.is_tracefile_name(target)
    if link and (plan is None or one_file):
        raise click.UsageError("--link needs --plan and a directory OUT")
    if l2_bytes and not (plan and one_file):
        raise click.UsageError("--l2 is of live points: with --plan and a file OUT")
    check_writable(target, directory=not one_file)
    if plan:
        _choose(source, target, plan, link, l2_bytes)
        return
    workload = api.load(source)
    api.save(workload, target)
    before, after = (scaled(bytes_of(p), "B") for p in (source, target))
    click.echo(f"{target}: {len(workload.kernels)} kernels, {after} (from {before})", err=True)


def _choose(source: Path, target: Path, plan_file: Path, link: bool, l2_bytes: int | None) -> None:
    """Write what a plan chooses of a trace."""
    from lockstep import api
    from lockstep.sampling import Plan, write_points
    from lockstep.sampling.accelsim import write_chosen

    plan = Plan.read(plan_file)
    if api.is_tracefile_name(target):
        workload = api.load(source)
        write_points(plan, workload, target, api.gpu_for(workload), l2_bytes)
    else:
        write_chosen(plan, source, target, link)
    click.echo(f"{target}: {len(plan.chosen)} of {len(plan)} kernels", err=True)


def bytes_of(path: Path) -> int:
    """Bytes of a file, or of all files in a directory; a kernel list stands for its directory."""
    if path.name == "kernelslist.g":
        path = path.parent
    if path.is_dir():
        return sum(p.stat().st_size for p in path.iterdir() if p.is_file())
    return path.stat().st_size
