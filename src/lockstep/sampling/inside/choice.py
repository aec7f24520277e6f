"""A rule inside launches, as a text says it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lockstep.errors import LockstepError
from lockstep.sampling.inside.durations import Durations
from lockstep.sampling.inside.epochs import Epochs
from lockstep.sampling.inside.launches import Inside, InsideRule
from lockstep.sampling.inside.projection import cta_instructions
from lockstep.sampling.inside.stability import Stability
from lockstep.sampling.inside.windows import Windows
from lockstep.workload import Workload

ALL = {"pairs": int, "seed": int}  # options of every rule: of :class:`.Inside`


class _Rule(NamedTuple):
    """What makes a rule, and the types of the options that a text may have."""

    make: Callable[..., InsideRule]
    options: Mapping[str, Callable[[str], Any]]


def _levels(text: str) -> list[str]:
    return text.split("+")


RULES = {
    "windows": _Rule(Windows, {"speed_up": float}),
    "pkp": _Rule(Stability, {"of": str, "by": str, "threshold": float, "window": int}),
    "photon": _Rule(Durations, {"levels": _levels, "places": str, "warps": int, "executions": int}),
    "tbpoint": _Rule(Epochs, {"distance": float, "agreement": float}),
}
FORMS = f"{', '.join(RULES)}, with options behind a colon: windows:speed_up=8, photon:levels=warps"


def check_rule(text: str) -> None:
    """Raise :class:`LockstepError` for a text that is no rule."""
    name, options, common = _parsed(text)
    known: dict[str, Any] = {"instructions": {}} if name == "tbpoint" else {}
    Inside(RULES[name].make(**options, **known), **common)


def inside_by(text: str, workload: Workload | None = None) -> Inside:
    """The rule that a text says, for a run.

    ``workload``: what will be simulated, where that is known. Raises :class:`LockstepError` for a
    text that is none, and for one that needs a workload where there is none.
    """
    name, options, common = _parsed(text)
    if name == "tbpoint":
        if workload is None:
            raise LockstepError(
                f"{text!r} reads the instructions of all CTAs before the launch, which are known "
                "of a trace alone: lockstep simulate"
            )
        options["instructions"] = {k.id: cta_instructions(k) for k in workload.kernels}
    return Inside(RULES[name].make(**options), name=text, **common)


def simulation_options(text: str, workload: Workload | None = None) -> dict[str, Any]:
    """What a simulation takes for the rule of a text, as of ``inside_by``."""
    inside = inside_by(text, workload)
    return {"stop": inside, "stop_interval": inside.bin}


def _parsed(text: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The name of a rule, its options, and those that every rule has."""
    name, colon, rest = text.partition(":")
    rule = RULES.get(name)
    if rule is None:
        raise LockstepError(f"{text!r}; expected one of: {FORMS}")
    options: dict[str, Any] = {}
    common: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, _, value = part.partition("=")
        make = ALL.get(key) or rule.options.get(key)
        if make is None:
            known = ", ".join([*rule.options, *ALL])
            raise LockstepError(f"{text!r}: {name} has no {key!r}; it has {known}")
        try:
            (common if key in ALL else options)[key] = make(value)
        except ValueError:
            raise LockstepError(f"{text!r}: {key} is {value!r}, which is no number") from None
    return name, options, common
