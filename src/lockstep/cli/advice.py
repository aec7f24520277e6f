"""``--advice``, ``--what-if`` and ``--lift``: why a program is slow, and what it would gain."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from lockstep.cli.progress import Progress
    from lockstep.metrics.result import Result


class AdviceChoice(NamedTuple):
    """What was asked for: advice, and which limits are lifted, see :func:`lockstep.advise`."""

    wanted: bool
    lifts: str | tuple[str, ...]
    same: dict[str, Any]  # arguments of the simulation, which those without a limit have too


def taken(options: dict[str, Any], policies: dict[str, Any]) -> AdviceChoice:
    """Take what the options say out of them; raises for a limit that does not exist."""
    from lockstep.advice.lifts import lift

    asked, what_if = options.pop("advice"), options.pop("what_if")
    names = options.pop("lifted")
    lifts: str | tuple[str, ...] = "found" if what_if else ()
    if names == "all":
        lifts = names
    elif names is not None:
        lifts = tuple(name.strip().replace("-", "_") for name in names.split(","))
        for name in lifts:
            lift(name)
    if lifts and options.get("limit_cycles"):
        raise click.UsageError("--what-if compares cycles: without --limit-cycles")
    same = {name: options[name] for name in _SAME if name in options}
    return AdviceChoice(asked or bool(lifts), lifts, same | policies)


_SAME = ("threads", "kernels", "limit_instructions")


@contextmanager
def recorded(choice: AdviceChoice, record: Path | None) -> Iterator[Path | None]:
    """Where a program is recorded: what is to be simulated again needs a trace of it."""
    from lockstep import api

    if not choice.lifts:
        yield record
    elif record is None:
        with TemporaryDirectory(prefix="lockstep-") as folder:
            yield Path(folder) / "program.lst"
    elif api.is_tracefile_name(record):
        yield record
    else:
        raise click.UsageError(f"--what-if simulates what was recorded: --record {record}.lst")


def give(
    choice: AdviceChoice, result: "Result", progress: "Progress", trace: Path | None = None
) -> None:
    """Let a result have the advice that was asked for; ``trace``: of a program that was run."""
    if not choice.wanted:
        return
    from lockstep import api
    from lockstep.advice.advise import advise

    if not choice.lifts:
        advise(result)
        return
    again = api.load(trace) if trace else None
    told = None
    if progress.shown:
        told = _told(progress)
    advise(result, choice.lifts, again, told=told, **choice.same)


def _told(progress: "Progress") -> Callable[[str], None]:
    return lambda name: progress.notice(f"What if: without {name.replace('_', ' ')} as a limit")
