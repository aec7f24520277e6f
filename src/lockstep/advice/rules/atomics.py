"""Atomic operations that meet at one address: they follow each other in one slice of the L2."""

import numpy as np

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST = 0.5  # of the time in which the busiest partition updates words: other work hides less
UNEVEN = 2.0  # times as long in the busiest partition as in one on average
LANES = 2.0  # ... or cycles that a sector takes: so many lanes on one word


def look(o: Observation) -> Diagnosis | None:
    """How long the busiest partition updates words, one after the other."""
    sectors, busy = (
        np.sum([run.partition[name] for run in o.runs], axis=0)
        for name in ("l2_atomic_sectors", "l2_atomic_busy")
    )
    if not busy.any():
        return None
    share = min(1.0, busy.max() / max(1.0, o.facts.clocks(o.gpu.l2.clock_mhz)))
    uneven, each = busy.max() / busy.mean(), busy.sum() / sectors.sum()
    if share < LEAST or (uneven < UNEVEN and each < LANES):
        return None
    rows = None if o.source is None else o.source[o.source["l1_atomic_sectors"] > 0]
    return Diagnosis(
        share,
        f"Atomic operations meet: one of {len(busy)} memory partitions does {uneven:.1f} times as "
        f"many as one on average, and needs {each:.1f} cycles for each sector.",
        "Combine within the warp and the CTA first (shuffles, shared memory), and update each "
        "address once a CTA, or spread them over several addresses.",
        (
            measured(o, "sim__l2_atomic_busy.sum", "cycles"),
            Evidence("of them in the busiest partition", float(busy.max()), "cycles"),
            measured(o, "sim__l1_atomic_sectors.sum", "sectors"),
        ),
        spot(rows, "l1_atomic_sectors"),
    )


RULE = AdviceRule("atomics", "Contended atomics", look, lift="atomics")
