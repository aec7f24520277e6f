"""Which launches of a program are simulated, as a text says it."""

import re
from pathlib import Path

from lockstep.errors import InputError, LockstepError
from lockstep.sampling.plan import Plan
from lockstep.sampling.running.chooser import Chooser, Warmth
from lockstep.sampling.running.follower import Follower
from lockstep.sampling.running.online import Online

FULL = "full"
_NUMBER = re.compile(r"(error|confidence)=(\d{1,9}(?:\.\d{1,9})?)(%?)", re.ASCII)
_OTHER = re.compile(r"seed=(\d{1,9})|warm=(all|none)", re.ASCII)


def chooser_of(text: str, seed: int | None = None) -> Chooser | None:
    """What chooses: ``full`` (None: all), ``sample:error=1%``, ``sample:10`` or ``plan:FILE``.

    A file may be followed by ``,warm=none``. ``seed``: of a sample whose text has none. A plan is
    read here. Raises :class:`InputError` if it cannot be, :class:`LockstepError` for other texts.
    """
    if text == FULL:
        return None
    kind, _, rest = text.partition(":")
    if not rest or kind not in ("sample", "plan"):
        forms = "full, none, sample:error=1%, sample:10 or plan:FILE"
        raise LockstepError(f"{text!r}; expected {forms}")
    if kind == "plan":
        path, warmth = plan_of(rest)
        return Follower(Plan.read(path), warm=warmth)
    try:
        if re.fullmatch(r"\d{1,9}", rest, re.ASCII):
            options: dict = {"every": int(rest)}
        else:
            options = _options(rest)
        return Online(**({} if seed is None else {"seed": seed}) | options)
    except InputError:
        raise
    except LockstepError as error:
        raise LockstepError(f"{text!r}: {error}") from None


def plan_of(rest: str) -> tuple[Path, Warmth]:
    """The file of a plan, and what the launches do that it leaves out; ``rest``: behind ``plan:``.

    A name may end in a comma and anything but a known ``warm=``.
    """
    path, comma, warmth = rest.rpartition(",warm=")
    if comma and warmth in [each.value for each in Warmth]:
        return Path(path), Warmth(warmth)
    return Path(rest), Warmth.ALL


def _options(rest: str) -> dict:
    options: dict = {}
    for part in rest.split(","):
        if found := _NUMBER.fullmatch(part):
            options[found[1]] = float(found[2]) / (100 if found[3] else 1)
        elif found := _OTHER.fullmatch(part):
            options |= {"seed": int(found[1])} if found[1] else {"warm": Warmth(found[2])}
        else:
            raise LockstepError("expected e.g. sample:error=1%,seed=3,warm=none")
    return options
