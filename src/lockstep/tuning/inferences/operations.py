"""Execution units: latency and interval of operation classes.

``lat.*`` is a chain of the instruction alone, ``thr.*`` what all warps of an SM can start. Where
the compiler waits a fixed number of cycles after an instruction, the latency is the compiler's.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lockstep.gpus.units import WARP
from lockstep.tuning.inference import Inference, whole
from lockstep.tuning.measured import Absent, Measured

LANES, MAC = "lanes/clk/SM", "MAC/clk/SM"
SHORT_LOOP = 13 / 16  # cycles: the loop's end, in each of 16 steps
GMMA_LOOP = 9  # cycles of ARRIVE and DEPBAR around a product of a warpgroup
GMMA_MACS = 64 * 64 * 16  # multiply-adds of a product of 64 columns
GMMA_ROW = "m64n64k16 A in shared memory"
LONG = 50  # cycles, of which a loop adds less than a half, and ends of it may take as much
MANY_WARPS = 8  # two for each of four sub-cores
BY_LANES = ("FP32", "INT32", "FP64", "SFU", "SHUFFLE", "SPECIAL_MOVE", "REDUX")
# the class that a unit's lanes are of; other classes of it have intervals of their own


class Class(NamedTuple):
    """An operation class, the rows that show it, and what else is in a step of them.

    ``with_it``: cycles of a step that are not the instruction's; ``macs``: multiply-adds of a
    warp instruction, 0 where a rate counts lanes.
    """

    unit: str
    name: str
    latency: str = ""
    with_it: float = 0.0
    rate: str = ""
    macs: int = 0


MMA = "mma_m16n8k16_f16_f32"
CLASSES = (
    Class("fp32", "FP32", "lat.ffma", 0, "thr.ffma"),
    Class("fp32", "IMAD", "lat.imad", 0, "thr.imad"),
    Class("fp32", "IMAD_WIDE", "", 0, "thr.imad_hi"),
    Class("int", "INT32", "lat.iadd3", 0, "thr.iadd3"),
    Class("fp64", "FP64", "lat.dfma", 0, "thr.dfma"),
    Class("sfu", "SFU", "lat.mufu_ex2", 0, "thr.mufu_ex2"),
    Class("sfu", "CONVERT", "lat.frnd", 0, "thr.frnd"),
    Class("shuffle", "SHUFFLE", "lat.shfl_bfly", 0, "thr.shfl_bfly"),
    Class("special_move", "SPECIAL_MOVE", "lat.cs2r_clock64", 0, "thr.cs2r_clock64"),
    Class("reduction", "REDUX", "lat.redux_add", 6, "thr.redux_add"),
    Class("reduction", "MATCH", "lat.match_any", 0, "thr.match_any"),
    Class("tensor", "HMMA", f"lat.{MMA}", SHORT_LOOP, f"thr.{MMA}", 2048),
    Class("tensor", "IMMA", "lat.mma_m16n8k32_s8", SHORT_LOOP, "thr.mma_m16n8k32_s8", 4096),
    Class("tensor", "DMMA", "lat.mma_m8n8k4_f64", SHORT_LOOP, "thr.mma_m8n8k4_f64", 256),
)


def _owners(m: Measured, unit: str) -> int:
    """Units of this kind in an SM."""
    each = m["sm.subcores"] if m[f"sm.units.{unit}.scope"] == "subcore" else 1
    return each * m[f"sm.units.{unit}.count"]


def _latency(kind: Class) -> Callable[[Measured], int]:
    return lambda m: whole(m.get(kind.latency, ilp=1), kind.with_it)


def _interval(kind: Class) -> Callable[[Measured], int]:
    """Cycles between two starts on a unit, where all sub-cores have warps enough."""
    unit, work = (MAC, kind.macs) if kind.macs else (LANES, WARP)

    def read(m: Measured) -> int:
        rate = m.highest(kind.rate, unit, lambda row: row.keys.get("warps", 0) >= MANY_WARPS)
        cycles = work * _owners(m, kind.unit) / rate
        return round(cycles) if cycles > LONG else max(whole(cycles), 1)

    return read


def _lanes(kind: Class) -> Callable[[Measured], int]:
    def read(m: Measured) -> int:
        interval = _interval(kind)(m)
        if WARP % interval:
            raise Absent(f"{interval} cycles for a warp are no whole number of lanes")
        return WARP // interval

    return read


def _gmma_interval(m: Measured) -> int:
    rate = m.highest("thr.wgmma_f16", MAC, lambda row: row.words == GMMA_ROW)
    return whole(GMMA_MACS / rate)


def _gmma(m: Measured) -> int:
    chain = m.get("lat.wgmma_f16", words=GMMA_ROW)
    return whole(m.difference(chain, m["sm.units.tensor.intervals.GMMA"] + GMMA_LOOP))


def _inferences() -> Iterator[Inference]:
    for kind in CLASSES:
        unit = f"sm.units.{kind.unit}"
        if kind.rate and kind.name in BY_LANES:
            yield Inference(f"{unit}.lanes", _lanes(kind), "lanes of a unit")
        elif kind.rate:
            how = "cycles between two starts on a unit"
            yield Inference(f"{unit}.intervals.{kind.name}", _interval(kind), how)
        if kind.latency:
            how = f"less {kind.with_it:g} of a step" if kind.with_it else ""
            yield Inference(f"{unit}.operations.{kind.name}", _latency(kind), how)


INFERENCES = (
    *_inferences(),
    Inference("sm.units.tensor.intervals.GMMA", _gmma_interval, "cycles for 64 columns"),
    Inference("sm.units.tensor.operations.GMMA", _gmma, "less the interval, and 9 of the loop"),
)
