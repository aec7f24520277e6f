"""L2 or crossbar move nearly what they can."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured

LEAST = 0.8  # of the peak
_UNITS = {"crossbar": "The crossbar", "l2": "The L2"}


def look(o: Observation) -> Diagnosis | None:
    """The busier of the two."""
    name = max(_UNITS, key=lambda name: o[f"sim__sol_{name}.pct"])
    busy = o[f"sim__sol_{name}.pct"] / 100
    if busy < LEAST:
        return None
    return Diagnosis(
        busy,
        f"{_UNITS[name]} moves {100 * busy:.0f} % of what it could: the kernel is at its limit.",
        "Nothing is to gain but by asking for less: use data again in the L1, in shared memory or "
        "in registers.",
        (measured(o, f"sim__sol_{name}.pct"), measured(o, "sim__l1_hit_rate.pct")),
    )


RULE = AdviceRule(
    "cache_bandwidth", "Bandwidth of the L2", look, lift="cache_bandwidth", limit=True
)
