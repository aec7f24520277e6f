"""The DRAM moves nearly what it can: the kernel is as fast as its data."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured

LEAST = 0.7  # of the peak: refreshes, row changes and turns of the bus take the rest


def look(o: Observation) -> Diagnosis | None:
    """The speed of light of the DRAM."""
    busy = o["sim__sol_dram.pct"] / 100
    if busy < LEAST:
        return None
    return Diagnosis(
        busy,
        f"The DRAM moves {100 * busy:.0f} % of what its buses could: the kernel is at its limit.",
        "Nothing is to gain but by moving fewer bytes: smaller types, fused kernels, caches.",
        (
            measured(o, "sim__sol_dram.pct"),
            measured(o, "dram__bytes.sum.per_second", "bytes/s"),
            measured(o, "sim__dram_row_hit_rate.pct"),
        ),
    )


RULE = AdviceRule("dram_bandwidth", "DRAM bandwidth", look, lift="dram_bandwidth", limit=True)
