"""Issue or a fast execution unit is at its limit: only fewer instructions are faster."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured

LEAST = 0.8  # of the peak


def look(o: Observation) -> Diagnosis | None:
    """The busiest of issue and execution units."""
    names = [n for n in o.metrics if n.startswith(("sim__sol_unit_", "sim__sol_issue"))]
    name = max(names, key=lambda name: o[name])
    busy = o[name] / 100
    if busy < LEAST:
        return None
    unit = name.removeprefix("sim__sol_").removesuffix(".pct").replace("_", " ")
    return Diagnosis(
        busy,
        f"The limit of the kernel is {unit}, at {100 * busy:.0f} % of its peak.",
        "Nothing is to gain but by fewer instructions: less work, or other instructions for it.",
        (measured(o, name), measured(o, "sim__sol_issue.pct")),
    )


RULE = AdviceRule("compute", "Compute-bound", look, limit=True)
