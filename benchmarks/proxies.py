"""Proxies measured: how far each is from its original over configurations of caches.

    python benchmarks/proxies.py [--method affine,gmap] [--scale 1/8] [--quick]
                                 [--only PROGRAM,...] [--csv FILE] [--sweep]

Eighteen programs with 5 million accesses of threads each, on a QV100 with 15 SMs. Each is executed
with its accesses going through all configurations of ``lockstep.proxies.agreement.SETS``, and once
more to profile it; what the proxy accesses goes through the same configurations. Prints Markdown
tables: the error by set and method beside those that G-MAP published, the worst and best programs,
the sizes of proxies, and seconds of the processor. ``--scale``:
proxies with so much of the accesses. ``--sweep``: instead of all this, what the 30 L1s alone take
in one run of each program, beside running it without looking.
"""

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import programs

import lockstep
from lockstep.caches import Exploration
from lockstep.caches.order import Order
from lockstep.device import Device
from lockstep.gpus.spec import GPU
from lockstep.proxies import ProxyProfiler
from lockstep.proxies.agreement import SETS, compare, explorations, summarise

SIZES = {
    "atax": 1300,
    "bfs": 30_000,
    "blackscholes": 1_100_000,
    "conv3d": 112,
    "convolution": 1200,
    "diffusion": 512,
    "fft": 262_144,
    "gemm_tiled": 384,
    "half_dot": 6_000_000,
    "hotspot": 960,
    "kmeans": 500_000,
    "lu": 400,
    "needle": 960,
    "pathfinder": 220_000,
    "perceptron": 4096,
    "spmv": 24_000,
    "tracking": 96,
    "transpose_naive": 2300,
}
QUICK = {"gemm_tiled": 96, "spmv": 1000}
PUBLISHED = {  # Panda et al., DAC 2017, section 5: error in per cent, correlation
    "l1": (5.1, 0.91),
    "l2": (7.1, 0.91),
    "l1 prefetch": (6.3, 0.90),
    "l2 prefetch": (8.9, 0.88),
    "l1 gto": (10.9, None),
    "dram": (None, 0.85),  # rows 9.95, queue 8.64, latency 12.6
}
SMS = 15
RUNS = 2  # of each program with and without a sweep, after a first one


class Measured(NamedTuple):
    """What one program gave with one method."""

    rows: pd.DataFrame  # of ``compare``
    facts: dict[str, Any]  # a row of the table of programs


class Original(NamedTuple):
    """A program that was executed, with the trace of it where its size is asked for."""

    seen: dict[Order, Any]
    trace_bytes: int
    seconds: dict[str, float]  # of the processor: executed alone, and with all configurations


def gpu_of(name: str = "QV100") -> GPU:
    """The GPU whose SMs and places for CTAs make the order of accesses."""
    return lockstep.gpu(name, [f"sm.count={SMS}"])


def executed(
    name: str, size: int, gpu: GPU, watcher: Any = None, trace: Path | None = None
) -> float:
    """Execute a program; seconds of the processor."""
    begin = time.process_time()
    with Device(gpu) as device:
        if watcher is not None:
            device.watch(watcher)
        if trace is None:
            programs.load(name).run(device, size)
        else:
            with device.record(trace):
                programs.load(name).run(device, size)
    return time.process_time() - begin


def original(name: str, size: int, gpu: GPU, folder: Path) -> Original:
    """Execute a program often enough to know all of it."""
    seconds = {"executed": executed(name, size, gpu)}
    seen = explorations(gpu)
    seconds["explored"] = sum(executed(name, size, gpu, each) for each in seen.values())
    trace = folder / f"{name}.lst"
    executed(name, size, gpu, trace=trace)
    return Original(seen, trace.stat().st_size, seconds)


def sweep(sizes: dict[str, int]) -> pd.DataFrame:
    """Seconds by the clock of each program with and without the 30 L1s, in turn: the least of RUNS,
    when machine code is loaded."""
    gpu, rows = gpu_of(), []
    for name, size in sizes.items():
        least = [math.inf] * 2
        for k in range(RUNS + 1):
            for look in (False, True):
                begin = time.perf_counter()
                watcher = Exploration(gpu, SETS[0].sweep) if look else None
                executed(name, size, gpu, watcher)
                if watcher is not None:
                    watcher.table()  # when all is looked up
                taken = time.perf_counter() - begin
                least[look] = min(least[look], taken if k else math.inf)
        rows.append((name, *least, least[1] / least[0]))
        print(*rows[-1], file=sys.stderr, flush=True)
    table = pd.DataFrame(rows, columns=["program", "executed s", "swept s", "times"])
    mean = math.exp(table["times"].map(math.log).mean())
    run, seen = table["executed s"].sum(), table["swept s"].sum()
    table.loc[len(table)] = ["all", run, seen, seen / run]
    table.loc[len(table)] = ["geometric mean", math.nan, math.nan, mean]
    return table


