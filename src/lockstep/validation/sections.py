"""The comparisons: latencies, throughputs, recorded programs, grids, and Accel-Sim's counters.

Latencies and throughputs need nothing else. The others need recorded traces and measurements, in
a folder that has ``hardware`` and ``traces``; what is absent is named.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstep import api
from lockstep.metrics.result import Result
from lockstep.report.benchmark import plan
from lockstep.validation import grids as kernels
from lockstep.validation import probes
from lockstep.validation.comparison import Comparison, Figure
from lockstep.validation.measured import FRACTIONS, LANES, LATENCIES, RECORDED

COUNTERS = ("warp_instructions", "thread_instructions", "l1_accesses", "l2_accesses", "cycles")
GRIDS_SOURCE = "H100 PCIe, ncu, from mgpusim"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where recorded traces and measurements lie, and made traces; None: nowhere."""

    data: Path | None = None
    generated: Path | None = None

    def trace(self, name: str) -> Path | None:
        """A recorded trace, if it is there."""
        path = self.data / "traces" / name if self.data else None
        return path if path and path.is_dir() else None

    def table(self, name: str) -> Path | None:
        """A table of measurements, if it is there."""
        path = self.data / "hardware" / name if self.data else None
        return path if path and path.is_file() else None


def latencies(name: str) -> Comparison:
    """Single-warp latencies of a GPU of the library, in cycles."""
    gpu = api.gpu(name)
    result = Comparison(f"latencies {name}", f"Latencies of {name}, cycles")
    known = {m.probe: m for m in LATENCIES[name]}
    for probe in probes.latencies():
        if probe.name not in known:
            result.skipped.append(f"{probe.name}: without a measurement")
            continue
        _, measured, source = known[probe.name]
        note = f"{source}; ours: {probe.contains}"
        result.figures.append(Figure(probe.name, probe.cycles_each(gpu), measured, note))
    return result


def lanes(name: str) -> Comparison:
    """Arithmetic throughput of one SM of a GPU."""
    gpu = api.gpu(name)
    result = Comparison(f"lanes {name}", f"Throughput of a {name} SM, lanes a cycle")
    for what, measured, source in LANES[name]:
        rate = probes.arithmetic_rate(what).rate(gpu)
        result.figures.append(Figure(what, rate, measured, source))
    return result


def fractions(name: str) -> Comparison:
    """Bandwidths of a GPU as fractions of peak, all SMs at work."""
    gpu = api.gpu(name)
    result = Comparison(f"bandwidths {name}", f"Bandwidths of {name}, fractions of peak")
    made, found = {p.name: p for p in probes.rates(gpu)}, {}
    for what, measured, source in FRACTIONS[name]:
        if what not in found:
            found[what] = made[what].rate(gpu) / probes.peak(made[what], gpu)
        result.figures.append(Figure(what, found[what], measured, source))
    return result


def hardware(sources: Sources) -> Comparison:
    """Cycles of recorded programs, and L2 sectors where they were counted."""
    result = Comparison("recorded", "Recorded programs against hardware")
    runs: dict[str, Result | None] = {}
    for trace, gpu, what, metric, measured, source in RECORDED:
        if trace not in runs:
            path = sources.trace(trace)
            runs[trace] = api.simulate(path, gpu) if path else None
        name, run = f"{trace} on {gpu}: {what}", runs[trace]
        if run is None:
            result.skipped.append(f"{name}: its trace is not at hand")
        else:
            result.figures.append(Figure(name, run.total[metric], measured, source))
    return result


def grids(sources: Sources) -> Comparison:
    """Cycles of microbenchmarks on an H100, for many grids."""
    result = Comparison("grids", "Microbenchmarks on H100, many grids: cycles")
    table, trace = sources.table("h100_cycles.csv"), sources.trace("ffma-sm90-10")
    if not (table and trace):
        result.skipped.append("h100_cycles.csv and ffma-sm90-10: not at hand")
        return result
    gpu = api.gpu("H100")
    for row in _rows(table):
        if row["suite"] != "microbench":
            continue
        name, text = row["benchmark"], row["params"].replace(";", ", ")
        given = dict(part.split("=") for part in row["params"].split(";"))
        size = int(given.get("block", 0)), int(given.get("thread", 0))
        if name == "emptykernel":
            workload = kernels.empty(*size)
        elif name == "ffmakernel":
            workload = kernels.chains(trace, *size, int(given["iters"]))
        else:
            result.skipped.append(f"{name}, {text}: whose code is not at hand")
            continue
        cycles = api.simulate(workload, gpu).cycles
        figure = Figure(f"{name}, {text}", cycles, int(row["hw_cycles"]), GRIDS_SOURCE)
        result.figures.append(figure)
    return result


@dataclass(frozen=True, slots=True)
class Reference:
    """One row of Accel-Sim's results."""

    trace: str
    gpu: str
    path: Path
    values: dict[str, int]


def references(sources: Sources) -> Iterator[Reference]:
    """The rows of accelsim_reference.csv, with the traces where they should be."""
    table = sources.table("accelsim_reference.csv")
    if table is None or sources.data is None:
        return
    for row in _rows(table):
        kind, _, trace = row["trace"].rpartition(":")
        folder = (sources.generated or Path("generated")) if kind else sources.data / "traces"
        known = {trace: {row["config"]: 0.0}}
        for job in plan([folder / trace], None, known):
            yield Reference(trace, job.gpu, job.path, {name: int(row[name]) for name in COUNTERS})


def counted(reference: Reference) -> dict[str, float]:
    """The same counters as lockstep finds them."""
    total = api.simulate(reference.path, reference.gpu).total
    return {
        "warp_instructions": total["warp_instructions"],
        "thread_instructions": total["thread_instructions"],
        "l1_accesses": total["sim__l1_sectors.sum"] + total["sim__l1_atomic_sectors.sum"],
        "l2_accesses": total["lts__t_sectors_srcunit_tex.sum"],
        "cycles": total["cycles"],
    }


def counters(rows: Iterable[Reference]) -> list[Comparison]:
    """Each counter of Accel-Sim's on the same traces. It is a peer and not the truth."""
    results = {
        name: Comparison(f"peer {name}", f"The same traces in Accel-Sim, a peer: {name}")
        for name in COUNTERS
    }
    for row in rows:
        what = f"{row.trace} on {row.gpu}"
        ours = counted(row) if row.path.is_dir() else None
        for name, result in results.items():
            if name == "l1_accesses" and row.gpu != "QV100" and not row.values[name]:
                result.skipped.append(f"{what}: of which Accel-Sim leaves out the L1")
            elif ours is None:
                result.skipped.append(f"{what}: its trace is not at hand")
            else:
                result.figures.append(Figure(what, ours[name], row.values[name], "Accel-Sim"))
    return list(results.values())


KINDS: dict[str, Callable[[Sources], Iterable[Comparison]]] = {
    "latencies": lambda sources: map(latencies, LATENCIES),
    "throughputs": lambda sources: [*map(lanes, LANES), *map(fractions, FRACTIONS)],
    "hardware": lambda sources: [hardware(sources)],
    "grids": lambda sources: [grids(sources)],
    "counters": lambda sources: counters(references(sources)),
}


def _rows(table: Path) -> list[dict[str, str]]:
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
