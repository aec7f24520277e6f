"""Many short kernels: the program waits for launches."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured

LEAST_KERNELS = 5  # fewer launches are what a program needs
LEAST = 0.2  # of the run


def look(o: Observation) -> Diagnosis | None:
    """Cycles of the run in which no CTA ran."""
    run = o.result.run
    share = 1 - run.running / max(1, run.cycles)
    if len(o.runs) < LEAST_KERNELS or share < LEAST:
        return None
    return Diagnosis(
        share,
        f"In {100 * share:.0f} % of the run no CTA runs: {len(o.runs):,} kernels take "
        f"{run.running / len(o.runs):,.0f} cycles each, and a launch takes "
        f"{o.gpu.launch.overhead:,}.",
        "Do more in each kernel: fuse kernels, loop inside of one, give several problems to one "
        "launch, or use a graph or several streams.",
        (
            Evidence("sim__cycles_launch", run.cycles - run.running, "cycles"),
            Evidence("kernels", len(o.runs), "kernels"),
            measured(o, "sim__cycles_running", "cycles"),
        ),
    )


RULE = AdviceRule("launches", "Launch-bound", look, lift="launch", whole_run=True)
