"""CTAs that take unequal time: SMs are idle while the longest ones end."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.advice.waves import lost_at_the_end, most_ctas_take_longest

LEAST = 0.15  # as of a tail wave


def look(o: Observation) -> Diagnosis | None:
    """SMs that are idle at the end, though not because others had more CTAs."""
    full = [run for run in o.runs if run.ctas >= o.gpu.sm.count]
    runs = [run for run in full if not most_ctas_take_longest(run)]
    lost = sum(map(lost_at_the_end, runs)) / max(1, o.running)
    if lost < LEAST:
        return None
    run = max(runs, key=lost_at_the_end)
    active = run.sm["active_cycles"]
    return Diagnosis(
        lost,
        f"CTAs take unequal time: the SMs work for {int(active.min()):,} to "
        f"{int(active.max()):,} cycles.",
        "Divide the work more evenly, start the longest CTAs first, or let CTAs take work from a "
        "queue.",
        (
            measured(o, "sim__sm_active.pct"),
            Evidence("sm__cycles_active.avg", float(active.mean()), "cycles"),
        ),
    )


RULE = AdviceRule("unequal_ctas", "Unequal CTAs", look)
