"""A unit that executes few lanes a cycle is at its limit: FP64, special functions, conversions."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured
from lockstep.isa.instruction import OpClass
from lockstep.metrics.metric import execution_units

LEAST = 0.6  # of the unit
SLOW = (OpClass.FP64, OpClass.SFU, OpClass.CONVERT, OpClass.SPECIAL_REGISTER, OpClass.SHUFFLE)
_TODO = {
    OpClass.FP64: "Use FP32 where its precision is enough, also in constants (1.0f).",
    OpClass.SFU: "Use fewer divisions, roots and transcendental functions, or cheaper ones.",
    OpClass.CONVERT: "Keep values in one type: conversions run where special functions do.",
    OpClass.SPECIAL_REGISTER: "Read special registers once, and keep what they say.",
    OpClass.SHUFFLE: "Reduce in registers first, and shuffle what is left.",
}


def look(o: Observation) -> Diagnosis | None:
    """The busiest of the slow units."""
    issued = o.sm.issued
    found = []
    for name, unit in execution_units(o.gpu):
        ops = {op: issued[op] * interval for op, interval in unit.intervals if op in SLOW}
        busy = o[f"sim__sol_unit_{name}.pct"] / 100
        if ops and sum(ops.values()) > sum(issued[op] * n for op, n in unit.intervals) / 2:
            found.append((busy, name, OpClass(max(ops, key=lambda op: ops[op]))))
    busy, name, op = max(found, default=(0.0, "", OpClass.UNKNOWN))
    if busy < LEAST:
        return None
    rows = None if o.source is None else o.source[o.source["op"] == op.name.lower()]
    return Diagnosis(
        busy,
        f"The {name} units are busy in {100 * busy:.0f} % of the time.",
        _TODO[op],
        (
            measured(o, f"sim__sol_unit_{name}.pct"),
            measured(o, f"sim__inst_issued_{op.name.lower()}.sum", "instructions"),
            measured(o, "sim__scheduler_unit_busy.pct"),
        ),
        spot(rows, "warp_instructions"),
    )


RULE = AdviceRule("slow_units", "Slow units", look, lift="units")
