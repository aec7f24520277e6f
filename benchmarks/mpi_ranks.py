"""Ranks over MPI: that they change nothing, and what they cost and gain.

    python benchmarks/mpi_ranks.py identity [--ranks 1,2,3,4,7] [--threads 1,2] [program ...]
    python benchmarks/mpi_ranks.py speed [--ranks 1,2,4,8,16] [trace or program ...]

``identity`` runs each built-in program (in its small size) on a GPU of eight SMs, with every number
of ranks and threads, and compares the digests of all cycles and counters; exit code 1 if one
differs. What is executed at issue is refused by ranks, and left out.

``speed`` simulates with every number of ranks and prints a Markdown table. CPU times of each rank
between two exchanges are measured, and how long these take who comes last. Where a host has fewer
cores than ranks, the time of a run there is *modelled*: what is done outside of windows by each,
and in each window the CPU time of the rank that took longest, and an exchange. With enough idle
cores ``--wall`` shows measured times.
Ranks are started by the ``mpiexec`` beside this Python, or that of the path.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import lockstep
from lockstep import api, kernels
from lockstep.device import Device
from lockstep.engine.mpi import OverMpi, world
from lockstep.engine.record import RankWork
from lockstep.errors import WorkloadError
from lockstep.metrics.manifest import peak_rss_mb

SMALL = ["sm.count=8", "dram.channels=8"]
SPEED = ("examples/gather.lst", "gemm_tiled", "bfs")
MOST_EXCHANGES = 1 << 17  # that are noted
HEADINGS = (
    "workload", "ranks", "CPU s of a rank", "of it in windows, mean", "slowest of each window",
    "exchanges", "bytes to each", "an exchange, µs", "modelled s", "modelled speed", "efficiency",
    "peak MiB", "own MiB",
)  # fmt: skip
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MORE_THAN_CORES = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def digest(name: str, ranks: Any, threads: int) -> str:
    """Of all that a program gave on a small GPU."""
    program = kernels.load(name)
    gpu = api.gpu("A100" if program.arch == "sm_80" else "QV100", SMALL)
    if program.arch == "sm_90":
        gpu = api.gpu("H100_SXM", ["sm.count=8"])
    try:
        with Device(gpu, timing=True, ranks=ranks, threads=threads) as device:
            program.run(device, program.small)
            return device.result.hash
    except WorkloadError as error:
        return f"refused: {error}"


def identity_of_this(names: list[str], threads: list[int]) -> dict[str, str]:
    """Digests of programs on the ranks that this process is one of."""
    comm = world()
    ranks = comm if comm.size > 1 else 1
    return {f"{n}, threads={t}": digest(n, ranks, t) for n in names for t in threads}


def speed_of_this(names: list[str]) -> dict[str, dict]:
    """What each run took on the ranks that this process is one of."""
    found = {}
    for name in names:
        transport = OverMpi(world())
        noted = transport.noted = np.zeros((MOST_EXCHANGES, 2), np.int64)
        simulate(name, transport)  # machine code, pages and caches are warm
        noted[:] = 0
        begin, busy = perf_counter(), process_time()
        cycles, work = simulate(name, transport)
        wall, busy = perf_counter() - begin, process_time() - busy
        windows = int(np.count_nonzero(noted[:, 1]))
        mine = {"noted": noted[:windows] / 1e9, "cpu": busy, "wall": wall, "rss": peak_rss_mb()}
        every = transport.share(mine | {"private": private_mb()})
        # Who comes last to an exchange waits for nobody: that is what it costs.
        costs = np.array([one["noted"][:, 1] for one in every]).min(axis=0)
        sent = sum(rank.words for rank in work) / max(1, len(work) * (transport.size - 1))
        found[name] = {
            "cycles": cycles,
            "cpu": max(one["cpu"] for one in every),
            "wall": max(one["wall"] for one in every),
            "rss": max(one["rss"] for one in every),
            "private": max(one["private"] for one in every),
            "busy": [float(one["noted"][:, 0].sum()) for one in every],
            "slowest": float(np.array([one["noted"][:, 0] for one in every]).max(axis=0).sum()),
            "exchanges": windows,
            "bytes": round(8 * sent / max(1, windows)),
            "exchange": float(np.median(costs)) if windows else 0.0,
        }
    return found


def private_mb() -> float:
    """MiB that this process shares with no other one, where Linux says so."""
    rollup = Path("/proc/self/smaps_rollup")
    rows = rollup.read_text().splitlines() if rollup.exists() else []
    return sum(int(r.split()[1]) for r in rows if r.startswith("Private_")) / 1024


def simulate(name: str, transport: OverMpi) -> tuple[int, list[RankWork]]:
    """A trace or a built-in program on QV100: its cycles, and what each of several ranks did."""
    ranks: Any = transport if transport.size > 1 else 1
    if Path(name).exists():
        result = lockstep.simulate(name, "QV100", ranks=ranks)
        return result.cycles, result.run.ranks
    with Device("QV100", timing=True, ranks=ranks) as device:
        kernels.load(name).run(device)
        return device.result.cycles, device.result.run.ranks


def on(ranks: int, *arguments: str) -> dict:
    """Let so many processes do a part of this script; what process 0 found."""
    mpiexec = Path(sys.executable).with_name("mpiexec")
    command = [str(mpiexec) if mpiexec.exists() else "mpiexec", "-n", str(ranks)]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        command += [sys.executable, __file__, "--part", str(found), *arguments]
        subprocess.run(command, env=os.environ | AS_ROOT | MORE_THAN_CORES, check=True)
        return json.loads(found.read_text())


def compare(names: list[str], ranks: list[int], threads: list[int]) -> int:
    """Print what differs; how many digests did."""
    arguments = ["identity", "--threads", ",".join(map(str, threads)), *names]
    alone = on(1, *arguments)
    wrong, refused = 0, {key for key, value in alone.items() if value.startswith("refused")}
    for n in ranks:
        found = on(n, *arguments) if n > 1 else alone
        for key, value in found.items():
            if value.startswith("refused") and n > 1:
                refused.add(key)
            elif value != alone[key]:
                wrong += 1
                print(f"{key}, ranks={n}: another result")
        print(f"{n} ranks: {len(found)} runs, {wrong} wrong so far", flush=True)
    print(f"refused on several ranks: {', '.join(sorted({k.split(',')[0] for k in refused}))}")
    return wrong


def table(names: list[str], ranks: list[int], wall: bool) -> None:
    """Print times as Markdown."""
    base = on(1, "speed", *names)
    print(f"| {' | '.join([*HEADINGS, *['wall s'] * wall])} |")
    print("|---" * (len(HEADINGS) + wall) + "|")
    for name in names:
        alone = base[name]["cpu"]
        base[name] |= {"busy": [alone], "slowest": alone, "exchanges": 0, "exchange": 0.0}
        for n in ranks:
            row = base[name] if n == 1 else on(n, "speed", name)[name]
            model = alone if n == 1 else row["slowest"] + row["exchanges"] * row["exchange"]
            cells = [
                Path(name).stem, str(n), f"{row['cpu']:.2f}",
                f"{statistics.mean(row['busy']):.2f}", f"{row['slowest']:.2f}",
                str(row["exchanges"]), f"{row['bytes']:,}", f"{1e6 * row['exchange']:.0f}",
                f"{model:.2f}", f"{alone / model:.2f}", f"{alone / model / n:.2f}",
                f"{row['rss']:.0f}", f"{row['private']:.0f}",
            ]  # fmt: skip
            print("| " + " | ".join(cells + [f"{row['wall']:.2f}"] * wall) + " |", flush=True)


def numbers(text: str) -> list[int]:
    """Numbers with commas."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["identity", "speed"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--ranks", type=numbers)
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--part", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    identity = given.what == "identity"
    names = given.names or list(kernels.names() if identity else SPEED)
    if given.part:
        work: Callable[[], dict] = (
            (lambda: identity_of_this(names, given.threads))
            if identity
            else (lambda: speed_of_this(names))
        )
        found = work()
        if world().rank == 0:
            given.part.write_text(json.dumps(found))
    elif identity:
        raise SystemExit(compare(names, given.ranks or [1, 2, 3, 4, 7], given.threads) > 0)
    else:
        table(names, given.ranks or [1, 2, 4, 8, 16], given.wall)


if __name__ == "__main__":
    main()
