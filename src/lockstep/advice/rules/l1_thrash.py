"""The L1 asks for the same data again: what is used again has been evicted by then."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.advice.unique import l1_misses, resident_sectors

AGAIN = 2.0  # times at least that an SM must have read a sector: no guess, it is counted
LEAST = 0.1  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Sectors that one SM read from the L2, beyond all different ones that there can be."""
    misses = sum(int(l1_misses(run).max()) for run in o.runs)
    different = sum(resident_sectors(o, run) for run in o.runs)
    if not o.sm.l1_evictions or misses < AGAIN * different:
        return None
    share = o.memory_bound * (1 - different / misses)
    if share < LEAST:
        return None
    rows = None
    if o.source is not None:
        reads = o.source["l1_global_read_sectors"] - o.source["l1_global_read_hits"]
        rows = o.source.assign(missed=reads)
    return Diagnosis(
        share,
        f"An SM reads each sector {misses / max(1, different):.1f} times or more from the L2, "
        "because its L1 has lost it.",
        "Work on parts that fit the L1, or keep what is used again in shared memory or registers.",
        (
            measured(o, "sim__l1_global_load_hit_rate.pct"),
            measured(o, "sim__l1_evictions.sum", "lines"),
            Evidence("sectors that an SM reads from the L2", float(misses), "sectors"),
            Evidence("different sectors at most", float(different), "sectors"),
        ),
        spot(rows, "missed"),
    )


RULE = AdviceRule("l1_thrash", "L1 thrashing", look, lift="l1_capacity")