def measure(
    name: str,
    size: int,
    gpu: GPU,
    of: Original,
    folder: Path,
    options: argparse.Namespace,
    method: str,
) -> Measured:
    """Profile a program, and look its proxy up in the same configurations."""
    profiler = ProxyProfiler(method)
    profiled = executed(name, size, gpu, profiler)
    proxy = profiler.proxy(name)
    file = folder / f"{name}.proxy"
    proxy.save(file)
    begin = time.process_time()
    seen = explorations(gpu)
    for each in seen.values():
        each.explore(proxy.workload(options.scale))
    made = time.process_time() - begin
    rows = compare(of.seen, seen).assign(kernel=name, method=method)
    facts = {
        "program": name,
        "method": method,
        "numbers": proxy.numbers,
        "KB": file.stat().st_size / 1000,
        "% of .lst": 100 * file.stat().st_size / of.trace_bytes,
        "executed s": of.seconds["executed"],
        "explored s": of.seconds["explored"],
        "profiled s": profiled,
        "proxy explored s": made,
    }
    errors = summarise(rows)
    for kind in ("l1", "l2"):
        mine = errors[errors["set"] == kind].iloc[0]
        facts |= {f"{kind} points": mine["mean"], f"{kind} r": mine["r"]}
    return Measured(rows, facts)


def markdown(table: pd.DataFrame, digits: int = 2) -> str:
    """A Markdown table, with so many digits behind the point."""
    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + " --- |" * len(table.columns)]
    for row in table.itertuples(index=False):
        cells = (f"{v:,.{digits}f}" if isinstance(v, float) else str(v) for v in row)
        lines.append("| " + " | ".join("" if cell == "nan" else cell for cell in cells) + " |")
    return "\n".join(lines)


def beside_published(errors: pd.DataFrame) -> pd.DataFrame:
    """The errors by set, with those of G-MAP's paper."""
    published = [PUBLISHED.get(name, (None, None)) for name in errors["set"]]
    return errors.assign(
        **{"G-MAP %": [p[0] or float("nan") for p in published]},
        **{"G-MAP r": [p[1] or float("nan") for p in published]},
    )


def main() -> None:
    """Measure, and print."""
    options = arguments()
    sizes = QUICK if options.quick else SIZES
    chosen = options.only.split(",") if options.only else list(sizes)
    if options.sweep:
        print(markdown(sweep({name: sizes[name] for name in chosen})))
        return
    gpu, found = gpu_of(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            of = original(name, sizes[name], gpu, Path(folder))
            for method in options.method.split(","):
                found.append(measure(name, sizes[name], gpu, of, Path(folder), options, method))
                print(f"{name}, {method}", file=sys.stderr, flush=True)
    rows = pd.concat([each.rows for each in found], ignore_index=True)
    if options.csv:
        rows.to_csv(options.csv, index=False)
    report(rows, pd.DataFrame([each.facts for each in found]), print)


def report(rows: pd.DataFrame, facts: pd.DataFrame, tell: Callable[[str], None]) -> None:
    """The tables."""
    tell(markdown(beside_published(summarise(rows, ("method", "set", "metric")))))
    tell("\n" + markdown(facts))
    seconds = facts.groupby("method")[
        ["executed s", "explored s", "profiled s", "proxy explored s"]
    ]
    tell("\n" + markdown(seconds.sum().reset_index()))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--method", default="affine", help="one or several, with commas")
    parser.add_argument("--scale", default="1", help="share of the accesses, such as 1/8")
    parser.add_argument("--only", help="these programs alone, with commas")
    parser.add_argument("--quick", action="store_true", help="two programs at small sizes")
    parser.add_argument("--sweep", action="store_true", help="what a sweep of 30 L1s takes, alone")
    parser.add_argument("--csv", type=Path, help="write all rows")
    return parser.parse_args()


if __name__ == "__main__":
    main()
