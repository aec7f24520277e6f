"""Execution units: latency and interval of operation classes.

``lat.*`` is a chain of the instruction alone, ``thr.*`` what all warps of an SM can start. Where
the compiler waits a fixed number of cycles after an instruction, the latency is the compiler's.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lockstep.isa.instruction import WARP_SIZE
from lockstep.tuning.inference import Inference, whole
from lockstep.tuning.measured import Absent, Measured

LANES, MAC = "lanes/clk/SM", "MAC/clk/SM"
SHORT_LOOP = 13 / 16  # cycles: the loop's end, in each of 16 steps
GMMA_LOOP = 9  # cycles of ARRIVE and DEPBAR around a product of a warpgroup
GMMA_ROWS, GMMA_DEPTH = 64, 16  # of a product of half precision
COLUMNS, FEW_COLUMNS = 64, 8  # what GMMA stands for, and the narrowest product
GMMA_ROW = "m64n{}k16 A in shared memory"
COUNT_LOOP = 15.8  # cycles of an addition and a comparison for each barrier that counts
LONG = 50  # cycles, of which a loop adds less than a half, and ends of it may take as much
MANY_WARPS = 8  # two for each of four sub-cores
TENSOR = "sm.units.tensor"
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


MMA, TF32 = "mma_m16n8k16_f16_f32", "HMMA_1688_F32_TF32"
CLASSES = (
    Class("fp32", "FP32", "lat.ffma", 0, "thr.ffma"),
    Class("fp32", "IMAD", "lat.imad", 0, "thr.imad"),
    Class("fp32", "IMAD_WIDE", "", 0, "thr.imad_hi"),
    Class("int", "INT32", "lat.iadd3", 0, "thr.iadd3"),
    Class("fp64", "FP64", "lat.dfma", 0, "thr.dfma"),
    Class("sfu", "SFU", "lat.mufu_ex2", 0, "thr.mufu_ex2"),
    Class("sfu", "CONVERT", "lat.frnd", 0, "thr.frnd"),
    Class("sfu", "F2F_F64_F32", "lat.cvt_f32_f64"),
    Class("sfu", "F2F_F32_F64", "lat.cvt_f32_f64"),
    Class("shuffle", "SHUFFLE", "lat.shfl_bfly", 0, "thr.shfl_bfly"),
    Class("shuffle", "SHFL_IDX", "lat.shfl_idx"),
    Class("special_move", "SPECIAL_MOVE", "lat.cs2r_clock64", 0, "thr.cs2r_clock64"),
    Class("reduction", "REDUX", "lat.redux_add", 6, "thr.redux_add"),
    Class("reduction", "MATCH", "lat.match_any", 0, "thr.match_any"),
    Class("tensor", "HMMA", f"lat.{MMA}", SHORT_LOOP, f"thr.{MMA}", 2048),
    Class("tensor", "HMMA_1688_F32", "", 0, "thr.mma_m16n8k8_f16_f32", 1024),
    Class("tensor", TF32, "lat.mma_m16n8k8_tf32", SHORT_LOOP, "thr.mma_m16n8k8_tf32", 1024),
    Class("tensor", "IMMA", "lat.mma_m16n8k32_s8", SHORT_LOOP, "thr.mma_m16n8k32_s8", 4096),
    Class("tensor", "DMMA", "lat.mma_m8n8k4_f64", SHORT_LOOP, "thr.mma_m8n8k4_f64", 256),
)


def _owners(m: Measured, kind: Class) -> int:
    """Units in an SM that execute the class."""
    unit = f"sm.units.{kind.unit}"
    each = m["sm.subcores"] if m[f"{unit}.scope"] == "subcore" else 1
    return each * m.parameters.get(f"{unit}.instances.{kind.name}", m[f"{unit}.count"])


def _latency(kind: Class) -> Callable[[Measured], int]:
    return lambda m: whole(m.get(kind.latency, ilp=1), kind.with_it)


def _interval(kind: Class) -> Callable[[Measured], int]:
    """Cycles between two starts on a unit, where all sub-cores have warps enough."""
    unit, work = (MAC, kind.macs) if kind.macs else (LANES, WARP_SIZE)

    def read(m: Measured) -> int:
        rate = m.highest(kind.rate, unit, lambda row: row.keys.get("warps", 0) >= MANY_WARPS)
        cycles = work * _owners(m, kind) / rate
        return round(cycles) if cycles > LONG else max(whole(cycles), 1)

    return read


def _lanes(kind: Class) -> Callable[[Measured], int]:
    def read(m: Measured) -> int:
        interval = _interval(kind)(m)
        if WARP_SIZE % interval:
            raise Absent(f"{interval} cycles for a warp are no whole number of lanes")
        return WARP_SIZE // interval

    return read


def _product_interval(columns: int) -> Callable[[Measured], int]:
    """Cycles between two products of a warpgroup of so many columns."""
    words = GMMA_ROW.format(columns)

    def read(m: Measured) -> int:
        rate = m.highest("thr.wgmma_f16", MAC, lambda row: row.words == words)
        return whole(GMMA_ROWS * columns * GMMA_DEPTH / rate)

    return read


def _gmma(m: Measured) -> int:
    chain = m.get("lat.wgmma_f16", words=GMMA_ROW.format(COLUMNS))
    return whole(m.difference(chain, m["sm.units.tensor.intervals.GMMA"] + GMMA_LOOP))


def _narrow(m: Measured) -> int:
    chain = m.get("lat.wgmma_f16", words=GMMA_ROW.format(FEW_COLUMNS))
    return whole(m.difference(chain, GMMA_LOOP))


def _status(m: Measured) -> int:
    """B2R, with which a barrier that counts goes on."""
    count, plain = m.get("sync.syncthreads_count", warps=1), m.get("sync.bar_sync", warps=1)
    return whole(m.difference(count, plain + COUNT_LOOP))


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
    Inference(f"{TENSOR}.intervals.GMMA", _product_interval(COLUMNS), "cycles for 64 columns"),
    Inference(f"{TENSOR}.operations.GMMA", _gmma, "less the interval, and 9 of the loop"),
    Inference(f"{TENSOR}.intervals.HGMMA_64x8x16", _product_interval(FEW_COLUMNS), "cycles of one"),
    Inference(f"{TENSOR}.operations.HGMMA_64x8x16", _narrow, "less 9 of the loop"),
    Inference("sm.units.special_register.operations.B2R", _status, "less 15.8 for what is counted"),
)
