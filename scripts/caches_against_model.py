"""L1 read misses that `lockstep caches` finds, beside those of the model, on built-in programs.

    python scripts/caches_against_model.py [PROGRAM ...]

Both have the same L1 of its own, LRU, sectored. The model merges reads with misses in flight: such
*pending* sectors are hits without time, so they are told apart. What is left is the order in which
warps come, which depends on time, and that a line comes only later.
"""

import sys

from lockstep import api, kernels
from lockstep.caches import CachePoint, Exploration, Sweep
from lockstep.device import Device
from lockstep.gpus import library
from lockstep.metrics import facts
from lockstep.studies.cases import NEW

PROGRAMS = ("gemm_tiled", "spmv", "stencil2d", "bfs", "hotspot")
CACHES = ((8 << 10, 4), (16 << 10, 4), (32 << 10, 4), (32 << 10, 16))
HEAD = "| program | L1 | fast, % | model, misses, % | model, pending, % | difference, points |"


def compare(program: str, size: int, ways: int) -> str:
    """A row: read misses of all L1s."""
    sets = size // (ways * 128)
    changes = {
        "l1.carveouts": (), "l1.bytes": size, "l1.sets": sets, "l1.replacement": "lru",
        "l1.hash": "linear",
    }  # fmt: skip
    gpu = library.replace(api.gpu(NEW), **changes)
    exploration = Exploration(gpu, Sweep((CachePoint(size, ways, sectored=True),)))
    with Device(gpu, name=program) as device:
        device.watch(exploration)
        kernels.load(program).run(device, None, 0)
    with Device(gpu, name=program, timing=True) as device:
        kernels.load(program).run(device, None, 0)
        run = device.result.run.kernels
        counted = [facts.of_kernel(kernel, gpu).sm for kernel in run]
    reads, hits, pending = (
        sum(
            getattr(sm, f"l1_{space}_read_{what}")
            for sm in counted
            for space in ("global", "local")
        )
        for what in ("sectors", "hits", "pending")
    )
    fast = exploration.table().iloc[0]
    missed, merged = 100 * (reads - hits - pending) / reads, 100 * pending / reads
    mine = 100 * fast.l1_read_misses / fast.l1_reads
    told = f"{size >> 10} KB, {ways} ways"
    return (
        f"| {program} | {told} | {mine:.2f} | {missed:.2f} | {merged:.2f} | {mine - missed:+.2f} |"
    )


def main() -> None:
    """Print a table."""
    print(HEAD, "| --- | --- | --- | --- | --- | --- |", sep="\n")
    for program in sys.argv[1:] or PROGRAMS:
        for size, ways in CACHES:
            print(compare(program, size, ways), flush=True)


if __name__ == "__main__":
    main()
