"""Branches that part the lanes of a warp: instructions issue for a few of them."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured
from lockstep.isa.instruction import OF_CUS

MOST_USED = 0.8  # of the lanes that the launch has
LEAST = 0.1  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Lanes that issue goes without, of those that warps were launched with."""
    issued, lanes, table = o.sm.warp_instructions, o.sm.thread_instructions, None
    if o.source is not None:
        scalar = [op.name.lower() for op in OF_CUS]
        table = o.source[~o.source["op"].isin(scalar) & (o.source["warp_instructions"] > 0)]
        issued, lanes = table["warp_instructions"].sum(), table["thread_instructions"].sum()
        unused = table["warp_instructions"] * o.lanes_launched - table["thread_instructions"]
        table = table.assign(unused=unused)
    elif o.gpu.core == "cu":  # its scalar instructions have one lane
        return None
    used = lanes / max(1, issued * o.lanes_launched)
    share = (1 - used) * o.issue_bound
    if used > MOST_USED or share < LEAST:
        return None
    return Diagnosis(
        share,
        f"An instruction uses {lanes / issued:.1f} of {o.lanes_launched:.0f} lanes.",
        "Let the lanes of a warp take the same branch: sort the work by what it takes, or give "
        "what few lanes do to whole warps.",
        (
            measured(o, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "threads"),
            measured(o, "sim__lanes_used.pct"),
        ),
        spot(table, "unused"),
    )


RULE = AdviceRule("divergence", "Branch divergence", look)
