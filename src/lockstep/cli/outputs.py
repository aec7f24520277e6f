"""What a run leaves at its end: the files that were asked for, and the summary."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from lockstep.cli.console import AS_NEEDED, console_of, is_taken
from lockstep.cli.parameters import check_table, check_writable
from lockstep.cli.sampled import estimate_line, show_estimate
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.metrics.result import Result
    from lockstep.sampling.running import SampledRun


class OutputFiles(msgspec.Struct, frozen=True):
    """Where a run writes what, by the names of the options; None: it was not asked for."""

    json_file: Path | None = None
    out: Path | None = None
    timeline: Path | None = None
    report: Path | None = None
    source_table: Path | None = None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Self:
        """Take them out of a command's options, of which it may have some only."""
        return cls(**{name: options.pop(name, None) for name in cls.__struct_fields__})

    def check(self) -> None:
        """Raise before a long run if one of them could not be written after it."""
        check_writable(self.json_file)
        check_writable(self.timeline)
        check_table(self.source_table)
        check_writable(self.report)
        check_writable(self.out, directory=True)

    @property
    def take_stdout(self) -> bool:
        """Whether one of them is standard output: nothing else may go there."""
        return is_taken(self.json_file, self.timeline, self.report)


def write_and_show(
    result: "Result", files: OutputFiles, detail: str, outcome: "SampledRun | None" = None
) -> None:
    """Write the files that were asked for, and print the summary where it is in no file's way.

    ``detail``: "full" or "short"; "" prints none. ``outcome``: an estimate of all launches, which
    goes with the result.
    """
    result.estimate = outcome.document() if outcome else {}
    steps = writes(result, files, outcome)
    if detail:
        steps.append(lambda: show(result, files, detail == "short"))
    take_all(steps)
    if outcome and detail:
        show_estimate(outcome, detail, err=files.take_stdout)


def writes(
    result: "Result", files: OutputFiles, outcome: "SampledRun | None" = None
) -> list[Callable[[], object]]:
    """A step for each file that was asked for."""
    steps: list[Callable[[], object]] = []
    if files.json_file:
        steps.append(partial(result.to_json, files.json_file))
    if files.out:
        steps.append(partial(save, result, files.out, outcome))
    if files.timeline:
        steps.append(partial(draw, result, files.timeline))
    if files.source_table:
        steps.append(partial(tabulate, result, files.source_table))
    if files.report:
        steps.append(partial(write_page, result, files.report))
    return steps


def save(result: "Result", out: Path, outcome: "SampledRun | None" = None) -> None:
    """Write tables, manifest and summary; of a sample it begins with the estimate."""
    from lockstep.report.summary import summary

    text = summary(result, AS_NEEDED)
    result.save(out, f"{estimate_line(outcome)}\n{text}" if outcome else text)


def draw(result: "Result", file: Path) -> None:
    """Write the timeline."""
    from lockstep.report.timeline import write_timeline

    write_timeline(result, file)


def tabulate(result: "Result", file: Path) -> None:
    """Write the table of instructions."""
    from lockstep.metrics.output import write_table

    write_table(file, result.source)


def write_page(result: "Result", file: Path) -> None:
    """Write the page of HTML."""
    from lockstep.report.page.write import write_report

    write_report(result, file)


def take_all(steps: Sequence[Callable[[], object]]) -> None:
    """Take every step, also after one that fails: a run may have taken hours.

    Raises one error for all that failed.
    """
    problems = []
    for step in steps:
        try:
            step()
        except LockstepError as error:
            problems.append(str(error))
    if problems:
        raise LockstepError("; ".join(problems))


def show(result: "Result", files: OutputFiles, short: bool) -> None:
    """Print the summary to stdout, or to stderr where a file takes stdout."""
    from lockstep.report.summary import print_summary

    console = console_of(stderr=files.take_stdout)
    print_summary(result, console, short)
    if result.counts_instructions:
        from lockstep.report.source import print_source

        print_source(result, console)
    from lockstep.report import advice as advised

    if result.advice:
        advised.print_advice(result, console)
    elif not short:
        advised.print_hint(result, console)
