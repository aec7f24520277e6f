"""``--timing``: which launches of a program are simulated."""

from typing import TYPE_CHECKING

import click
import msgspec

from lockstep.errors import InputError, LockstepError

if TYPE_CHECKING:
    from lockstep.sampling.running import Chooser


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
