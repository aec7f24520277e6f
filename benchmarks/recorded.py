"""Programs executed from machine code, beside the traces that a real GPU's tracer recorded of them.

    python benchmarks/recorded.py [--data ../shared/data]

Prints one Markdown table a program: what each launch executed here and there, and which share of
the memory accesses is the same, lane by lane. Addresses count from the first one of the program.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import lockstep
from lockstep.device import Device
from lockstep.workload import Kernel, Workload

CUBIN = Path(__file__).parents[1] / "tests/device/cubins/recorded.sm_80.cubin"
LANES, THREADS = 32, 512


class Access(NamedTuple):
    """One memory instruction of a warp; ``addresses`` are those of its active lanes."""

    opcode: str
    mask: int
    addresses: tuple[int, ...]


class Row(NamedTuple):
    """One launch, here and as recorded."""

    kernel: str
    warp_instructions: tuple[int, int]
    thread_instructions: tuple[int, int]
    accesses: tuple[int, int]  # memory instructions of warps
    same: int  # of the accesses, those that both have
    mix: dict[str, tuple[int, int]]  # warp instructions by opcode, where they differ


# The programs


def vector_addition(device: Device, data: Path) -> None:
    """50,000 elements in CTAs of 256 threads."""
    n = 50_000
    a, b, c = (device.array(np.arange(n, dtype=np.float32)) for _ in range(3))
    device.load_cubin(CUBIN)["add"][-(-n // 256), 256](a, b, c, n)


def breadth_first_search(device: Device, data: Path) -> None:
    """From the node that the graph's file names, level by level."""
    numbers = np.array((data / "inputs/graph4096.txt").read_text().split(), np.int64)
    n = int(numbers[0])
    nodes, root = numbers[1 : 1 + 2 * n].astype("i4"), int(numbers[1 + 2 * n])
    targets = numbers[3 + 2 * n :: 2].astype("i4")
    flags = np.zeros(n, np.uint8)
    flags[root] = 1
    distance = np.full(n, -1, "i4")
    distance[root] = 0
    arrays = [nodes, targets, flags, np.zeros(n, np.uint8), flags, distance]
    at = [device.array(values) for values in arrays]
    again = device.zeros(1, "u1")
    module, grid = device.load_cubin(CUBIN), -(-n // THREADS)
    more = True
    while more:
        again.fill(np.zeros(1, np.uint8))
        module["expand"][grid, THREADS](*at, n)
        module["advance"][grid, THREADS](at[2], at[3], at[4], again, n)
        more = bool(again.numpy()[0])


PROGRAMS = {"vectoradd-sm80": vector_addition, "bfs-sm80": breadth_first_search}


# What they executed


def recorded(name: str, data: Path) -> Workload:
    """A program's real trace."""
    return lockstep.load(data / "traces" / name)


def executed(name: str, data: Path, path: Path) -> Workload:
    """The same program as executed here, recorded to a file."""
    with lockstep.Device("A100") as device, device.record(path):
        PROGRAMS[name](device, data)
    return lockstep.load(path)


def first_address(workload: Workload) -> int:
    """The lowest address that the program accesses."""
    return min(min(a.addresses) for k in workload.kernels for a in accesses(k, 0))


def accesses(kernel: Kernel, start: int) -> Iterator[Access]:
    """The memory accesses of a launch, with addresses from ``start`` on."""
    code = kernel.code
    for cta in kernel.ctas():
        for warp in cta.warps:
            listed = iter(cta.addresses[int(warp["first_address"]) :])
            first = int(warp["first_run"])
            for run in cta.runs[first : first + int(warp["runs"])]:
                mask = int(run["mask"])
                for k in range(int(run["static"]), int(run["static"] + run["count"])):
                    record = code.instructions[k]
                    if record["width"] and mask:
                        where = _lanes(next(listed), mask.bit_count(), cta.pool, start)
                        yield Access(code.texts[record["text"]], mask, where)


def _lanes(record: np.void, count: int, pool: np.ndarray, start: int) -> tuple[int, ...]:
    first, place = int(record["first"]), int(record["pool"])
    if place >= 0:
        return tuple(int(a) - start for a in pool[place : place + count])
    return tuple(first - start + k * int(record["stride"]) for k in range(count))


def opcodes(kernel: Kernel) -> Counter:
    """Warp instructions by opcode without modifiers."""
    executed = np.zeros(len(kernel.code), np.int64)
    for cta in kernel.ctas():
        for run in cta.runs:
            executed[run["static"] : run["static"] + run["count"]] += 1
    found: Counter = Counter()
    for record, times in zip(kernel.code.instructions, executed.tolist(), strict=True):
        found[kernel.code.texts[record["text"]].partition(".")[0]] += times
    return found


def compare(name: str, ours: Workload, theirs: Workload) -> list[Row]:
    """One row a launch; both have the same launches."""
    starts = first_address(ours), first_address(theirs)
    return [_row(pair, starts) for pair in zip(ours.kernels, theirs.kernels, strict=True)]


def _row(pair: tuple[Kernel, Kernel], starts: tuple[int, int]) -> Row:
    totals = [
        [sum(int(cta.warps[kind].sum()) for cta in kernel.ctas()) for kernel in pair]
        for kind in ("warp_instructions", "thread_instructions")
    ]
    here, there = (Counter(accesses(k, start)) for k, start in zip(pair, starts, strict=True))
    mine, real = (opcodes(kernel) for kernel in pair)
    mix = {o: (mine[o], real[o]) for o in sorted({*mine, *real}) if mine[o] != real[o]}
    counts = here.total(), there.total()
    return Row(pair[0].name, *map(tuple, totals), counts, (here & there).total(), mix)


def markdown(name: str, rows: list[Row]) -> Iterator[str]:
    """The table of one program."""
    yield f"\n{name}, here / recorded:\n"
    yield "| launch | warp instructions | thread instructions | accesses | the same | differs |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for number, row in enumerate(rows, 1):
        pairs = (row.warp_instructions, row.thread_instructions, row.accesses)
        cells = [f"{a:,} / {b:,}" for a, b in pairs]
        mix = ", ".join(f"{o} {a - b:+,}" for o, (a, b) in row.mix.items())
        share = 100 * row.same / max(row.accesses)
        yield f"| {number} {row.kernel} | {' | '.join(cells)} | {share:.1f} % | {mix or '-'} |"


def main() -> None:
    """Compare all programs."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            ours = executed(name, data, Path(folder) / f"{name}.lst")
            print("\n".join(markdown(name, compare(name, ours, recorded(name, data)))))


if __name__ == "__main__":
    main()
