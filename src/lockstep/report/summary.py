"""The summary of a result: time, speed of light, why nothing issued, memory, warnings."""

import io
from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from lockstep.metrics.result import Result
from lockstep.report import figures
from lockstep.report.figures import bar, clean, count, decimal, dependences, percent, scaled

KERNELS_SHOWN = 12
STALLS_SHOWN = 6
BAR_WIDTH = 32
NAME_WIDTH = 36
NARROW = 88  # columns below which the kernel table leaves some of its own out
_SCHEDULER = "sim__scheduler_"
_LIMIT = "sim__sol_"


def summary(result: Result, width: int = 100) -> str:
    """The summary as plain text of at most ``width`` columns."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    print_summary(result, console)
    return "".join(line.rstrip() + "\n" for line in console.file.getvalue().splitlines())


def print_summary(result: Result, console: Console) -> None:
    """Print the summary, in colour where the console has it."""
    for part in _parts(result, console.width < NARROW):
        console.print(part)


def _parts(result: Result, narrow: bool) -> Iterator[RenderableType]:
    yield _headline(result)
    if result.run.kernels:
        yield from ("", _kernel_table(result, narrow))
        yield from ("", _bars("Speed of light", speeds(result.total)))
        yield from ("", _bars("Scheduler cycles", _nonzero(stalls(result.total))[:STALLS_SHOWN]))
        yield from ("", _memory_table(result))
    for warning in warnings(result):
        yield Text(warning, style="yellow")


def _headline(result: Result) -> Text:
    run, seconds = result.run, result.cycles / (result.gpu.clock_mhz * 1e6)
    text = Text()
    text.append(clean(result.workload.name), style="bold")
    text.append(f" on {clean(result.gpu.name)}: ")
    text.append(f"{count(result.cycles)} cycles", style="bold green")
    text.append(f" = {scaled(seconds, 's')} at {result.gpu.clock_mhz:,.0f} MHz\n")
    text.append(
        f"{count(result.warp_instructions)} warp instructions, "
        f"{count(result.thread_instructions)} thread instructions, "
        f"IPC {decimal(result.total.get('sim__ipc', float('nan')))}\n"
    )
    threads = f"{run.threads} thread" + ("s" if run.threads != 1 else "")
    text.append(
        f"simulated in {run.simulate_seconds:.2f} s ({_speed(result.kips)} kilo-instructions/s, "
        f"{threads}), read in {run.read_seconds:.2f} s",
        style="dim",
    )
    if run.kernels:
        text.append(f"; dependences: {dependences(k.dependence for k in run.kernels)}", style="dim")
    return text


def _speed(kips: float) -> str:
    return count(kips) if kips >= 10 else decimal(kips)


def _kernel_table(result: Result, narrow: bool) -> Table:
    rows = list(zip(result.run.kernels, result.metrics))
    longest = sorted(rows, key=lambda row: -row[0].cycles)[:KERNELS_SHOWN]
    table = _table(_kernels_title(rows), "kernel")
    shown = [column for column in _KERNEL_COLUMNS if not (narrow and column[0] in _WIDE_ONLY)]
    for heading, justify, _ in shown:
        table.add_column(heading, justify=justify, no_wrap=True)
    for kernel, metrics in sorted(longest, key=lambda row: row[0].launched):
        cells = [cell(kernel, metrics) for _, _, cell in shown]
        table.add_row(Text(f"{kernel.id} {clean(kernel.name)}"), *cells)
    return table


def _kernels_title(rows: list) -> str:
    if len(rows) <= KERNELS_SHOWN:
        return "Kernels"
    return f"Kernels: the {KERNELS_SHOWN} longest of {len(rows)}"


def _top_stall(metrics: dict[str, float]) -> str:
    waits = [(name, value) for name, value in stalls(metrics) if name != "issued" and value > 0]
    return f"{waits[0][0]} {percent(waits[0][1])}" if waits else figures.NONE


_KERNEL_COLUMNS = (
    ("grid", "right", lambda k, m: figures.size(k.grid)),
    ("block", "right", lambda k, m: figures.size(k.block)),
    ("cycles", "right", lambda k, m: count(k.cycles)),
    ("IPC", "right", lambda k, m: decimal(m["sim__ipc"])),
    ("occupancy", "right", lambda k, m: percent(m[_OCCUPANCY])),
    ("limited by", "left", lambda k, m: k.limiter),
    ("top stall", "left", lambda k, m: _top_stall(m)),
)
_WIDE_ONLY = ("grid", "block", "limited by")
_OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"


def stalls(metrics: dict[str, float]) -> list[tuple[str, float]]:
    """What schedulers did with their cycles, in percent, most frequent first."""
    return _ranked(metrics, _SCHEDULER)


def speeds(metrics: dict[str, float]) -> list[tuple[str, float]]:
    """Percent of the speed of light by unit, nearest to its limit first; idle ones left out."""
    ranked = [(n.removeprefix("unit "), value) for n, value in _ranked(metrics, _LIMIT)]
    return _nonzero(ranked)


def _nonzero(ranked: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The entries above zero, or the first one where none is."""
    return [(name, value) for name, value in ranked if value > 0] or ranked[:1]


