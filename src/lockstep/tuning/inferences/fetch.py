"""Instruction caches: where loops of straight-line code become slower."""

from itertools import pairwise
from statistics import median

from lockstep.tuning.inference import Inference
from lockstep.tuning.measured import Absent, Measured, Point

LOOPS = "icache.loop"
INSTRUCTION_BYTES = 16
KIB = 1024
STEP = 1.6  # times what the level above takes, where a level is left
LEVELS = 2  # below the first: a sub-core's cache is left, then the SM's


def _steps(m: Measured) -> list[tuple[Point, Point]]:
    """The largest loop in each level that is left, nearest first, and the loop that leaves it."""
    level: list[float] = []
    found = []
    points = m.series(LOOPS, "kb", warps=1)
    for point, following in pairwise(points):
        level.append(point.value)
        if following.value > STEP * min(level):
            found.append((point, following))
            level = []
    return found


def _l0(m: Measured) -> int:
    """A step that the L1 explains as well is not the L0's: what it lacks may come in time."""
    steps = _steps(m)
    if len(steps) < LEVELS:
        raise Absent(f"{len(steps)} steps of {LOOPS}: the L0 is not told from the L1")
    m.use(*steps[0])
    return steps[0][0].at * KIB


def _l1(m: Measured) -> int:
    steps = _steps(m)
    if not steps:
        raise Absent(f"no loop of {LOOPS} leaves a cache")
    m.use(*steps[-1])
    return steps[-1][0].at * KIB


def _fill(m: Measured) -> int:
    """Cycles for a line where all of the code is in the L1 and none in the L0."""
    steps = _steps(m)
    if len(steps) < LEVELS:
        raise Absent(f"{len(steps)} steps of {LOOPS}: the L0 is not told from the L1")
    largest = steps[-1][0]
    between = [p for p in m.series(LOOPS, "kb", warps=1) if steps[0][0].at < p.at < largest.at]
    if not between:
        raise Absent(f"no loop of {LOOPS} between the sizes of L0 and L1")
    m.use(*between)
    of_line = m["sm.front_end.line_bytes"] // INSTRUCTION_BYTES
    return round(median(p.value for p in between) * of_line)


INFERENCES = (
    Inference("sm.front_end.l0_bytes", _l0, "the last loop before the first step"),
    Inference("sm.front_end.fill_interval", _fill, "for a line of instructions, between the steps"),
    Inference("sm.front_end.l1_bytes", _l1, "the last loop before the last step"),
)
