"""A last wave of CTAs that fills only some SMs: the others wait for it."""

import numpy as np

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.advice.waves import lost_at_the_end, most_ctas_take_longest

LEAST = 0.15  # of the SM-cycles: less than that the start of the CTAs, one by one, takes as well


def look(o: Observation) -> Diagnosis | None:
    """SMs that are idle while those with one CTA more still run."""
    runs = [run for run in o.runs if most_ctas_take_longest(run)]
    lost = sum(map(lost_at_the_end, runs)) / max(1, o.running)
    if lost < LEAST:
        return None
    run = max(runs, key=lost_at_the_end)
    waves = run.ctas / (o.gpu.sm.count * run.ctas_per_sm)
    ctas = run.sm["ctas"]
    return Diagnosis(
        lost,
        f"The grid of {run.ctas:,} CTAs is {waves:.2f} waves: SMs with {int(np.min(ctas))} CTAs "
        f"wait for those with {int(np.max(ctas))}.",
        "Choose a grid that fills whole waves, smaller CTAs, or CTAs that loop over the work.",
        (
            Evidence("launch__waves_per_multiprocessor", waves, "waves"),
            measured(o, "sim__sm_active.pct"),
        ),
    )


RULE = AdviceRule("tail_wave", "Tail wave", look)
