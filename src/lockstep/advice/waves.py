"""How the CTAs of a launch end: which SMs are idle then, and whether more CTAs are why."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # importing the engine imports the compiler: advice needs no model
    from lockstep.engine.record import KernelRun


def idle_at_the_end(run: "KernelRun") -> float:
    """SM-cycles without a CTA, of those until the last SM has ended; SMs without any are left out.

    From 0 to 1.
    """
    active = _active(run)
    return 1 - active.mean() / active.max() if len(active) else 0.0


def lost_at_the_end(run: "KernelRun") -> float:
    """The same in core cycles: as if the whole GPU had been idle that long."""
    return run.running * idle_at_the_end(run)


def most_ctas_take_longest(run: "KernelRun") -> bool:
    """Whether SMs differ in their numbers of CTAs, and those with most work longest."""
    used = run.sm["active_cycles"] > 0
    ctas, active = run.sm["ctas"][used], _active(run)
    if not len(active) or ctas.min() == ctas.max():
        return False
    most, others = active[ctas == ctas.max()], active[ctas < ctas.max()]
    return most.mean() > others.mean() and most.min() > active.mean()


def _active(run: "KernelRun") -> np.ndarray:
    active = run.sm["active_cycles"]
    return active[active > 0]
