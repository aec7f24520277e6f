"""``lockstep caches``: a program, a trace or a proxy in; the miss rates of many caches out."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lockstep.cli.application import ExecutableCommand
from lockstep.cli.console import console_of
from lockstep.cli.options import MEMORY, QUIET, SET, together
from lockstep.cli.parameters import FILE, MemorySize, NumberList, check_table, check_writable
from lockstep.cli.policies import POLICY
from lockstep.cli.programs import PROGRAM_GPU, PTX, program_options
from lockstep.cli.watched import PROGRAM, WatchedProgram, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas
    from rich.table import Table

    from lockstep.caches import CachePoint, DramPoint, Exploration, Sweep
    from lockstep.cli.watched import Told
    from lockstep.device import Device
    from lockstep.gpus.spec import GPU

SHOWN_TABLES = 6  # at most; more are for the file
DECIDE = ("l1_replacement", "l2_replacement", "l1_prefetcher", "l2_prefetcher")
"""Policies that have a say here."""

_SIZES = ("sizes", "ways", "lines")  # what is given of either level
_REPLACEMENT = click.Choice(["lru", "fifo", "nru", "random"])
cache_options = together(
    click.option("--l1", "l1_sizes", type=NumberList(MemorySize()), metavar="SIZES",
                 help="Sizes of the L1: 16K, or 8K:128K (doubling), or 16K,24K."),
    click.option("--ways", "l1_ways", type=NumberList(), metavar="N", help="Its ways: 4, 1:16."),
    click.option("--line", "l1_lines", type=NumberList(), metavar="BYTES",
                 help="Its lines: 32, 64, 128, 32:128."),
    click.option("--replacement", "l1_replacement", type=_REPLACEMENT,
                 help="Its replacement, else the GPU's; with lru all ways take one pass."),
    click.option("--prefetcher", "l1_prefetcher", type=click.Choice(["none", "stride"]),
                 help="Its prefetcher, else the GPU's."),
    click.option("--prefetch-degree", "l1_degrees", type=NumberList(), metavar="N",
                 help="Lines that it asks for at a time: 1:8."),
    click.option("--l2", "l2_sizes", type=NumberList(MemorySize()), metavar="SIZES",
                 help="Sizes of the whole L2 behind each of these."),
    click.option("--l2-ways", type=NumberList(), metavar="N", help="Its ways."),
    click.option("--l2-line", "l2_lines", type=NumberList(), metavar="BYTES", help="Its lines."),
    click.option("--l2-replacement", type=_REPLACEMENT, help="Its replacement, else the GPU's."),
    click.option("--l2-prefetcher", type=click.Choice(["none", "stream"]),
                 help="Its prefetcher, else the GPU's."),
    click.option("--l2-prefetch-degree", "l2_degrees", type=NumberList(), metavar="N",
                 help="Lines that it asks for at a time."),
    click.option("--l2-prefetch-window", "l2_windows", type=NumberList(), metavar="LINES",
                 help="How far its streams reach: 8:32."),
    click.option("--dram-channels", type=NumberList(), metavar="N",
                 help="Channels of the DRAM behind each L2: 8, 4:16."),
    click.option("--dram-bus", type=NumberList(), metavar="BYTES", help="Bus of a channel: 4,8."),
    click.option("--dram-order", metavar="ORDERS",
                 help="Digits of its addresses: RoBaRaCoCh,ChRaBaRoCo, or gpu for its own."),
    click.option("--dram-outstanding", type=click.IntRange(min=0), default=None, metavar="N",
                 help="Reads that an SM has under way at most; 0: --dram-gap; default: 32."),
    click.option("--dram-gap", type=click.FloatRange(min=0), default=0.0, metavar="CYCLES",
                 help="Core cycles from a request to the next; with --dram-outstanding 0."),
)  # fmt: skip
"""Which caches are looked at."""


@click.command(cls=ExecutableCommand)
@program_options
@PROGRAM_GPU
@SET
@cache_options
@POLICY
@click.option("--whole-lines", is_flag=True, help="What misses brings a line, not its sectors.")
@click.option(
    "--order",
    type=click.Choice(["lrr", "gto"]),
    default="lrr",
    show_default=True,
    help="How warps of an SM take turns: each in turn, or the same one until it has read.",
)
@click.option(
    "--output", "-o", type=FILE, metavar="FILE", help="Write all rates: .csv or .parquet."
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw them: .png or .svg.")
@MEMORY
@PTX
@QUIET
@click.pass_context
def command(
    context, gpu, overrides, whole_lines, order, output, plot, memory_bytes, ptx, quiet, **options
) -> None:
    """Say how often caches of many sizes, ways and lines miss, in one run of PROGRAM.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, an executable that uses
    CUDA, calls that `lockstep run --record` recorded, a trace or a proxy. Its accesses go through
    the caches in a fixed order of warps, without time. What is not said of a cache is as the GPU
    has it; without --l1 and --l2 they are the GPU's own.
    """
    program = {name: options.pop(name) for name in PROGRAM}
    check_table(output)
    check_writable(plot)
    for name in options["policies"]:
        if name not in DECIDE:
            raise click.UsageError(f"no {name} decides here; there are {', '.join(DECIDE)}")
    look = CacheLook(options | {"whole_lines": whole_lines, "order": order}, output, plot, quiet)
    WatchedProgram(look, quiet, memory_bytes, ptx).run(context, program, gpu, overrides)


class CacheLook:
    """Looks the accesses of a program up in many caches."""

    counts = False

    def __init__(
        self, options: dict[str, Any], output: Path | None, plot: Path | None, quiet: bool
    ):
        self._options, self._output, self._plot, self._quiet = options, output, plot, quiet
        self._exploration: Exploration | None = None

    @property
    def launches(self) -> int:
        """Launches that have ended."""
        return self._exploration.launches if self._exploration is not None else 0

    def begin(self, device: "Device", told: "Told | None") -> None:
        """Watch a device."""
        self._exploration = self._explorer(device.gpu, told)
        device.watch(self._exploration)

    def read(self, path: Path, gpu: str | None, overrides: tuple[str, ...], told: "Told") -> None:
        """Read a trace."""
        from lockstep.cli.simulate import choose

        workload = load(path)
        spec = choose(workload, gpu, overrides, self._quiet)
        self._exploration = self._explorer(spec, told)
        self._exploration.explore(workload)

    def save(self) -> None:
        """What was found so far."""
        self.finish(False)

    def finish(self, stderr: bool) -> None:
        """Write and show the rates."""
        from lockstep.metrics.output import write_table

        assert self._exploration is not None, "it has begun"
        table = self._exploration.table()
        if self._output:
            write_table(self._output, table)
        if self._plot:
            from lockstep.caches.plots import heat_map
            from lockstep.report.pictures import write_plot

            level = "l2" if any(self._options[f"l2_{each}"] for each in _SIZES) else "l1"
            write_plot(heat_map(table, level), self._plot)
        if not self._quiet:
            show(table, self._exploration.launches, self._output, stderr)

    def _explorer(self, gpu: "GPU", told: "Told | None") -> "Exploration":
        from lockstep.caches import Exploration

        options = self._options
        sweep, left = sweep_of(gpu, options)
        for line in () if self._quiet else left:
            click.echo(f"lockstep: {line}", err=True)
        return Exploration(
            gpu, sweep, order=options["order"], policies=options["policies"], told=told
        )


def sweep_of(gpu: "GPU", options: dict[str, Any]) -> "tuple[Sweep, list[str]]":
    """The caches that were asked for, and a line of each level of which some cannot be built."""
    from lockstep.caches import Sweep, l1_of, l2_of
    from lockstep.caches.points import fitting, left_out
    from lockstep.errors import WorkloadError

    named = (*_SIZES, "degrees", "windows")
    asked = {
        level for level in ("l1", "l2") if any(options.get(f"{level}_{each}") for each in named)
    }
    dram = memories(gpu, options)
    levels: list[tuple[CachePoint, ...]] = []
    left = []
    for level, of in (("l1", l1_of), ("l2", l2_of)):
        if level == "l2" and asked == {"l1"} and not dram:
            levels.append(())
            continue
        sizes = [options[f"{level}_{each}"] or [0] for each in _SIZES]
        others: dict[str, Any] = {"whole": options["whole_lines"]}
        for each in ("replacement", "prefetcher"):
            policy = f"{level}_{each}"
            if policy in options["policies"]:
                others[each] = "user"
            elif options[policy]:
                others[each] = options[policy]
        points = [
            of(gpu, *point, **(others | ahead))
            for ahead, point in product(_ahead(gpu, level, others, options), product(*sizes))
        ]
        try:
            levels.append(fitting(points))
        except WorkloadError as error:
            if options[f"{level}_ways"]:
                raise
            option = {"l1": "--ways", "l2": "--l2-ways"}[level]
            told = f"{error}; these ways are the GPU's: {option} says others"
            raise WorkloadError(told) from None
        if why := left_out(points):
            left.append(f"{level.upper()}s left out: {why}")
    return Sweep(levels[0], levels[1], dram), left


def _ahead(
    gpu: "GPU", level: str, others: dict[str, Any], options: dict[str, Any]
) -> "list[dict[str, Any]]":
    """All combinations of what is said of a prefetcher; one that says nothing if none is."""
    given = {
        field: values
        for field, name in (("degree", "degrees"), ("window", "windows"))
        if (values := options.get(f"{level}_{name}"))
    }
    if given and others.get("prefetcher", getattr(gpu, level).prefetcher) == "none":
        begin = {"l1": "--", "l2": "--l2-"}[level]
        raise click.UsageError(
            f"{begin}prefetch-{next(iter(given))} is of a prefetcher, and there is none: "
            f"{begin}prefetcher"
        )
    return [dict(zip(given, values)) for values in product(*given.values())]


def memories(gpu: "GPU", options: dict[str, Any]) -> "tuple[DramPoint, ...]":
    """The memories that were asked for, if any."""
    from lockstep.caches import DramPoint

    given = [options[f"dram_{each}"] for each in ("channels", "bus", "order", "outstanding")]
    if options["dram_gap"] and options["dram_outstanding"] != 0:
        raise click.UsageError("--dram-gap is of requests by the clock: --dram-outstanding 0")
    if all(each is None for each in given):
        return ()
    channels, buses, orders, outstanding = given
    digits = dict.fromkeys((orders or "gpu").split(","))
    parts = (channels or [gpu.dram.channels], buses or [gpu.dram.bus_bytes], digits)
    if outstanding is None:
        return tuple(DramPoint(*each) for each in product(*parts))
    return tuple(DramPoint(*each, outstanding, options["dram_gap"]) for each in product(*parts))


def show(table: "pandas.DataFrame", launches: int, output: Path | None, stderr: bool) -> None:
    """Print miss rates in per cent: sizes down, ways across, a table for each line size."""
    console = console_of(stderr=stderr)
    views = list(tables(table, console.width))
    for title, parts in views[:SHOWN_TABLES]:
        console.print(title, style="bold")  # that of a table is no wider than the table
        for part in parts:
            console.print(part)
    left = len(views) - SHOWN_TABLES
    if left > 0 and not output:
        click.echo(f"{left} more tables: -o FILE writes all", err=True)
    told = f"{len(table)} configurations, {launches} launches"
    click.echo(f"{output}: {told}" if output else told, err=True)


def tables(table: "pandas.DataFrame", width: int) -> "Iterator[tuple[str, list[Table]]]":
    """For each line size of each L1, of each L2 behind one L1, and for the memories behind both, a
    title and its tables.

    They have the columns for which a terminal has room: there is another for those to the right.
    """
    from lockstep.caches.plots import by_size_and_ways, short

    for line, rates in by_size_and_ways(table, "l1").items():
        yield f"L1 read misses, %; lines of {line} B", list(_parts(rates, width))
    if "l2_bytes" not in table:
        return
    keys = ["l1_bytes", "l1_ways", "l1_line"]
    for (size, ways, line), mine in groups(table, keys):
        behind = f"behind an L1 of {short(size)}, {ways} ways, {line} B"
        for l2_line, rates in by_size_and_ways(mine, "l2").items():
            title = f"L2 misses, %; lines of {l2_line} B {behind}"
            yield title, list(_parts(rates, width))
    if "dram_channels" in table:
        yield from _memories(table, width)


def groups(
    table: "pandas.DataFrame", keys: list[str]
) -> "Iterator[tuple[tuple[Any, ...], pandas.DataFrame]]":
    """The rows of each combination of some columns, in the order in which they come."""
    for values, mine in table.groupby(keys, sort=False):
        yield cast("tuple[Any, ...]", values), mine


def _memories(table: "pandas.DataFrame", width: int) -> "Iterator[tuple[str, list[Table]]]":
    """A table for each L2 with memories behind it."""
    from lockstep.caches.plots import short
    from lockstep.report.columns import Column, Kind
    from lockstep.report.columns import table as view

    columns = [
        Column("channels"), Column("bus B"), Column("order", Kind.WORD), Column("row hits %"),
        Column("reads queued"), Column("writes queued"), Column("latency, cycles"),
        Column("GB/s"),
    ]  # fmt: skip
    keys = [f"{level}_{each}" for level in ("l1", "l2") for each in ("bytes", "ways", "line")]
    for caches, mine in groups(table, keys):
        told = " and ".join(
            f"an {name} of {short(size)}, {ways} ways, {line} B"
            for name, size, ways, line in (("L1", *caches[:3]), ("L2", *caches[3:]))
        )
        rows = [
            [
                *(str(m.dram_channels), str(m.dram_bus), m.dram_order),
                f"{100 * m.dram_row_hit_rate:.2f}",
                *(f"{m.dram_read_queue:.2f}", f"{m.dram_write_queue:.2f}"),
                *(f"{m.dram_latency:.1f}", f"{m.dram_bandwidth:.1f}"),
            ]
            for m in mine.to_records()
        ]
        yield f"DRAM behind {told}", [view(columns, rows, width)]


def _parts(rates: "pandas.DataFrame", width: int):
    """Tables of all ways, each as wide as there is room for, but of one number at least."""
    from lockstep.caches.plots import short
    from lockstep.report.columns import GAP

    sizes = [short(size) for size in rates.index.tolist()]
    room = width - max(map(len, ("size", *sizes)))
    begin, used = 0, 0
    for k, ways in enumerate(rates.columns):
        wide = GAP + max(len(f"{ways} ways"), len("100.00"))
        if k > begin and used + wide > room:
            yield _matrix(rates.iloc[:, begin:k], sizes, width)
            begin, used = k, 0
        used += wide
    yield _matrix(rates.iloc[:, begin:], sizes, width)


def _matrix(rates: "pandas.DataFrame", sizes: list[str], width: int):
    from lockstep.report.columns import Column, Kind
    from lockstep.report.columns import table as view

    columns = [Column("size", Kind.WORD), *(Column(f"{ways} ways") for ways in rates.columns)]
    rows = [
        [size, *("" if rate != rate else f"{100 * rate:.2f}" for rate in row)]
        for size, row in zip(sizes, rates.to_numpy())
    ]
    return view(columns, rows, width)
