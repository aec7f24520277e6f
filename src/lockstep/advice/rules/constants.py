"""Constants that the caches lack: issue waits for operands."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured
from lockstep.model.counters import Stall

LEAST = 0.1  # of the time
AGAIN = 2  # times the lines of a sub-core's cache: fewer misses are first ones, of parameters


def look(o: Observation) -> Diagnosis | None:
    """Cycles in which a constant operand was missing, where lines come again."""
    share, cache = o.spent(Stall.IMC_MISS), o.gpu.constant
    sms = sum(int((run.sm["active_cycles"] > 0).sum()) for run in o.runs)
    lines = cache.operand_bytes // cache.line_bytes * o.gpu.sm.subcores * sms
    if share < LEAST or not lines or o.sm.operand_constant_misses < AGAIN * lines:
        return None
    return Diagnosis(
        share,
        f"In {100 * share:.0f} % of the time a scheduler waits for a constant operand.",
        "Use fewer constants in a loop, in the order in which they lie, or load them into "
        "registers before it; what lanes index differently belongs into shared memory.",
        (
            measured(o, "sim__scheduler_imc_miss.pct"),
            measured(o, "sim__constant_operand_hit_rate.pct"),
            measured(o, "sim__constant_operand_misses.sum", "lines"),
        ),
        spot(o.source, "stall_imc_miss"),
    )


RULE = AdviceRule("constants", "Constant cache misses", look, lift="constant_cache")
