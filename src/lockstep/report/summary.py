"""The summary of a result: time, speed of light, why nothing issued, memory, warnings."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from lockstep.gpus.spec import GPU
from lockstep.metrics.result import Result
from lockstep.report import figures, time_line
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import (
    bar,
    clean,
    count,
    decimal,
    dependences,
    kernel_name,
    percent,
    scaled,
)
from lockstep.report.terms import terms

if TYPE_CHECKING:
    from lockstep.engine.record import KernelRun

KERNELS_SHOWN = 12
EXPLAINED, EXPLAINED_SHARE = 3, 5.0  # kernels with tables of their own; least percent of the cycles
STALLS_SHOWN = 6
BAR_WIDTH, LEAST_BAR = 32, 4
LEAST_WIDTH = 40  # columns; a narrower terminal breaks lines itself
_SCHEDULER = "sim__scheduler_"
_LIMIT = "sim__sol_"


def summary(result: Result, width: int = 100, short: bool = False) -> str:
    """The summary as plain text of at most ``width`` columns; at least 40 are needed.

    ``short``: only its head, and warnings.
    """
    size = max(width, LEAST_WIDTH)
    written = io.StringIO()
    console = Console(file=written, width=size, color_system=None, highlight=False)
    print_summary(result, console, short)
    return "".join(line.rstrip() + "\n" for line in written.getvalue().splitlines())


def print_summary(result: Result, console: Console, short: bool = False) -> None:
    """Print the summary, in colour where the console has it."""
    for part in _parts(result, max(console.width, LEAST_WIDTH), short):
        console.print(part)


def print_kernels(result: Result, console: Console) -> None:
    """Print the tables of the kernels that took most time, all launches of one together."""
    width = max(console.width, LEAST_WIDTH)
    groups = by_kernel(result)
    for times in time_line.tables(result, width):
        console.print(times)
    console.print(_groups_table(result, groups, width))
    total = sum(cycles_of(runs) for runs in groups)
    for runs in groups[:EXPLAINED]:
        share = 100 * cycles_of(runs) / max(1, total)
        if share >= EXPLAINED_SHARE or runs is groups[0]:
            about = f"{count(len(runs))} launch" + ("es" if len(runs) != 1 else "")
            name = kernel_name(runs[0].name)
            console.print(Text(f"\n{name}: {about}, {percent(share)} of the cycles", style="bold"))
            for part in explanation(result.metrics_of(runs), result.gpu, width):
                console.print(part)
    for warning in warnings(result):
        console.print(Text(warning, style="yellow"))


def by_kernel(result: Result) -> "list[list[KernelRun]]":
    """The launches of each kernel, that with most cycles first."""
    groups: dict[str, list[KernelRun]] = {}
    for run in result.run.kernels:
        groups.setdefault(run.name, []).append(run)
    return sorted(groups.values(), key=lambda runs: -cycles_of(runs))


def cycles_of(runs: "list[KernelRun]") -> int:
    """Cycles of several launches."""
    return sum(run.cycles for run in runs)


def _parts(result: Result, width: int, short: bool) -> Iterator[RenderableType]:
    yield _headline(result)
    if not short:
        yield from time_line.tables(result, width)
    if result.run.kernels and not short:
        yield from ("", _kernel_table(result, width))
        yield from explanation(result.total, result.gpu, width)
    for warning in warnings(result):
        yield Text(warning, style="yellow")


def explanation(metrics: dict[str, float], gpu: GPU, width: int) -> Iterator[RenderableType]:
    """Why a period took as long as it did: speed of light, schedulers, memory."""
    yield from ("", _bars("Speed of light", speeds(metrics), width))
    yield from ("", _bars("Scheduler cycles", _nonzero(stalls(metrics))[:STALLS_SHOWN], width))
    yield from ("", _memory_table(metrics, gpu, width))


def _headline(result: Result) -> Text:
    run, seconds = result.run, result.cycles / (result.gpu.clock_mhz * 1e6)
    words = terms(result.gpu)
    text = Text()
    text.append(clean(result.workload.name), style="bold")
    text.append(f" on {clean(result.gpu.name)}: ")
    text.append(f"{count(result.cycles)} cycles", style="bold green")
    text.append(f" = {scaled(seconds, 's')} at {result.gpu.clock_mhz:,.0f} MHz\n")
    text.append(
        f"{count(result.warp_instructions)} {words.warp} instructions, "
        f"{count(result.thread_instructions)} {words.thread} instructions, "
        f"IPC {decimal(result.total.get('sim__ipc', float('nan')))}"
    )
    if "sim__opc" in result.total:
        text.append(f", OPC {decimal(result.total['sim__opc'])}")
    text.append("\n")
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


def _kernel_table(result: Result, width: int) -> Table:
    rows = list(zip(result.run.kernels, result.metrics))
    longest = sorted(rows, key=lambda row: -row[0].cycles)[:KERNELS_SHOWN]
    cells = [
        [
            f"{k.id} {kernel_name(k.name)}",
            figures.size(k.grid),
            figures.size(k.block),
            count(k.cycles),
            *_findings(m),
            k.limiter,
        ]
        for k, m in sorted(longest, key=lambda row: row[0].launched)
    ]
    title = _shown("Kernels", "longest", len(rows))
    limiter = Column("occupancy limiter", Kind.WORD, 0)
    words = terms(result.gpu)
    columns = [_KERNEL, Column(words.grid, rank=2), Column(words.block, rank=2), Column("cycles")]
    return table([*columns, *_FINDINGS, limiter], cells, width, title)


def _groups_table(result: Result, groups: "list[list[KernelRun]]", width: int) -> Table:
    total = max(1, sum(cycles_of(runs) for runs in groups))
    cells = [
        [
            kernel_name(runs[0].name),
            count(len(runs)),
            count(cycles_of(runs)),
            percent(100 * cycles_of(runs) / total),
            *_findings(result.metrics_of(runs)),
            runs[0].limiter,
        ]
        for runs in groups[:KERNELS_SHOWN]
    ]
    title = _shown("Kernels by time", "slowest", len(groups))
    limiter = Column("occupancy limiter", Kind.WORD, 0)
    columns = [_KERNEL, Column("launches", rank=3), Column("cycles"), Column("share", rank=5)]
    return table([*columns, *_FINDINGS, limiter], cells, width, title)


def _shown(title: str, which: str, number: int) -> str:
    return title if number <= KERNELS_SHOWN else f"{title}: the {KERNELS_SHOWN} {which} of {number}"


def _findings(metrics: dict[str, float]) -> list[str]:
    """The cells of ``_FINDINGS``."""
    waits = [entry for entry in stalls(metrics) if entry[0] != "issued"]
    limits = [_first(speeds(metrics)), _first(waits)]
    return [decimal(metrics["sim__ipc"]), percent(metrics[_OCCUPANCY]), *limits]


def _first(ranked: list[tuple[str, float]]) -> str:
    positive = [f"{name} {percent(value)}" for name, value in ranked if value > 0]
    return positive[0] if positive else figures.NONE


_OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
_KERNEL = Column("kernel", Kind.NAME)
_FINDINGS = (
    Column("IPC", rank=6),
    Column("occupancy", rank=4),
    Column("nearest limit", Kind.WORD, 1),
    Column("top stall", Kind.WORD, 7),
)


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


def _bars(title: str, values: list[tuple[str, float]], width: int) -> Table:
    texts = [(name, value, percent(value)) for name, value in values]
    taken = max(len(name) for name, _, _ in texts) + max(len(text) for _, _, text in texts) + 4
    length = min(BAR_WIDTH, max(LEAST_BAR, width - taken))
    rows = [(name, Text(bar(value, length), style="cyan"), text) for name, value, text in texts]
    return table([_LABEL, Column("", Kind.WORD), Column("")], rows, width, title)


def _memory_table(m: dict[str, float], gpu: GPU, width: int) -> Table:
    rows = []
    for label, sectors, hits in _CACHE_ROWS:
        if m[sectors]:
            size = scaled(m[sectors] * gpu.l1.sector_bytes, "B")
            rows.append((label, count(m[sectors]), percent(m[hits]) if hits else "", size, ""))
    wavefronts = m["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
    if wavefronts:
        rows.append((terms(gpu).shared, count(wavefronts), "", "", percent(m[_SOL_SHARED])))
    if gpu.modules.count > 1:
        size = scaled(m["sim__module_link_bytes.sum"], "B")
        rows.append(("links of modules", "", "", size, percent(m["sim__sol_module_link.pct"])))
    for what in ("load", "store", "atomic"):
        if moved := m.get(f"sim__peer_{what}_bytes.sum", 0):
            sectors = count(moved // gpu.l2.sector_bytes)
            rows.append((f"other GPUs, {what}s", sectors, "", scaled(moved, "B"), ""))
    for label, name in (("DRAM reads", "read"), ("DRAM writes", "write")):
        read = m[f"dram__sectors_{name}.sum"]
        rows.append((label, count(read), "", scaled(m[f"dram__bytes_{name}.sum"], "B"), ""))
    bandwidth = scaled(m["dram__bytes.sum.per_second"], "B/s")
    hits = percent(m["sim__dram_row_hit_rate.pct"])
    rows.append(("DRAM, row hits", "", hits, bandwidth, percent(m["sim__sol_dram.pct"])))
    return table(_MEMORY, rows, width, "Memory")


_LABEL = Column("", Kind.WORD)
_MEMORY = (
    _LABEL,
    Column("sectors", rank=1),
    Column("hit rate", rank=3),
    Column("bytes"),
    Column("of peak", rank=2),
)
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


def warnings(result: Result) -> list[str]:
    """What the reader of this result should know, one line each."""
    lines = []
    if result.unknown_opcodes:
        named = [f"{clean(name)} ({count(n)})" for name, n in result.unknown_opcodes.items()]
        more = f" and {len(named) - 8} more" if len(named) > 8 else ""
        lines.append(f"Unknown opcodes, classed by family: {', '.join(named[:8])}{more}")
    if not result.gpu.validated:
        lines.append(f"{result.gpu.name} was never compared with hardware measurements.")
    lines += _parts_of_kernels(result)
    if result.stopped:
        lines.append(f"Ended early, the numbers are partial: {clean_lines(result.stopped)}")
    return lines


def _parts_of_kernels(result: Result) -> list[str]:
    """Kernels of which only some CTAs were to run: their cycles are those of these CTAs."""
    parts = [k for k in result.run.kernels if k.stopped or k.first_cta or k.skipped]
    lines = [
        f"Kernel {k.id} ({kernel_name(k.name)}): {count(k.ctas_done)} of {count(k.ctas)} CTAs"
        + (f", from CTA {count(k.first_cta)} on" if k.first_cta else "")
        + (f", {count(k.skipped)} left out" if k.skipped else "")
        + (f", stopped: {clean(k.stopped)}" if k.stopped else "")
        for k in parts[:KERNELS_SHOWN]
    ]
    if len(parts) > KERNELS_SHOWN:
        lines.append(f"{len(parts)} kernels ran in part; the first {KERNELS_SHOWN} are listed.")
    return lines


def clean_lines(text: str) -> str:
    """Several lines of text, each without control characters."""
    return "\n".join(clean(line) for line in text.splitlines())
