"""Operands that lie in one register bank: reading them takes longer."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, measured

LEAST = 0.1  # of the scheduler-cycles


def look(o: Observation) -> Diagnosis | None:
    """Cycles that read ports delayed instructions."""
    share = o.sm.operand_conflicts / max(1, sum(o.sm.stalls))
    if share < LEAST:
        return None
    return Diagnosis(
        min(1.0, share),
        f"Register banks delay instructions by {100 * share:.0f} % of the scheduler-cycles.",
        "Let the compiler choose registers: hand-written code should read operands of different "
        "banks, or reuse them.",
        (
            measured(o, "sim__operand_conflict_cycles.sum", "cycles"),
            measured(o, "sim__scheduler_operands.pct"),
        ),
    )


RULE = AdviceRule("register_banks", "Register bank conflicts", look, lift="register_banks")
