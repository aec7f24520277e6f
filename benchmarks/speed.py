"""Measure lockstep's speed, memory and start, as tables.

::

    python ../shared/tools/gen_traces.py generated
    python benchmarks/speed.py [--generated generated] [--shared ../shared] [--cold] [--repeat N]

Simulation is compared with the user time of Accel-Sim on the same traces; each trace runs in a
process of its own, the fastest of ``--repeat`` runs counts. Without ``--generated`` the kernels of
``kernels.py`` are written as traces of lockstep's own format, which Accel-Sim never ran: times are
then given without a ratio. ``--cold`` also compiles everything anew, which takes a minute.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from rich import box
from rich.console import Console
from rich.table import Table

import kernels
import lockstep
from lockstep.report import benchmark
from lockstep.report.benchmark import Job, Measurement

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"
TINY = REPOSITORY / "examples" / "vecadd"
PARALLEL = ("gather-256x256", "gemm-512")
GPU = "QV100"
SAMPLES = 5


def best(job: Job, threads: int, repeat: int) -> Measurement:
    """The run that took least of several."""
    runs = [benchmark.measure(job, threads) for _ in range(repeat)]
    return min(runs, key=lambda m: m.simulate_seconds + m.read_seconds)


def traces(arguments: argparse.Namespace, folder: Path) -> list[Path]:
    """The recorded traces, and the generated ones or what stands in for them."""
    found = sorted((arguments.shared / "data" / "traces").glob("*/kernelslist.g"))
    if arguments.generated:
        return found + sorted(arguments.generated.glob("*/kernelslist.g"))
    for name, make in kernels.KERNELS.items():
        lockstep.save(make(), folder / f"{name}.lst")
    return found + sorted(folder.glob("*.lst"))


def jobs(arguments: argparse.Namespace, folder: Path) -> list[Job]:
    """One job for each trace and GPU that Accel-Sim ran; all traces once where it is unknown."""
    table = arguments.shared / "data" / "hardware" / "accelsim_reference.csv"
    reference = benchmark.read_reference(table) if table.exists() else {}
    if not arguments.generated:
        reference = {name: r for name, r in reference.items() if name not in kernels.KERNELS}
    return benchmark.plan(traces(arguments, folder), None, reference)


def seconds(*command: str, **environment: str) -> tuple[float, float]:
    """What a Python process takes, from its start to its end: of the clock, of the processor."""
    home = {"PYTHONPATH": str(REPOSITORY / "src")}
    before, begin = os.times(), perf_counter()
    subprocess.run(
        [sys.executable, *command],
        check=True,
        env=os.environ | home | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after, end = os.times(), perf_counter()
    used = after.children_user + after.children_system
    return end - begin, used - before.children_user - before.children_system


def processor(*command: str) -> float:
    """Seconds of the processor that a process takes: the median of several."""
    return statistics.median(seconds(*command)[1] for _ in range(SAMPLES))


def threads_table(chosen: list[Job], repeat: int) -> Table:
    """Two threads against one."""
    table = _table("trace", "1 thread s", "2 threads s", "faster", "same result")
    for job in chosen:
        one, two = best(job, 1, repeat), best(job, 2, repeat)
        ratio = one.simulate_seconds / two.simulate_seconds
        same = "yes" if one.result_hash == two.result_hash else "NO"
        times = (f"{one.simulate_seconds:.2f}", f"{two.simulate_seconds:.2f}")
        table.add_row(job.trace, *times, f"{ratio:.2f}x", same)
    return table


def start_table(cold: bool) -> Table:
    """Import, a tiny simulation, a small program, and the first of all."""
    table = _table("start", "seconds")
    simulate = ("-m", "lockstep", "simulate", str(TINY), "--gpu", GPU, "--quiet")
    run = ("-m", "lockstep", "run", "saxpy", "--gpu", GPU, "--quiet")
    for command in (simulate, run):
        seconds(*command)  # what is compiled is there
    import_ = processor("-c", "import lockstep") - processor("-c", "pass")
    table.add_row("import lockstep, without Python's own start: processor", f"{import_:.2f}")
    table.add_row("lockstep simulate examples/vecadd: processor", f"{processor(*simulate):.2f}")
    table.add_row("lockstep run saxpy: processor", f"{processor(*run):.2f}")
    if cold:
        with tempfile.TemporaryDirectory() as empty:
            first, _ = seconds(*simulate, LOCKSTEP_CACHE_DIR=empty)
        table.add_row("the first, everything compiled anew: clock", f"{first:.1f}")
    return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    return table


def report(arguments: argparse.Namespace, console: Console, folder: Path) -> None:
    """Measure and print."""
    planned = jobs(arguments, folder)
    benchmark.warm_up(planned[0], console.print)
    measured = [best(job, 1, arguments.repeat) for job in planned]
    console.print(benchmark.table(measured, console.width))
    largest = max(measured, key=lambda m: m.peak_rss_mb)
    console.print(f"most memory: {largest.peak_rss_mb:.0f} MiB, {largest.trace} on {largest.gpu}")
    parallel = {job.trace: job for job in planned if job.trace in PARALLEL}
    console.print(threads_table(list(parallel.values()), arguments.repeat))
    console.print(start_table(arguments.cold))


def main() -> None:
    """Read the command line, measure, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED, help="recorded traces")
    parser.add_argument("--generated", type=Path, help="synthetic traces")
    parser.add_argument("--cold", action="store_true", help="compile everything anew, too")
    parser.add_argument("--repeat", type=int, default=1, help="runs of which the best counts")
    arguments = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160)
    if not arguments.shared.is_dir():
        console.print(f"skipped: recorded traces, no {arguments.shared}")
    with tempfile.TemporaryDirectory() as folder:
        report(arguments, console, Path(folder))


if __name__ == "__main__":
    main()
