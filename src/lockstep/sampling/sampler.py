"""What a sampler is, and the ones that there are."""

import inspect
import types
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol, get_args

import numpy as np

from lockstep.errors import LockstepError, unknown
from lockstep.sampling.plan import Plan
from lockstep.sampling.table import LaunchTable

Observe = Callable[[np.ndarray], np.ndarray]
"""Simulates launches (int64, in program order); their times, float64."""


class Effort(NamedTuple):
    """The parameter that sets how much a sampler simulates.

    Its name, which is that of an attribute, too, the values with which it simulates ``most`` and
    ``least``, both above 0, and whether it is a whole number.
    """

    parameter: str
    most: float
    least: float
    whole: bool = False


class Sampler(Protocol):
    """Chooses the launches to simulate.

    ``name``: what plans and tables call it; ``level``: of the columns that it reads; ``times``:
    whether it needs the time of every launch, as measured elsewhere. A comparison asks for two
    more, which a sampler may have: ``effort`` and ``same_strata``, as of :class:`OneStep`.
    """

    name: str
    level: int
    times: bool

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """What to simulate first. Raises :class:`LockstepError` if it cannot sample this table."""
        ...

    def more(
        self, table: LaunchTable, plan: Plan, seen: np.ndarray, random: np.random.Generator
    ) -> Plan | None:
        """What to simulate, too, now that the chosen launches took ``seen`` (float64); or None.

        The plan that it returns may have other strata, and chooses what this one does and more.
        """
        ...


class OneStep:
    """Base of samplers that choose everything at once.

    ``effort``: what sets how much it simulates, if anything does. ``same_strata``: all seeds give
    the same strata, and the same launches, if these are picked; if they are drawn, then each
    stratum in turn by ``random.choice(launches, n, replace=False)``, with one n for all seeds.
    """

    effort: Effort | None = None
    same_strata = False

    def more(
        self, table: LaunchTable, plan: Plan, seen: np.ndarray, random: np.random.Generator
    ) -> Plan | None:
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
        raise LockstepError(f"{unknown('sampler', name, SAMPLERS)} (known: {', '.join(SAMPLERS)})")
    known = parameters_of(SAMPLERS[name])
    for key in parameters:
        if key not in known:
            said = f"sampler {name}: no parameter is named {key[:80]!r}"
            raise LockstepError(f"{said}; it has {', '.join(known) or 'none'}")
    values = {key: _value(f"{name}: {key}", known[key], parameters[key]) for key in parameters}
    return SAMPLERS[name](**values)


def parameters_of(cls: Any) -> dict[str, Any]:
    """Parameters of a sampler with their types; with those of its ``rest``, to which it hands on
    what it does not name.
    """
    if cls.__init__ is object.__init__:
        return {}
    found = inspect.signature(cls).parameters.values()
    own = {p.name: p.annotation for p in found if p.kind is not p.VAR_KEYWORD}
    return own | (parameters_of(cls.rest) if hasattr(cls, "rest") else {})


def _value(what: str, kind: Any, value: Any) -> Any:
    """A parameter's value if it is of its kind; a whole number may come as 1e9."""
    if isinstance(kind, types.UnionType):
        if value is None:
            return value
        (kind,) = (one for one in get_args(kind) if one is not types.NoneType)
    if kind not in _KINDS:  # a sampler of somebody's own, with types of its own
        return value
    number = isinstance(value, Real) and not isinstance(value, bool)
    if kind is int and number and not isinstance(value, Integral) and value == value // 1:
        return int(value)
    base, words = _KINDS[kind]
    if not isinstance(value, base) or (kind is not bool and isinstance(value, bool)):
        raise LockstepError(f"sampler {what} is {value!r}; expected {words}")
    return value


_KINDS: dict[Any, tuple[type, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    bool: (bool, "yes or no"),
    str: (str, "a text"),
}


def check_every(name: str, every: int) -> None:
    """Raise :class:`LockstepError` unless one launch may stand for so many."""
    if every < 1:
        raise LockstepError(f"{name}: every is {every}; expected a number of launches, from 1 on")


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
    while (further := sampler.more(table, plan, known[plan.chosen], random)) is not None:
        fresh = further.chosen[np.isnan(known[further.chosen])]
        known[fresh] = observe(fresh)
        plan = further
    return plan, known[plan.chosen]
