"""L1 read misses that `lockstep caches` finds, beside those of the model, on built-in programs.

    python scripts/caches_against_model.py [PROGRAM ...]
    python scripts/caches_against_model.py --proxies [PROGRAM ...]

Both have the same L1 of its own, LRU, sectored. The model merges reads with misses in flight: such
*pending* sectors are hits without time, so they are told apart. What is left is the order in which
warps come, which depends on time, and that a line comes only later.

``--proxies``: programs in the model beside their proxies there, with three L1s each out of the
fifteen of 8 to 128 KB with lines of 128 bytes, another three for each program; and their cycles.
"""

import sys
from collections.abc import Sequence

import numpy as np

from lockstep import api, kernels
from lockstep.caches import CachePoint, Exploration, Sweep
from lockstep.device import Device
from lockstep.engine.record import Run
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.metrics import facts
from lockstep.proxies import ProxyProfiler
from lockstep.studies.cases import NEW

PROGRAMS = ("gemm_tiled", "spmv", "stencil2d", "bfs", "hotspot")
CACHES = ((8 << 10, 4), (16 << 10, 4), (32 << 10, 4), (32 << 10, 16))
SIZES = {
    "atax": 96, "bfs": 1500, "blackscholes": 8000, "conv2d": 100, "conv3d": 19, "fft": 1000,
    "gemm_tiled": 64, "hotspot": 57, "kmeans": 3000, "mm2": 60, "mvt": 96, "nbody": 130,
    "needle": 120, "saxpy": 20_000, "spmv": 700, "stencil2d": 120, "syrk": 24,
    "transpose_naive": 64,
}  # fmt: skip
POINTS = tuple((size << 10, ways) for size in (8, 16, 32, 64, 128) for ways in (1, 4, 16))
EACH = 3  # points of a program
HEAD = "| program | L1 | fast, % | model, misses, % | model, pending, % | difference, points |"


def with_l1(size: int, ways: int) -> GPU:
    """The model's GPU with such an L1."""
    changes = {
        "l1.carveouts": (), "l1.bytes": size, "l1.sets": size // (ways * 128),
        "l1.replacement": "lru", "l1.hash": "linear",
    }  # fmt: skip
    return library.replace(api.gpu(NEW), **changes)


def counted(run: Run, gpu: GPU) -> tuple[float, float]:
    """Of the sectors that loads read, so many missed, and met a miss that was pending: per cent."""
    sms = [facts.of_kernel(kernel, gpu).sm for kernel in run.kernels]
    reads, hits, pending = (
        sum(getattr(sm, f"l1_{space}_read_{what}") for sm in sms for space in ("global", "local"))
        for what in ("sectors", "hits", "pending")
    )
    return 100 * (reads - hits - pending) / reads, 100 * pending / reads


def simulated(program: str, size: int | None, gpu: GPU) -> Run:
    """A program in the model."""
    with Device(gpu, name=program, timing=True) as device:
        kernels.load(program).run(device, size, 0)
        return device.result.run


def compare(program: str, size: int, ways: int) -> str:
    """A row: read misses of all L1s."""
    gpu = with_l1(size, ways)
    exploration = Exploration(gpu, Sweep((CachePoint(size, ways, sectored=True),)))
    with Device(gpu, name=program) as device:
        device.watch(exploration)
        kernels.load(program).run(device, None, 0)
    missed, merged = counted(simulated(program, None, gpu), gpu)
    fast = exploration.table().iloc[0]
    mine = 100 * fast.l1_read_misses / fast.l1_reads
    told = f"{size >> 10} KB, {ways} ways"
    return (
        f"| {program} | {told} | {mine:.2f} | {missed:.2f} | {merged:.2f} | {mine - missed:+.2f} |"
    )


def compare_proxy(number: int, program: str, size: int) -> np.ndarray:
    """Errors of a proxy in the model, over some L1s: of read misses, in points, and of cycles."""
    profiler = ProxyProfiler("affine")
    with Device(api.gpu(NEW), name=program) as device:
        device.watch(profiler)
        kernels.load(program).run(device, size, 0)
    workload = profiler.proxy(program).workload()
    errors = []
    for k in range(EACH):
        gpu = with_l1(*POINTS[(number + 5 * k) % len(POINTS)])
        original, proxy = simulated(program, size, gpu), api.simulate(workload, gpu).run
        rates = [sum(counted(run, gpu)) for run in (original, proxy)]
        cycles = [run.cycles for run in (original, proxy)]
        errors.append((abs(rates[1] - rates[0]), 100 * (cycles[1] / cycles[0] - 1)))
    return np.array(errors)


def compare_proxies(programs: Sequence[str]) -> None:
    """Print a table of programs and their proxies."""
    print(
        "| program | read misses, points: mean, worst | cycles |", "| --- | --- | --- |", sep="\n"
    )
    every = []
    for number, program in enumerate(programs or SIZES):
        errors = compare_proxy(number, program, SIZES[program])
        points, cycles = errors[:, 0], errors[:, 1]
        every.append(errors)
        told = f"{points.mean():.2f}, {points.max():.2f} | {cycles.mean():+.1f} %"
        print(f"| {program} | {told} |", flush=True)
    points, cycles = np.concatenate(every).T
    print(f"| mean | {points.mean():.2f}, {points.max():.2f} | {abs(cycles).mean():.1f} % |")


def main() -> None:
    """Print a table."""
    if sys.argv[1:2] == ["--proxies"]:
        compare_proxies(sys.argv[2:])
        return
    print(HEAD, "| --- | --- | --- | --- | --- | --- |", sep="\n")
    for program in sys.argv[1:] or PROGRAMS:
        for size, ways in CACHES:
            print(compare(program, size, ways), flush=True)


if __name__ == "__main__":
    main()
