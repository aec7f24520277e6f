"""``--inside``: launches that are simulated in part, by a rule."""

from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.parameters import CheckedText
from lockstep.cli.timing import ChosenTiming, check_together

if TYPE_CHECKING:
    from lockstep.sampling.inside import Inside
    from lockstep.workload import Workload


def _check_rule(text: str) -> None:
    """Refuse what is no rule; what it needs to know of a workload comes later."""
    from lockstep.sampling.inside.choice import check_rule

    check_rule(text)


INSIDE = click.option(
    "--inside",
    type=CheckedText("RULE", _check_rule),
    metavar="RULE",
    help="Simulate a part of each launch, and estimate the rest: windows, photon, pkp, or of a "
    "trace tbpoint, with options, windows:speed_up=8.",
)


def inside_options(text: str | None, workload: "Workload | None" = None) -> dict[str, Any]:
    """What a simulation takes for the rule of a text; nothing without one."""
    if text is None:
        return {}
    from lockstep.sampling.inside.choice import simulation_options

    return simulation_options(text, workload)


def check_inside(text: str | None, timing: ChosenTiming, **options: Any) -> None:
    """Refuse what does not go together with a rule; ``options``: by name, True if given."""
    if text is None:
        return
    if not timing.simulates:
        raise click.UsageError("--inside needs --timing: without it nothing is simulated")
    check_together("--inside", _WHY, options)


_WHY = {
    "at_issue": "all CTAs run that are executed as they are simulated",
    "checkpoint_dir": "what a rule remembers is in no checkpoint",
    "resume": "what a rule remembers is in no checkpoint",
    "system": "a rule sees the counters of one GPU",
    "gpus": "a rule sees the counters of one GPU",
    "plot": "the plot is of launches that nothing ends",
    "outside": "what is left out passes through the L2, which the other simulator has",
    "what_if": "whole launches are compared",
}
"""Why options do not go together with a rule."""


def chosen_with(text: str | None, timing: ChosenTiming) -> ChosenTiming:
    """A choice of launches that estimates all of them where a rule lets them run in part."""
    if text is None or timing.chooser is not None or not timing.simulates:
        return timing
    from lockstep.sampling.running import Everything

    return ChosenTiming(True, Everything())


def rule_of(options: dict[str, Any]) -> "Inside | None":
    """The rule among the options of a simulation."""
    return options.get("stop")
