"""Launches: the rate at which CTAs and warps start."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.tuning.inference import Inference
from lockstep.tuning.measured import Absent, Measured

GRIDS = "launch.empty_grid"
SMALL, LARGE = 32, 1024  # threads of a block: of the first the grid's rate is seen, of the other
# the rate at which an SM starts warps
DIGITS = 2  # decimal places of a cycle that the events of a GPU can tell


def _interval(m: Measured, threads: int) -> float:
    """Cycles between the starts of two blocks: the two largest grids."""
    grids = m.series(GRIDS, "blocks", "cycles", threads=threads)[-2:]
    m.use(*grids)
    few, many = grids
    return m.difference(many.value, few.value) / (many.at - few.at)


def _ctas(m: Measured) -> float:
    return round(_interval(m, SMALL), DIGITS)


def _warps(m: Measured) -> float:
    """An SM starts the warps of its blocks one after another."""
    cta = _interval(m, LARGE)
    interval = cta * m["sm.count"] / (LARGE // WARP_SIZE)
    if interval <= m["launch.cta_interval"] * m["sm.count"] / (LARGE // WARP_SIZE) * 1.02:
        raise Absent("blocks of 1024 threads start as fast as those of 32")
    return round(interval, DIGITS)


INFERENCES = (
    Inference("launch.cta_interval", _ctas, "cycles for a block more"),
    Inference("launch.warp_interval", _warps, "cycles for a warp more on an SM"),
)
