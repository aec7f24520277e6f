"""No unit is near its limit, and schedulers find no warp that could issue."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.model.counters import Stall

LEAST_WAIT = 0.5  # of the time in which all warps wait for results
LEAST_LONG = 0.4  # ... of global memory
MOST_BUSY = 0.5  # of any unit


def look(o: Observation) -> Diagnosis | None:
    """Warps wait for loads, and there are too few of them, or too few loads at a time."""
    waits, long = o.latency_bound, o.spent(Stall.LONG_SCOREBOARD)
    if waits < LEAST_WAIT or long < LEAST_LONG or o.busiest > MOST_BUSY:
        return None
    resident = o["sm__warps_active.avg.per_cycle_active"] / o.gpu.sm.subcores
    rows = None if o.source is None else o.source[o.source["stall_long_scoreboard"] > 0]
    return Diagnosis(
        long,
        f"A scheduler has {resident:.1f} warps, and in {100 * long:.0f} % of the time all of them "
        "wait for memory.",
        "Have more loads under way: independent ones in each thread (unroll, load ahead), wider "
        "ones, or more warps.",
        (
            Evidence("scheduler-cycles in which all warps wait for memory", 100 * long, "%"),
            measured(o, "sim__issue_slots_idle.pct"),
            Evidence("warps of a scheduler", resident, "warps"),
            Evidence("speed of light of the busiest unit", 100 * o.busiest, "%"),
        ),
        spot(rows, "stall_long_scoreboard"),
    )


RULE = AdviceRule("latency", "Latency-bound", look, lift="memory_latency")
