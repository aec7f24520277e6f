"""Kernels that were measured on an H100 with grids of many sizes: an empty one, and FFMA chains.

The chains are those of the recorded program ``ffma-sm90-10``: 128 dependent FFMAs and the loop
around them a round, no access to memory. Its instructions are run by as many warps and as often
as a row says.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lockstep import api
from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import WARP_SIZE
from lockstep.workload import RUN, WARP, Cta, Workload

ALL = (1 << WARP_SIZE) - 1
START, ROUND = 4, 6  # instructions with which the first and every later round begin
FIRST, LATER = 134, 132  # how many they have; the last one has one less


def empty(blocks: int, threads: int) -> Workload:
    """What nvcc makes of a kernel without a statement, for compute capability 9.0."""
    k = KernelBuilder("empty", blocks, threads)
    k("LDC R1, c[0x0][0x28]")
    return k.workload()


def chains(trace: Path, blocks: int, threads: int, rounds: int) -> Workload:
    """The recorded kernel with another grid and another number of rounds."""
    kernel = api.load(trace).kernels[0]
    recorded = next(iter(kernel.ctas()))
    body = [(START, FIRST, ALL)] + (rounds - 1) * [(ROUND, LATER, ALL)]
    start, count, mask = body[-1]
    body[-1] = start, count - 1, mask
    runs = np.array([*recorded.runs[:2].tolist(), *body, *recorded.runs[-2:].tolist()], RUN)
    warps = np.zeros(threads // WARP_SIZE, WARP)
    warps["runs"] = len(runs)
    warps["warp_instructions"] = runs["count"].sum()
    warps["thread_instructions"] = sum(c * m.bit_count() for _, c, m in runs.tolist())

    def ctas():
        for block in range(blocks):
            yield Cta((block, 0, 0), warps, runs, recorded.addresses, recorded.pool)

    made = replace(kernel, grid=(blocks, 1, 1), block=(threads, 1, 1), ctas=ctas)
    return Workload("chains", [made])
