"""Accesses that use a part of each sector: misaligned ones, and those with a small stride."""

from lockstep.advice.accesses import cost, global_accesses
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence

LEAST_EXCESS = 0.15  # of the sectors: a misaligned access of 4 bytes a lane has a fifth more
LEAST = 0.1  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Sectors beyond those that bytes fill, of accesses that lie close together."""
    if o.source is None:  # how many bytes a lane accesses is not known
        return None
    rows = global_accesses(o)
    bad = rows.where(~rows["scattered"] & (rows["excess"] > 0))
    excess = bad["excess"].sum() / max(1, rows["sectors"].sum())
    share = cost(o, rows, bad)
    if excess < LEAST_EXCESS or share < LEAST:
        return None
    used = 100 * bad["needed_sectors"].sum() / max(1, bad["sectors"].sum())
    return Diagnosis(
        share,
        f"Accesses use {used:.0f} % of the sectors that they touch.",
        "Align what a warp accesses to 32 bytes, and let it use all bytes: arrays of each member "
        "instead of an array of structures.",
        (
            Evidence("of touched sectors used", used, "%"),
            Evidence("sectors in excess", 100 * excess, "%"),
        ),
        bad.spot("excess"),
    )


RULE = AdviceRule("partial_sectors", "Partial sectors", look, lift="coalescing")
