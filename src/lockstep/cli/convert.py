"""``lockstep convert``: from Accel-Sim's trace format to lockstep's own, and back."""

from pathlib import Path

import click

from lockstep.cli.parameters import FILE, check_writable
from lockstep.report.figures import scaled


@click.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
def command(source: Path, target: Path) -> None:
    """Convert the trace IN to OUT.

    OUT becomes one file of lockstep's own format if its name ends so, else a directory with a
    kernelslist.g that Accel-Sim reads.
    """
    from lockstep import api

    check_writable(target, directory=not api.is_tracefile_name(target))
    workload = api.load(source)
    api.save(workload, target)
    before, after = (scaled(bytes_of(p), "B") for p in (source, target))
    click.echo(f"{target}: {len(workload.kernels)} kernels, {after} (from {before})", err=True)


def bytes_of(path: Path) -> int:
    """Bytes of a file, or of all files in a directory; a kernel list stands for its directory."""
    if path.name == "kernelslist.g":
        path = path.parent
    if path.is_dir():
        return sum(p.stat().st_size for p in path.iterdir() if p.is_file())
    return path.stat().st_size
