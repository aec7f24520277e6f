"""Caches and device memory."""

import math
from collections.abc import Callable

from lockstep.tuning.inference import Fit, Inference, whole
from lockstep.tuning.measured import Absent, Measured, Point

CHASE = "lat.chase_ca"
LINE = 128  # bytes between two nodes of the chases that are read here
LEVEL = 3  # times the latency of a hit in the L1, where the L2 answers
DISTANCES = 0.15  # cycles by which slices at other distances move a mean
STEP = 1.5  # times the latency of the level above, where a level is left
ATOMICS = "thr.atom_global"
CONSTANT_LOOP = 7  # cycles from a constant to the address of the next: a shift, and the way there
CONSTANT_HOW = "less 7 from a value to the next address"
ONE_SM = "bw.l2_sms"
SMALLEST_FLIT = 8
MOST_THREADS = 1024  # of a block: few would wait for the first and the last more than for others
MHZ_OF_GOPS = 1000
DIGITS = 2  # decimal places that a rate can tell


def _chase(m: Measured) -> list[Point]:
    return m.series(CHASE, "footprint", words="sequential", stride=LINE)


def _l1(m: Measured) -> int:
    first = _chase(m)[0]
    m.use(first)
    return whole(first.warm)


def _l2(m: Measured) -> int:
    """The lowest latency of footprints that leave the L1 and fit in half of the L2."""
    points = _chase(m)
    half = m["l2.sets"] * m["l2.ways"] * m["l2.line_bytes"] // 2
    half *= m["dram.channels"] * m["l2.slices_per_channel"]
    beyond = [p for p in points if p.value > LEVEL * points[0].value and p.at > m["l1.bytes"]]
    inside = [p for p in beyond if p.at <= half]
    if not inside:
        raise Absent(f"no row {CHASE} of a footprint between L1 and L2")
    lowest = min(inside, key=lambda p: p.warm)
    m.use(lowest)
    return whole(lowest.warm, -DISTANCES)


def _constants(m: Measured) -> list[Point]:
    return m.series("lat.constant_chase", "footprint", stride=m["constant.line_bytes"])


def _constant_bytes(m: Measured) -> int:
    points = _constants(m)
    inside = [p for p in points if p.value < STEP * points[0].value]
    if len(inside) == len(points):
        raise Absent("no chase of constants leaves their cache")
    m.use(inside[-1], points[len(inside)])
    return inside[-1].at


def _constant(m: Measured) -> float:
    first = _constants(m)[0]
    m.use(first)
    return first.value


def _constant_miss(m: Measured) -> float:
    first, *_, last = _constants(m)
    if last.value < STEP * first.value:
        raise Absent("no chase of constants leaves their cache")
    m.use(last)
    return last.value


def _less_loop(read: Callable[[Measured], float]) -> Fit:
    return Fit(estimate=lambda m: whole(read(m), CONSTANT_LOOP))


def _dram(m: Measured) -> float:
    return m.get("mlp.dram", loads=1, warps=1, lane_stride=4)


def _atomics(m: Measured) -> float:
    blocks = m["sm.count"]
    rate = m.get(ATOMICS, "Gop/s", "one word", blocks=blocks, threads=MOST_THREADS)
    return round(m["l2.clock_mhz"] / (rate * MHZ_OF_GOPS), DIGITS)


def _flit(m: Measured) -> int:
    """The next power of two: a header goes with the data of a reply."""
    reads = [r for r in m.rows.select(ONE_SM, bits=128, blocks=1) if r.words == "read"]
    rate = m.highest(ONE_SM, "GB/s", reads.__contains__)
    size = SMALLEST_FLIT
    while size < rate * MHZ_OF_GOPS / m["interconnect.clock_mhz"]:
        size *= 2
    return size


def _l1_width(m: Measured) -> int:
    """The nearest power of two: loops and conflicts keep the rate a little lower."""
    coalesced = m.rows.select("bw.l1_load", bits=128, stride=16, misalign=0)
    rate = m.highest("bw.l1_load", "bytes/clk/SM", coalesced.__contains__)
    return 1 << max(round(math.log2(rate)), 0)


INFERENCES = (
    Inference("l1.latency", _l1),
    Inference("l1.bytes_per_cycle", _l1_width, "the nearest power of two"),
    Inference("l2.latency", _l2, "lowest of the footprints between L1 and half of the L2"),
    Inference("constant.bytes", _constant_bytes, "the last footprint without misses"),
    Inference("constant.latency", _constant, CONSTANT_HOW, _less_loop(_constant)),
    Inference("constant.miss_latency", _constant_miss, CONSTANT_HOW, _less_loop(_constant_miss)),
    Inference("dram.latency", _dram, "one load, in simulation too", Fit()),
    Inference("l2.atomic_interval", _atomics, "L2 cycles for an operation on one word"),
    Inference("interconnect.flit_bytes", _flit, "the next power of two, with the header"),
)
