"""Sums of products at the limit of the FMA units, while the tensor units are idle."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.isa.instruction import OpClass
from lockstep.metrics.metric import execution_units

LEAST_BUSY = 0.5  # of the units of FP32 or FP16
LEAST_FMA = 0.4  # of the instructions
PRODUCTS = (OpClass.HMMA, OpClass.IMMA, OpClass.DMMA, OpClass.GMMA)
SUMS = (OpClass.FP32, OpClass.FP16)


def look(o: Observation) -> Diagnosis | None:
    """FP32 or FP16 at work, operands from shared memory, and no product of matrices."""
    units = execution_units(o.gpu)
    has = any(op in PRODUCTS for _, unit in units for op, _ in unit.intervals)
    issued = o.sm.issued
    if not has or any(issued[op] for op in PRODUCTS) or not o.sm.shared_accesses:
        return None
    busy = max(
        (o[f"sim__sol_unit_{name}.pct"] / 100 for name, unit in units
         if any(op in SUMS for op, _ in unit.intervals)), default=0.0,
    )  # fmt: skip
    part = sum(issued[op] for op in SUMS) / max(1, o.sm.warp_instructions)
    if busy < LEAST_BUSY or part < LEAST_FMA:
        return None
    return Diagnosis(
        busy,
        f"{100 * part:.0f} % of the instructions are floating-point sums and products at "
        f"{100 * busy:.0f} % of their units, and the tensor units are idle.",
        "If these are products of matrices, and their precision allows it, use the tensor units "
        "(WMMA, cuBLAS, CUTLASS).",
        (
            Evidence("FP32 and FP16 of all instructions", 100 * part, "%"),
            measured(o, "sim__sol_unit_fp32.pct") if "sim__sol_unit_fp32.pct" in o.metrics
            else Evidence("busiest of their units", 100 * busy, "%"),
            measured(o, "sim__inst_issued_hmma.sum", "instructions"),
        ),
    )  # fmt: skip


RULE = AdviceRule("tensor", "Idle tensor units", look, limit=True)
