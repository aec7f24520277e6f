"""``--timing``: which launches of a program are simulated."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.sampling.running import Chooser

_FORMS = "full, none, sample:error=1%, sample:10 or plan:FILE"
_NUMBER = re.compile(r"(error|confidence)=(\d{1,9}(?:\.\d{1,9})?)(%?)", re.ASCII)
_OTHER = re.compile(r"seed=(\d{1,9})|warm=(all|turn|none)", re.ASCII)


@dataclass(frozen=True)
class ChosenTiming:
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
        kind, _, rest = str(value).partition(":")
        if not rest or kind not in ("sample", "plan"):
            self.fail(f"{value!r}; expected {_FORMS}", param, ctx)
        from lockstep.sampling import Plan
        from lockstep.sampling.running import Follower, Online

        if kind == "plan":
            return ChosenTiming(True, Follower(Plan.read(Path(rest))))
        try:
            if re.fullmatch(r"\d{1,9}", rest, re.ASCII):
                return ChosenTiming(True, Online(every=int(rest)))
            return ChosenTiming(True, Online(**self._options(value, rest, param, ctx)))
        except LockstepError as error:
            self.fail(f"{value!r}: {error}", param, ctx)

    def _options(self, value, rest, param, ctx) -> dict:
        from lockstep.sampling.running import Warmth

        options: dict = {}
        for part in rest.split(","):
            if found := _NUMBER.fullmatch(part):
                options[found[1]] = float(found[2]) / (100 if found[3] else 1)
            elif found := _OTHER.fullmatch(part):
                options |= {"seed": int(found[1])} if found[1] else {"warm": Warmth(found[2])}
            else:
                self.fail(f"{value!r}; expected e.g. sample:error=1%,seed=3,warm=turn", param, ctx)
        return options
