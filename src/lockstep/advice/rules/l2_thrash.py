"""The L2 reads the same data again from DRAM: what is used again has been evicted by then."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.advice.unique import known_sectors

AGAIN = 2.0  # times at least that a sector must have been read from DRAM: it is counted
LEAST = 0.2  # of the peak of the DRAM


def look(o: Observation) -> Diagnosis | None:
    """Sectors read from DRAM, beyond all different ones that the program has."""
    different, fills = known_sectors(o.result), o.facts.memory.l2_fills
    if not o.result.run.copies or o.gpu.launch.l2 != "kept":
        return None
    if not o.facts.memory.l2_evictions or fills < AGAIN * different * len(o.runs):
        return None
    busy = o["sim__sol_dram.pct"] / 100
    share = busy * (1 - different * len(o.runs) / fills)
    if share < LEAST:
        return None
    return Diagnosis(
        share,
        f"The L2 reads each sector {fills / different / len(o.runs):.1f} times or more from DRAM.",
        "Work on parts that fit the L2, and use each while it is there.",
        (
            measured(o, "sim__l2_read_hit_rate.pct"),
            measured(o, "sim__sol_dram.pct"),
            Evidence("sim__l2_fills.sum", float(fills), "sectors"),
            Evidence("different sectors at most", float(different), "sectors"),
        ),
    )


RULE = AdviceRule("l2_thrash", "L2 thrashing", look, lift="l2_capacity")
