"""Compare lockstep with measurements: latencies, throughputs, cycles and counters, as tables.

::

    python benchmarks/validate.py [latencies] [throughputs] [hardware] [counters]
        [--shared ../shared] [--generated DIR] [--markdown]

Latencies and throughputs come from the probes of ``probes.py``, what they are compared with from
``measured.py``, and they need nothing else. Cycles and
counters need recorded traces under ``--shared``; ``--generated`` is where
``../shared/tools/gen_traces.py`` wrote the synthetic ones. What is absent is named as skipped.
"""

import argparse
import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import probes
from measured import FRACTIONS, LANES, LATENCIES
from rich import box
from rich.console import Console
from rich.table import Table

import lockstep
from lockstep.report.benchmark import plan

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of ours beside a measured one."""

    what: str
    ours: float
    measured: float
    source: str

    @property
    def error(self) -> float:
        """Relative to the measured number."""
        return self.ours / self.measured - 1 if self.measured else float(self.ours != 0)


@dataclass(slots=True)
class Comparison:
    """Figures of one kind, and what could not be compared."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Errors in percent, and how much of what is measured was compared."""
        count = len(self.figures)
        coverage = f"{count} of {count + len(self.skipped)} compared"
        if not count:
            return coverage
        errors = 100 * np.abs([f.error for f in self.figures])
        return (
            f"error: mean {errors.mean():.2f} %, median {np.median(errors):.2f} %, 90th percentile "
            f"{np.percentile(errors, 90):.2f} %, worst {errors.max():.2f} %; {coverage}"
        )


def latencies(name: str) -> Comparison:
    """Single-warp latencies of a GPU of the library."""
    gpu, result = lockstep.gpu(name), Comparison(f"Latencies of {name}, cycles")
    known = {m.probe: m for m in LATENCIES[name]}
    for probe in probes.latencies():
        cycles = probe.cycles_each(gpu)
        if probe.name not in known:
            result.skipped.append(f"{probe.name}: {cycles:.2f}, no measurement")
            continue
        _, measured, source = known[probe.name]
        note = f"{source}; ours: {probe.contains}"
        result.figures.append(Figure(probe.name, cycles, measured, note))
    return result


def lanes(name: str) -> Comparison:
    """Arithmetic throughput of one SM of a GPU."""
    gpu, result = lockstep.gpu(name), Comparison(f"Throughput of a {name} SM, lanes a cycle")
    for what, measured, source in LANES[name]:
        rate = probes.arithmetic_rate(what).rate(gpu)
        result.figures.append(Figure(what, rate, measured, source))
    return result


def fractions(name: str) -> Comparison:
    """Bandwidths of a GPU as fractions of peak, all SMs at work."""
    gpu, result = lockstep.gpu(name), Comparison(f"Bandwidths of {name}, fractions of peak")
    made, found = {p.name: p for p in probes.rates(gpu)}, {}
    for what, measured, source in FRACTIONS[name]:
        if what not in found:
            found[what] = made[what].rate(gpu) / probes.peak(made[what], gpu)
        result.figures.append(Figure(what, found[what], measured, source))
    return result


def hardware(shared: Path) -> Comparison:
    """Cycles of recorded programs, and L2 sectors where they were counted."""
    result = Comparison("Recorded programs against hardware")
    for number, cycles in ((10, 9576), (20, 14781), (30, 20028), (40, 25446)):
        name = f"ffma-sm90-{number}"
        if run := _simulated(result, shared / "data" / "traces" / name, "H100"):
            result.figures.append(
                Figure(f"{name} on H100: cycles", run.cycles, cycles, "mgpusim, H100 PCIe, ncu")
            )
    name = "vecadd-f64-sm61-raw"
    if run := _simulated(result, shared / "data" / "traces" / name, "TITANX"):
        pairs = {
            "cycles": (run.cycles, 13468),
            "L2 read sectors": (run.total["lts__t_sectors_srcunit_tex_op_read.sum"], 49998),
            "L2 write sectors": (run.total["lts__t_sectors_srcunit_tex_op_write.sum"], 25000),
        }
        for what, (ours, measured) in pairs.items():
            figure = Figure(
                f"{name} on TITANX: {what}", ours, measured, "gpucachesim, TITAN X (Pascal)"
            )
            result.figures.append(figure)
    return result


