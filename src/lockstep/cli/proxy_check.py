"""``lockstep proxy check``: a proxy beside its original, over many caches."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME, PROGRAM_NAME
from lockstep.cli.options import QUIET, SET
from lockstep.cli.parameters import FILE, check_table, check_writable
from lockstep.cli.programs import PROGRAM_INPUT, SIZE
from lockstep.cli.watched import WatchedProgram
from lockstep.errors import LockstepError, unknown

if TYPE_CHECKING:
    from lockstep.cli.watched import Told
    from lockstep.device import Device
    from lockstep.gpus.spec import GPU
    from lockstep.proxies import Proxy
    from lockstep.proxies.agreement import PointSet
    from lockstep.proxies.checking import Agreement, OriginalAccesses
    from lockstep.proxies.leaks import Leaks
    from lockstep.workload import Workload

    Tell = Callable[[Agreement], None]

TITLE = "errors: of rates in points, of others in per cent of the original"
POINTS = ("mean", "median", "p90", "worst")
NEAREST = 5  # programs that are named


@click.command()
@click.argument("source", metavar="PROXY", type=FILE)
@click.option(
    "--against",
    type=PROGRAM_NAME,
    required=True,
    metavar="PROGRAM",
    help="What it is a proxy of: a built-in program, a PTX file, or a trace.",
)
@SIZE
@click.option("--seed", type=click.IntRange(0), default=0, help="Of its random input.")
@click.option(
    "--gpu", type=GPU_NAME, metavar="NAME", help="The GPU whose SMs take turns; default: QV100."
)
@SET
@click.option("--sets", default="", metavar="NAMES", help="Sets of configurations; default: all.")
@click.option("--scale", default="1", show_default=True, metavar="SHARE", help="Such as 1/8.")
@click.option(
    "--draw", type=click.IntRange(0), default=0, metavar="N", help="Seed of what the proxy draws."
)
@click.option(
    "--identify", is_flag=True, help="Look for the program among the built-in ones: half a minute."
)
@click.option("--output", "-o", type=FILE, metavar="FILE", help="Write all points: .csv, .parquet.")
@click.option("--plot", type=FILE, metavar="FILE", help="Draw them: .png or .svg.")
@QUIET
@click.pass_context
def command(
    context, source, against, size, seed, gpu, overrides, sets, scale, draw, identify, output, plot,
    quiet,
) -> None:  # fmt: skip
    """Say how far PROXY is from its original: errors of miss rates over many caches.

    Of a rate these are points, |m - m'| in per cent, of others they are relative; relative errors
    of rates are of originals from 1 % on, and r is the correlation where the original varies. Then
    what PROXY tells: the share of the original's lines, and of its sequences of eight distances,
    that it has, too.
    """
    from lockstep.proxies import Proxy

    check_table(output)
    if plot:
        from lockstep.report.pictures import check_plot

        check_writable(plot)
        check_plot(plot)
    proxy = Proxy.load(source)

    def tell(found: "Agreement") -> None:
        if output:
            from lockstep.metrics.output import write_table

            write_table(output, found.rows)
        if plot:
            from lockstep.proxies.plots import against_original
            from lockstep.report.pictures import write_plot

            write_plot(against_original(found.rows), plot)
        if not quiet:
            show(proxy, found)

    look = AgreementLook(proxy.workload(scale, draw), chosen(sets), tell)
    program: dict[str, Any] = dict.fromkeys(PROGRAM_INPUT)
    program |= {"name": against, "size": size, "seed": seed, "arguments": ()}
    WatchedProgram(look, quiet, None, False).run(context, program, gpu, overrides)
    if identify:
        show_nearest(proxy)


def chosen(names: str) -> "tuple[PointSet, ...]":
    """The sets of configurations with these names; all if there are none."""
    from lockstep.proxies.agreement import SETS

    known = {each.name: each for each in SETS}
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(known)
    for name in wanted:
        if name not in known:
            what = unknown("set of configurations", name, known)
            raise LockstepError(f"{what} (known: {', '.join(known)})")
    return tuple(known[name] for name in wanted)


class AgreementLook:
    """Looks the accesses of a program up in many caches, and then those of its proxy."""

    counts = False

    def __init__(self, workload: "Workload", sets: "tuple[PointSet, ...]", tell: "Tell"):
        self._workload, self._sets, self._tell = workload, sets, tell
        self._original: OriginalAccesses | None = None

    @property
    def launches(self) -> int:
        """Launches that have ended."""
        return self._original.launches if self._original is not None else 0

    def begin(self, device: "Device", told: "Told | None") -> None:
        """Watch a device."""
        device.watch(self._begin(device.gpu, told))

    def read(self, path: Path, gpu: str | None, overrides: tuple[str, ...], told: "Told") -> None:
        """Read a trace."""
        from lockstep import api
        from lockstep.cli.simulate import choose

        workload = api.load(path)
        self._begin(choose(workload, gpu, overrides, True), told).take(workload)

    def save(self) -> None:
        """A part of a program cannot be compared."""

    def finish(self, stderr: bool) -> None:
        """Compare, and tell."""
        assert self._original is not None, "it has begun"
        self._tell(self._original.check(self._workload))

    def _begin(self, gpu: "GPU", told: "Told | None") -> "OriginalAccesses":
        from lockstep.proxies.checking import OriginalAccesses

        self._original = OriginalAccesses(gpu, self._sets, told)
        return self._original


def show(proxy: "Proxy", found: "Agreement") -> None:
    """Print errors by set, and what leaks."""
    from lockstep.report.columns import Column, Kind
    from lockstep.report.columns import table as view
    from lockstep.report.figures import count, decimal, percent

    console = console_of(stderr=False)
    columns = [Column("set", Kind.WORD), Column("metric", Kind.WORD, rank=1), Column("points")]
    columns += [*map(Column, POINTS), Column("relative"), Column("r")]
    rows = [
        [row["set"], row["metric"], count(row["points"])]
        + [*(decimal(row[name]) for name in POINTS), percent(row["relative"]), decimal(row["r"])]
        for _, row in found.errors.iterrows()
    ]
    console.print(view(columns, rows, console.width, TITLE))
    click.echo(leaked(proxy, found.leaks))


def leaked(proxy: "Proxy", leaks: "Leaks") -> str:
    """A line that says what leaks."""
    from lockstep.report.figures import percent

    lines, sequences = (percent(100 * share) for share in leaks)
    return (
        f"{proxy.method}, {proxy.level}: it has {lines} of the original's lines and {sequences} of "
        "its sequences of eight distances"
    )


def show_nearest(proxy: "Proxy") -> None:
    """Print which built-in programs the proxy is nearest to."""
    from lockstep import kernels
    from lockstep.device import Device
    from lockstep.proxies import ProxyProfiler
    from lockstep.proxies.identify import fingerprint, nearest

    library = {}
    for name in kernels.names():
        profiler, program = ProxyProfiler("gmap"), kernels.load(name)
        with Device("QV100") as device:
            device.watch(profiler)
            program.run(device, program.small)
            device.synchronize()
        library[name] = fingerprint(profiler.proxy(name))
    names = nearest(fingerprint(proxy), library)[:NEAREST]
    click.echo(f"nearest of {len(library)} built-in programs: {', '.join(names)}")
