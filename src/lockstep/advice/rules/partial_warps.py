"""Blocks that are no whole number of warps: the last one has lanes without a thread."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence

MOST_LANES = 0.9  # of a warp
LEAST = 0.05  # of the time


def look(o: Observation) -> Diagnosis | None:
    """Lanes that no thread was launched for."""
    size = o.gpu.sm.warp_size
    used = o.lanes_launched / size
    share = (1 - used) * o.issue_bound
    if used > MOST_LANES or share < LEAST:
        return None
    block = o.runs[0].block
    return Diagnosis(
        share,
        f"Blocks of {block[0] * block[1] * block[2]} threads are no whole number of warps of "
        f"{size}: {o.lanes_launched:.1f} lanes of a warp have a thread.",
        f"Make blocks of a multiple of {size} threads.",
        (
            Evidence("launch__block_size", block[0] * block[1] * block[2], "threads"),
            Evidence("lanes of a warp with a thread", 100 * used, "%"),
        ),
    )


RULE = AdviceRule("partial_warps", "Partial warps", look)