def _simulated(result: Comparison, path: Path, gpu: str) -> lockstep.Result | None:
    if not path.is_dir():
        result.skipped.append(f"{path.name}: no {path}")
        return None
    return lockstep.simulate(path, gpu)


COUNTERS = ("warp_instructions", "thread_instructions", "l1_accesses", "l2_accesses")


@dataclass(frozen=True, slots=True)
class Reference:
    """One row of Accel-Sim's results."""

    trace: str
    gpu: str
    path: Path
    values: dict[str, int]


def references(shared: Path, generated: Path | None) -> Iterator[Reference]:
    """The rows of accelsim_reference.csv, with the traces where they should be."""
    table = shared / "data" / "hardware" / "accelsim_reference.csv"
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kind, _, trace = row["trace"].rpartition(":")
            folder = shared / "data" / "traces" if not kind else generated or Path("generated")
            known = {trace: {row["config"]: 0.0}}
            for job in plan([folder / trace], None, known):
                values = {name: int(row[name]) for name in (*COUNTERS, "cycles")}
                yield Reference(trace, job.gpu, job.path, values)


def counted(reference: Reference) -> dict[str, int]:
    """The same counters as lockstep finds them."""
    total = lockstep.simulate(reference.path, reference.gpu).total
    return {
        "warp_instructions": total["warp_instructions"],
        "thread_instructions": total["thread_instructions"],
        "l1_accesses": total["sim__l1_sectors.sum"] + total["sim__l1_atomic_sectors.sum"],
        "l2_accesses": total["sim__l2_sectors.sum"],
        "cycles": total["cycles"],
    }


def counters(rows: Iterable[Reference]) -> list[Comparison]:
    """Each counter of Accel-Sim's on the same traces. It is a peer and not the truth."""
    results = {
        name: Comparison(f"The same traces in Accel-Sim, a peer: {name}")
        for name in (*COUNTERS, "cycles")
    }
    for row in rows:
        what = f"{row.trace} on {row.gpu}"
        ours = counted(row) if row.path.is_dir() else None
        for name, result in results.items():
            if name == "l1_accesses" and row.gpu != "QV100" and not row.values[name]:
                result.skipped.append(f"{what}: Accel-Sim leaves out the L1 there")
            elif ours is None:
                result.skipped.append(f"{what}: no {row.path}")
            else:
                result.figures.append(Figure(what, ours[name], row.values[name], "Accel-Sim"))
    return list(results.values())


def show(comparison: Comparison, console: Console, markdown: bool) -> None:
    """Print one comparison as a table, with a line of statistics."""
    table = Table(box=box.MARKDOWN if markdown else box.SIMPLE)
    table.add_column("what")
    for heading in ("lockstep", "reference", "difference"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("reference from", overflow="fold")
    for f in comparison.figures:
        numbers = (f"{f.ours:,.5g}", f"{f.measured:,.5g}")
        if f.measured >= 1000:
            numbers = (f"{f.ours:,.0f}", f"{f.measured:,.0f}")
        table.add_row(f.what, *numbers, f"{100 * f.error:+.2f} %", f.source)
    console.print(f"\n{comparison.title}", style="bold")
    console.print(table)
    console.print(comparison.summary())
    for line in comparison.skipped:
        console.print(f"not compared: {line}")


def compare(arguments: argparse.Namespace) -> Iterator[Comparison]:
    """The comparisons asked for, or all."""
    wanted = arguments.kinds or KINDS
    if "latencies" in wanted:
        yield from map(latencies, LATENCIES)
    if "throughputs" in wanted:
        yield from map(lanes, LANES)
        yield from map(fractions, FRACTIONS)
    if "hardware" in wanted:
        yield hardware(arguments.shared)
    if "counters" in wanted and (arguments.shared / "data" / "hardware").is_dir():
        yield from counters(references(arguments.shared, arguments.generated))
    elif "counters" in wanted:
        yield Comparison("Accel-Sim's counters", skipped=[f"no {arguments.shared}"])


KINDS = ("latencies", "throughputs", "hardware", "counters")


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--shared", type=Path, default=SHARED, help="recorded traces")
    parser.add_argument("--generated", type=Path, help="synthetic traces")
    parser.add_argument("--markdown", action="store_true", help="tables to paste")
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - set(KINDS):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(KINDS)}")
    console = Console(width=None if Console().is_terminal else 160)
    for comparison in compare(arguments):
        show(comparison, console, arguments.markdown)


if __name__ == "__main__":
    main()