def _ranked(metrics: dict[str, float], prefix: str) -> list[tuple[str, float]]:
    """The percentages whose names begin with ``prefix``, largest first, undefined ones last."""
    found = [
        (name.removeprefix(prefix).removesuffix(".pct").replace("_", " "), value)
        for name, value in metrics.items()
        if name.startswith(prefix)
    ]
    return sorted(found, key=lambda entry: -entry[1] if entry[1] == entry[1] else 1.0)


def _bars(title: str, values: list[tuple[str, float]]) -> Table:
    table = _table(title, "")
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, value in values:
        table.add_row(name, Text(bar(value, BAR_WIDTH), style="cyan"), percent(value))
    return table


def _memory_table(result: Result) -> Table:
    m = result.total
    table = _table("Memory", "")
    for heading in ("sectors", "hit rate", "bytes", "of peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    sector = result.gpu.l1.sector_bytes
    for label, sectors, hits in _CACHE_ROWS:
        if m[sectors]:
            size = scaled(m[sectors] * sector, "B")
            table.add_row(label, count(m[sectors]), percent(m[hits]) if hits else "", size, "")
    wavefronts = m["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
    if wavefronts:
        table.add_row("shared, wavefronts", count(wavefronts), "", "", percent(m[_SOL_SHARED]))
    for label, name in (("DRAM reads", "read"), ("DRAM writes", "write")):
        sectors = m[f"dram__sectors_{name}.sum"]
        table.add_row(label, count(sectors), "", scaled(m[f"dram__bytes_{name}.sum"], "B"), "")
    bandwidth = scaled(m["dram__bytes.sum.per_second"], "B/s")
    rows = percent(m["sim__dram_row_hit_rate.pct"])
    table.add_row("DRAM, row hits", "", rows, bandwidth, percent(m["sim__sol_dram.pct"]))
    return table


_SOL_SHARED = "sim__sol_shared.pct"
_L1_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_{}_op_{}.sum"
_CACHE_ROWS = (
    ("L1 global loads", _L1_SECTORS.format("global", "ld"), "sim__l1_global_load_hit_rate.pct"),
    ("L1 global stores", _L1_SECTORS.format("global", "st"), "sim__l1_global_store_hit_rate.pct"),
    ("L1 local loads", _L1_SECTORS.format("local", "ld"), "sim__l1_local_load_hit_rate.pct"),
    ("L1 local stores", _L1_SECTORS.format("local", "st"), "sim__l1_local_store_hit_rate.pct"),
    ("L1 atomics", "sim__l1_atomic_sectors.sum", ""),
    ("L2 reads", "lts__t_sectors_srcunit_tex_op_read.sum", "sim__l2_read_hit_rate.pct"),
    ("L2 writes", "lts__t_sectors_srcunit_tex_op_write.sum", "sim__l2_write_hit_rate.pct"),
    ("L2 atomics", "sim__l2_atomic_sectors.sum", "sim__l2_atomic_hit_rate.pct"),
)


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=NAME_WIDTH)
    return table


def warnings(result: Result) -> list[str]:
    """What the reader of this result should know, one line each."""
    lines = []
    if result.unknown_opcodes:
        named = [f"{clean(name)} ({count(n)})" for name, n in result.unknown_opcodes.items()]
        more = f" and {len(named) - 8} more" if len(named) > 8 else ""
        lines.append(f"Unknown opcodes, classed by family: {', '.join(named[:8])}{more}")
    if not result.gpu.validated:
        lines.append(f"{result.gpu.name} was never compared with hardware measurements.")
    if result.stopped:
        lines.append(f"Ended early, the numbers are partial: {clean_lines(result.stopped)}")
    return lines


def clean_lines(text: str) -> str:
    """Several lines of text, each without control characters."""
    return "\n".join(clean(line) for line in text.splitlines())
