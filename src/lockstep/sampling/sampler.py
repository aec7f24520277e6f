"""What a sampler is, and the ones that there are."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from lockstep.errors import LockstepError, unknown
from lockstep.sampling.plan import Plan
from lockstep.sampling.table import LaunchTable

Observe = Callable[[np.ndarray], np.ndarray]
"""Simulates launches (int64, in program order); their times, float64."""


class Sampler(Protocol):
    """Chooses the launches to simulate.

    ``name``: what plans and tables call it; ``level``: of the columns that it reads; ``times``:
    whether it needs the time of every launch, as measured elsewhere.
    """

    name: str
    level: int
    times: bool

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """What to simulate first. Raises :class:`LockstepError` if it cannot sample this table."""
        ...

    def more(self, plan: Plan, seen: np.ndarray, random: np.random.Generator) -> Plan | None:
        """What to simulate, too, now that the chosen launches took ``seen`` (float64); or None.

        The plan that it returns may have other strata, and chooses what this one does and more.
        """
        ...


class OneStep:
    """Base of samplers that choose everything at once."""

    def more(self, plan: Plan, seen: np.ndarray, random: np.random.Generator) -> Plan | None:
        """Nothing: the plan is final."""
        return None


SAMPLERS: dict[str, Callable[..., Sampler]] = {}
"""Classes of samplers by name; their keyword arguments are their parameters."""


def register(cls: Any) -> Any:
    """Class decorator: list a sampler under its ``name``."""
    assert cls.name not in SAMPLERS, f"two samplers are named {cls.name}"
    SAMPLERS[cls.name] = cls
    return cls


def sampler(name: str, **parameters: Any) -> Sampler:
    """The sampler of a name; raises :class:`LockstepError` of unknown names and parameters."""
    if name not in SAMPLERS:
        raise LockstepError(unknown("sampler", name, SAMPLERS))
    try:
        return SAMPLERS[name](**parameters)
    except TypeError as error:
        raise LockstepError(f"sampler {name}: {error}") from None


def check(sampler: Sampler, table: LaunchTable) -> None:
    """Raise :class:`LockstepError` if a table does not have what a sampler reads."""
    if table.level < sampler.level:
        raise LockstepError(
            f"{sampler.name} reads level {sampler.level}, and the launch table has level "
            f"{table.level}: lockstep profile --level {sampler.level}"
        )
    if sampler.times and not table.has_times:
        raise LockstepError(
            f"{sampler.name} needs the time of every launch, and the launch table has none: "
            "import them, or use bounded"
        )


def draw(
    sampler: Sampler, table: LaunchTable, seed: int, observe: Observe
) -> tuple[Plan, np.ndarray]:
    """Plan, observe, and go on while the sampler asks for more; the last plan and its times."""
    check(sampler, table)
    random = np.random.default_rng(seed)
    plan = sampler.plan(table, random)
    known = np.full(len(table), np.nan)
    known[plan.chosen] = observe(plan.chosen)
    while (further := sampler.more(plan, known[plan.chosen], random)) is not None:
        fresh = further.chosen[np.isnan(known[further.chosen])]
        known[fresh] = observe(fresh)
        plan = further
    return plan, known[plan.chosen]
