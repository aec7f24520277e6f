"""Warps wait for each other at barriers."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.model.counters import Stall

LEAST = 0.2  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Cycles in which a scheduler issued nothing because of a barrier."""
    share = o.spent(Stall.BARRIER)
    if share < LEAST:
        return None
    run = max(o.runs, key=lambda run: run.running)
    return Diagnosis(
        share,
        f"In {100 * share:.0f} % of the time a scheduler waits for other warps of a CTA.",
        "Use fewer barriers or smaller CTAs, several of which fit an SM, and give the warps "
        "between two barriers equal work.",
        (
            measured(o, "sim__scheduler_barrier.pct"),
            Evidence("sim__occupancy_limit_ctas", run.ctas_per_sm, "CTAs"),
        ),
        spot(o.source, "stall_barrier"),
    )


RULE = AdviceRule("barriers", "Barriers", look)
