"""CTAs that are executed at issue: their streams are rings that fill as the model goes on."""

from collections.abc import Iterator

import numpy as np

from lockstep.errors import EndOfKernel
from lockstep.gpus.spec import GPU
from lockstep.workload import ADDRESS, RUN, WARP, Cta, Kernel
from lockstep.workload.at_issue import STEP_RUNS, Source


def ring_length(gpu: GPU) -> int:
    """Address records of a warp: those that wait in its sub-core's queue, and the next."""
    return gpu.sm.memory.queue + 1


def rings(kernel: Kernel, source: Source, ring: int) -> Iterator[Cta]:
    """The CTAs of a grid with room for a block's runs and ``ring`` address records a warp.

    Raises :class:`EndOfKernel` when the source has failed.
    """
    n = kernel.warps
    warps = np.zeros(n, WARP)
    warps["first_run"] = np.arange(n) * STEP_RUNS
    warps["first_address"] = np.arange(n) * ring
    runs, addresses = np.zeros(n * STEP_RUNS, RUN), np.zeros(n * ring, ADDRESS)
    pool = np.zeros(n * ring * kernel.warp_size, np.int64)
    for z, y, x in np.ndindex(kernel.grid[::-1]):
        if source.failed():
            raise EndOfKernel
        yield Cta((x, y, z), warps, runs, addresses, pool)
