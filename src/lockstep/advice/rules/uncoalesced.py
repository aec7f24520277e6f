"""Accesses whose lanes are scattered over many lines: more sectors than their bytes fill."""

from lockstep.advice.accesses import cost, global_accesses
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST_EXCESS = 0.2  # of the sectors
LEAST = 0.1  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Sectors beyond those that bytes fill, of accesses with more than twice the lines."""
    rows = global_accesses(o)
    bad = rows.where(rows["scattered"])
    excess = bad["excess"].sum() / max(1, rows["sectors"].sum())
    share = cost(o, rows, bad)
    if excess < LEAST_EXCESS or share < LEAST:
        return None
    requests = max(1, bad["requests"].sum())
    each, needed = bad["sectors"].sum() / requests, bad["needed_sectors"].sum() / requests
    return Diagnosis(
        share,
        f"Scattered accesses take {each:.1f} sectors a request where their bytes fill "
        f"{needed:.1f}.",
        "Let neighbouring threads access neighbouring words, by another layout of the data or "
        "through a tile in shared memory.",
        (
            Evidence("sectors a request", each, "sectors"),
            Evidence("sectors that the bytes fill", needed, "sectors"),
            Evidence("sectors in excess", 100 * excess, "%"),
            measured(o, "sim__transactions_per_request.ratio", "lines"),
        ),
        bad.spot("excess"),
    )


RULE = AdviceRule("uncoalesced", "Uncoalesced accesses", look, lift="coalescing")
