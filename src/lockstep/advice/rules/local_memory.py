"""Local memory: registers that were spilled, or arrays that a thread indexes."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST_REQUESTS = 0.05  # of all requests to the L1
LEAST = 0.05  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Sectors of local memory, of all that the L1 moves."""
    sm = o.sm
    requests = sm.requests_local / max(1, sm.requests_local + sm.requests_global)
    sectors = sm.l1_local_read_sectors + sm.l1_local_write_sectors
    share = o.memory_bound * sectors / max(1, o["sim__l1_sectors.sum"])
    if requests < LEAST_REQUESTS or share < LEAST:
        return None
    rows = None if o.source is None else o.source[o.source["requests_local"] > 0]
    registers = max(run.registers for run in o.runs)
    return Diagnosis(
        share,
        f"{100 * requests:.0f} % of the requests to the L1 are of local memory.",
        f"Let the compiler use more registers (it has {registers} a thread: launch bounds, "
        "-maxrregcount), keep less alive at a time, or index arrays by constants.",
        (
            measured(o, "sim__l1_requests_local.sum", "requests"),
            Evidence("of all requests", 100 * requests, "%"),
            measured(o, "sim__l1_local_load_hit_rate.pct"),
        ),
        spot(rows, "requests_local"),
    )


RULE = AdviceRule("local_memory", "Register spills", look, lift="local_memory")
