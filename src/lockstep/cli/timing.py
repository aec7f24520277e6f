"""``--timing``: which launches of a program are simulated."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import msgspec

from lockstep.errors import InputError, LockstepError

if TYPE_CHECKING:
    from lockstep.sampling.running import Chooser

_WHY = {
    "kernels": "both choose kernels",
    "checkpoint_dir": "what has chosen so far is in no checkpoint",
    "resume": "what has chosen so far is in no checkpoint",
    "plot": "the plot is of the longest of all kernels",
    "outside": "kernels that are left out warm the L2, which the other simulator has",
    "what_if": "whole runs are compared",
}
"""Why options do not go together with a sample."""


class ChosenTiming(msgspec.Struct, frozen=True):
    """``simulates``: whether anything is; ``chooser``: what says which launches, None for all."""

    simulates: bool
    chooser: "Chooser | None" = None


class TimingChoice(click.ParamType):
    """Which launches are simulated: all, none, a sample, or those of a plan."""

    name = "full|none|sample:...|plan:FILE"

    def convert(self, value, param, ctx) -> ChosenTiming:
        """Parse the choice; a plan is read here."""
        if isinstance(value, ChosenTiming):
            return value
        if value in ("full", "none"):
            return ChosenTiming(value == "full")
        from lockstep.sampling.running.choice import chooser_of

        try:
            return ChosenTiming(True, chooser_of(str(value)))
        except InputError:
            raise
        except LockstepError as error:
            self.fail(str(error), param, ctx)


def check_together(option: str, reasons: Mapping[str, str], given: Mapping[str, object]) -> None:
    """Refuse options that do not go together with one; ``given``: by name, true if they are."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"{option} and --{name.replace('_', '-')}: {reasons[name]}")


def check_timing(timing: ChosenTiming, **options: object) -> None:
    """Refuse what cannot be timed so; ``options``: by name, true if given."""
    if not timing.simulates:
        raise click.UsageError("--timing none: of a trace there is nothing else to be done")
    if timing.chooser:
        check_together("--timing", _WHY, options)
