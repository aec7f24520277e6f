"""Lanes that meet in a bank of shared memory: their accesses follow each other."""

from lockstep.advice.accesses import shared_accesses
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST_EXCESS = 0.2  # of the passes
LEAST = 0.05  # of the time: each pass takes an SM's shared memory for a cycle


def look(o: Observation) -> Diagnosis | None:
    """Passes over the banks beyond those that the bytes need."""
    rows = shared_accesses(o)
    passes, excess = rows["passes"].sum(), rows["excess"].sum()
    share = min(1.0, excess / o.active)
    if excess < LEAST_EXCESS * passes or share < LEAST:
        return None
    bad = rows.where(rows["excess"] > 0)
    ways = bad["passes"].sum() / bad["needed"].sum()
    return Diagnosis(
        share,
        f"Accesses to shared memory with conflicts take {ways:.1f} times the passes that their "
        "bytes need.",
        "Let the lanes of a warp access different banks: pad rows by one word, or permute columns; "
        "of atomic operations, one for each warp.",
        (
            Evidence("passes of those that are needed", ways, "times"),
            measured(o, "sim__shared_wavefronts_per_inst.ratio", "wavefronts"),
            Evidence("passes in excess", float(excess), "wavefronts"),
            measured(o, "sim__sol_shared.pct"),
        ),
        bad.spot("excess"),
    )


RULE = AdviceRule("bank_conflicts", "Bank conflicts", look, lift="shared_banks")
