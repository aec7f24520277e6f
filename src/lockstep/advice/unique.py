"""How many different sectors there can be, at most: who reads more of them reads some again."""

from typing import TYPE_CHECKING

import numpy as np

from lockstep.advice.observation import Observation
from lockstep.gpus import library
from lockstep.metrics.result import Result

if TYPE_CHECKING:  # importing the engine imports the compiler: advice needs no model
    from lockstep.engine.record import KernelRun


def known_sectors(result: Result) -> int:
    """Different sectors of the program: those that the host copied, and that kernels wrote."""
    copied = sum(size for _, size in result.run.copies) // result.gpu.l2.sector_bytes
    return copied + int(result.run.partition["l2_write_sectors"].sum())


def resident_sectors(o: Observation, run: "KernelRun") -> int:
    """Different sectors that a launch can have read: from DRAM, or there in the L2 before it."""
    there = library.totals(o.gpu).l2_bytes // o.gpu.l2.sector_bytes
    if o.result.run.copies:
        there = min(there, known_sectors(o.result))
    return int(run.partition["l2_fills"].sum()) + there


def l1_misses(run: "KernelRun") -> np.ndarray:
    """Sectors that each SM read from the L2 because its L1 had not got them."""
    sm = run.sm
    reads = sm["l1_global_read_sectors"] - sm["l1_global_read_hits"] - sm["l1_global_read_pending"]
    return reads - sm["l1_bypass_sectors"]
