"""Atomic operations that meet at one address: they follow each other in one slice of the L2."""

import numpy as np

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST = 0.15  # of the time in which the busiest slice updates words
UNEVEN = 2.0  # times as many in the busiest partition as in one on average


def look(o: Observation) -> Diagnosis | None:
    """How long the atomic operations of the busiest partition take, one after the other."""
    sectors = np.sum([run.partition["l2_atomic_sectors"] for run in o.runs], axis=0)
    if not sectors.any():
        return None
    rows = None if o.source is None else o.source[o.source["l1_atomic_sectors"] > 0]
    lanes = o["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"]
    if rows is not None and len(rows):
        lanes = rows["thread_instructions"].sum() / rows["l1_atomic_sectors"].sum()
    elif o.sm.l1_atomic_sectors:
        atomics = o["sim__inst_issued_atomic.sum"] + o["sim__inst_issued_reduction.sum"]
        lanes *= atomics / o.sm.l1_atomic_sectors
    cycles = sectors.max() * max(1, lanes) * o.gpu.l2.atomic_interval
    share = min(1.0, cycles / max(1.0, o.facts.clocks(o.gpu.l2.clock_mhz)))
    uneven = sectors.max() / sectors.mean()
    if share < LEAST or (uneven < UNEVEN and lanes < UNEVEN):
        return None
    return Diagnosis(
        share,
        f"Atomic operations meet: {lanes:.1f} lanes share a sector, and the busiest of "
        f"{len(sectors)} memory partitions has {uneven:.1f} times as many as one on average.",
        "Combine within the warp and the CTA first (shuffles, shared memory), and update each "
        "address once a CTA, or spread them over several addresses.",
        (
            measured(o, "sim__l1_atomic_sectors.sum", "sectors"),
            Evidence("lanes of an atomic sector", float(lanes), "lanes"),
            Evidence("sectors of the busiest partition", float(sectors.max()), "sectors"),
        ),
        spot(rows, "l1_atomic_sectors"),
    )


RULE = AdviceRule("atomics", "Contended atomics", look, lift="atomics")
