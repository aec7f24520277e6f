"""Constants that the caches lack: issue waits for operands."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured
from lockstep.model.counters import Stall

LEAST = 0.2  # of the time: the first misses of a short kernel take a tenth or more


def look(o: Observation) -> Diagnosis | None:
    """Cycles in which a constant operand was missing."""
    share = o.spent(Stall.IMC_MISS)
    if share < LEAST:
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
