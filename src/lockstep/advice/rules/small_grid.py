"""A grid of fewer CTAs than the GPU has SMs: the others have nothing to do."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST = 0.1  # of the SMs without work: one of ten is what the last CTAs cost any kernel


def look(o: Observation) -> Diagnosis | None:
    """Launches that leave SMs without any CTA, weighted by their time."""
    sms = o.gpu.sm.count
    lost = sum(run.running * max(0, 1 - run.ctas / sms) for run in o.runs) / max(1, o.running)
    if lost < LEAST:
        return None
    smallest = min(run.ctas for run in o.runs)
    return Diagnosis(
        lost,
        f"A grid of {smallest:,} CTAs leaves {sms - smallest:,} of {sms:,} SMs without work.",
        "Give the work to more CTAs, each with less of it, or run other kernels beside this one.",
        (
            Evidence("launch__grid_size", smallest, "CTAs"),
            Evidence("SMs of the GPU", sms, "SMs"),
            measured(o, "sim__sm_active.pct"),
        ),
    )


RULE = AdviceRule("small_grid", "Small grid", look)
