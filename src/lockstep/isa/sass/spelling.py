"""SASS opcodes for instruction records that come from elsewhere, such as PTX.

A record names no opcode that other simulators know. Each class of operations has some whose
operands are one, two or more registers wide; those that lift to the record itself stand for it.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.isa.sass.widths import SHAPES

_MATRIX = tuple(SHAPES)
_OPCODES: dict[OpClass, tuple[str, ...]] = {
    OpClass.FP32: ("FFMA", "FADD2", "FHADD2"),
    OpClass.FP16: ("HFMA2",),
    OpClass.FP64: ("DFMA",),
    OpClass.INT32: ("IADD3", "IADD3.64"),
    OpClass.IMAD: ("IMAD",),
    OpClass.IMAD_WIDE: ("IMAD.WIDE", "IMAD.HI"),
    OpClass.MOVE: ("MOV", "MOV.64"),
    OpClass.CONVERT: ("F2F.F32.F32", "F2F.F64.F32", "F2F.F32.F64", "F2F.F64.F64"),
    OpClass.SFU: ("MUFU.RCP",),
    OpClass.SHUFFLE: ("SHFL.IDX",),
    OpClass.VOTE: ("VOTE.ANY",),
    OpClass.MATCH: ("MATCH.ANY",),
    OpClass.REDUX: ("REDUX.SUM",),
    OpClass.SPECIAL_REGISTER: ("S2R",),
    OpClass.SPECIAL_MOVE: ("CS2R.32", "CS2R"),
    OpClass.UNIFORM: ("UMOV", "UMOV.64"),
    OpClass.PACK: ("F2FP.F16.F32.PACK_AB",),
    OpClass.GMMA: tuple(f"HGMMA.64x{n}x16.F32" for n in range(8, 257, 8)),
    OpClass.GMMA_ARRIVE: ("WARPGROUP.ARRIVE",),
    OpClass.GMMA_WAIT: ("WARPGROUP.DEPBAR.LE",),
    OpClass.HMMA: tuple(f"HMMA.{s}.{kind}" for s in _MATRIX for kind in ("F32", "F16", "F32.TF32")),
    OpClass.IMMA: tuple(f"IMMA.{s}.{kind}" for s in _MATRIX for kind in ("S8.S8", "S4.S4"))
    + tuple(f"BMMA.{s}" for s in _MATRIX),
    OpClass.DMMA: ("DMMA.884", "DMMA.1684", "DMMA.1688", "DMMA.16816"),
    OpClass.ASYNC_COPY: ("LDGSTS.E",),
    OpClass.BULK_COPY: ("UBLKCP",),
    OpClass.BULK_STORE: ("UTMASTG",),
    OpClass.TEXTURE: ("TEX", "TLD4"),
    OpClass.SURFACE: ("SULD.D", "SUST.D"),
    OpClass.BRANCH: ("BRA", "BRX"),
    OpClass.CONVERGENCE: ("WARPSYNC",),
    OpClass.EXIT: ("EXIT",),
    OpClass.BARRIER: ("BAR.SYNC",),
    OpClass.ARRIVE: ("BAR.ARV",),
    OpClass.CLUSTER_ARRIVE: ("UCGABAR_ARV",),
    OpClass.CLUSTER_WAIT: ("UCGABAR_WAIT",),
    OpClass.FENCE: ("MEMBAR.SC.GPU",),
    OpClass.LOCAL_FENCE: ("MEMBAR.SC.CTA",),
    OpClass.COMMIT_GROUP: ("LDGDEPBAR",),
    OpClass.WAIT_GROUP: ("DEPBAR.LE",),
    OpClass.NOP: ("NOP",),
    OpClass.CACHE_CONTROL: ("CCTL", "CCTL.IVALL"),
    OpClass.SLEEP: ("NANOSLEEP",),
}
_ACCESSES: dict[tuple[OpClass, Space], tuple[str, ...]] = {
    (OpClass.LOAD, Space.GENERIC): ("LD.E", "LD"),
    (OpClass.LOAD, Space.GLOBAL): ("LDG.E", "LDG"),
    (OpClass.LOAD, Space.SHARED): ("LDS", "LDSM.16.M88", "LDSM.16.M88.2", "LDSM.16.M88.4"),
    (OpClass.LOAD, Space.LOCAL): ("LDL",),
    (OpClass.LOAD, Space.CONSTANT): ("LDC",),
    (OpClass.STORE, Space.GENERIC): ("ST.E", "ST"),
    (OpClass.STORE, Space.GLOBAL): ("STG.E", "STG"),
    (OpClass.STORE, Space.SHARED): ("STS", "STSM.16.M88", "STSM.16.M88.2", "STSM.16.M88.4"),
    (OpClass.STORE, Space.LOCAL): ("STL",),
    (OpClass.ATOMIC, Space.GENERIC): ("ATOM.E.ADD", "ATOM.ADD"),
    (OpClass.ATOMIC, Space.GLOBAL): ("ATOMG.E.ADD", "ATOMG.ADD"),
    (OpClass.ATOMIC, Space.SHARED): ("ATOMS.ADD",),
    (OpClass.REDUCTION, Space.GENERIC): ("RED.E.ADD", "RED.ADD"),
    (OpClass.REDUCTION, Space.GLOBAL): ("REDG.E.ADD", "REDG.ADD"),
    (OpClass.REDUCTION, Space.SHARED): ("ARRIVES.LDGSTSBAR",),
}
_WIDTHS = {1: "U8", 2: "U16", 4: "", 8: "64", 16: "128", 32: "256"}
_POLICIES = {
    CachePolicy.BYPASS_L1: "STRONG.GPU",
    CachePolicy.STREAMING: "EF",
    CachePolicy.KEEP: "EL",
    CachePolicy.VOLATILE: "STRONG.SYS",
    CachePolicy.NO_ALLOCATE: "NA",
    CachePolicy.OF_CTA: "STRONG.SM",
}


def spellings(record: np.void) -> Iterator[str]:
    """Opcodes that may stand for a record, likely ones first."""
    op, space = OpClass(int(record["op"])), Space(int(record["space"]))
    bases = _ACCESSES.get((op, space)) or _OPCODES.get(op, ())
    if not record["width"]:
        yield from bases
        return
    policy = [word for flag, word in _POLICIES.items() if record["cache"] & flag]
    widths = dict.fromkeys((_WIDTHS.get(int(record["width"]), ""), ""))
    for base, width in product(bases, widths):
        yield ".".join(word for word in (base, width, *policy) if word)
