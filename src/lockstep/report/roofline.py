"""The instruction roofline: warp instructions a second over warp instructions a transaction.

The model is that of Ding and Williams, "An Instruction Roofline Model for GPUs" (PMBS 2019): the
counters know classes of instructions and not floating-point operations, so that nothing has to be
guessed here. A transaction is a sector. The ceilings are those of the modelled GPU.
"""

import math
from typing import NamedTuple

from lockstep.gpus.spec import GPU
from lockstep.metrics.facts import dram_peak
from lockstep.metrics.result import Result

LEVELS = ("L1", "L2", "DRAM")
_ISSUED = "sm__inst_executed.sum"
_SECTORS = {"L1": "sim__l1_sectors.sum", "L2": "lts__t_sectors_srcunit_tex.sum"}
_DRAM_BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")


class Ceiling(NamedTuple):
    """A limit of the GPU: instructions or sectors a second."""

    name: str
    rate: float


class RooflinePoint(NamedTuple):
    """One kernel; ``intensity`` has a level's warp instructions a sector, NaN without sectors."""

    kernel: int  # its place in ``Result.kernels``
    rate: float  # warp instructions a second while CTAs ran
    intensity: dict[str, float]


class Roofline(NamedTuple):
    """Ceilings of issue (warp instructions/s) and of each level's sectors/s, and the kernels."""

    issue: Ceiling
    levels: dict[str, Ceiling]
    points: list[RooflinePoint]


def needed() -> tuple[str, ...]:
    """The metrics by which intensities are told."""
    return (_ISSUED, *_SECTORS.values(), *_DRAM_BYTES)


def roofline(result: Result) -> Roofline:
    """The roofline of a result: a point a kernel that issued anything."""
    points = []
    for number, metrics in enumerate(result.metrics):
        rate = metrics["sim__ipc"] * result.gpu.clock_mhz * 1e6
        if rate > 0:
            points.append(RooflinePoint(number, rate, intensities(metrics, result.gpu)))
    return Roofline(issue_ceiling(result.gpu), level_ceilings(result.gpu), points)


def intensities(metrics: dict[str, float], gpu: GPU) -> dict[str, float]:
    """Warp instructions a sector, by level."""
    instructions = metrics[_ISSUED]
    sectors = {level: metrics[name] for level, name in _SECTORS.items()}
    sectors["DRAM"] = sum(metrics[name] for name in _DRAM_BYTES) / gpu.l2.sector_bytes
    return {level: instructions / n if n else math.nan for level, n in sectors.items()}


def issue_ceiling(gpu: GPU) -> Ceiling:
    """All schedulers issue in every cycle."""
    a_cycle = gpu.sm.count * gpu.sm.subcores * gpu.sm.scheduler.issue_width
    return Ceiling("issue", a_cycle * gpu.clock_mhz * 1e6)


def level_ceilings(gpu: GPU) -> dict[str, Ceiling]:
    """All data ports of a level move sectors in every cycle."""
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    sectors = gpu.l2.bytes_per_cycle / gpu.l2.sector_bytes
    rates = {
        "L1": gpu.sm.count * gpu.l1.cycle_sectors * gpu.clock_mhz * 1e6,
        "L2": slices * sectors * gpu.l2.clock_mhz * 1e6,
        "DRAM": dram_peak(gpu) / gpu.l2.sector_bytes,
    }
    return {level: Ceiling(level, rates[level]) for level in LEVELS}
