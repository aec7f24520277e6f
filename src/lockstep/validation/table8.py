"""Builds of the programs that Accel-Sim's Table VIII has cycles of, run and compared.

The programs are not part of lockstep. Each is looked for as ``SUITE/NAME``, an executable or a
folder that has it, by the name of the workload or of the program; it runs in its own folder, where
its data should be. ``arguments.csv`` beside the suites (columns suite, workload, arguments) has
arguments where the published ones are not those of a build, or not known.
"""

import csv
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lockstep.correlation.csvfile import read_table
from lockstep.errors import InputError, LockstepError
from lockstep.validation import runs
from lockstep.validation.comparison import Comparison, Figure

GPU = "QV100"
SOURCE = "Quadro V100, Accel-Sim, ISCA 2020, Table VIII"
ARGUMENTS = "arguments.csv"
_COLUMNS = ("suite", "workload", "arguments")
_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the table. ``arguments`` are None where nobody says which were measured."""

    suite: str
    workload: str
    program: str
    arguments: tuple[str, ...] | None
    note: str
    cycles: int
    peer_error: float  # of Accel-Sim, relative

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return f"{self.suite}/{self.workload}"


def published() -> list[Published]:
    """All rows of the table."""
    path = Path(__file__).parent / "data" / "table8.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return [_row(row) for row in csv.DictReader(file)]


def _row(row: dict[str, str]) -> Published:
    known = row["arguments"] != _UNKNOWN
    return Published(
        row["suite"],
        row["workload"],
        row["program"],
        tuple(shlex.split(row["arguments"])) if known else None,
        row["note"],
        int(row["hw_cycles"]),
        float(row["err_accelsim_sass"]) / 100,
    )


def own_arguments(folder: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """What ``arguments.csv`` says, by suite and workload; nothing where there is none."""
    path = folder / ARGUMENTS
    if not path.exists():
        return {}
    table = read_table(path, lambda cells: set(cells) >= set(_COLUMNS))
    if missing := set(_COLUMNS) - set(table.columns):
        raise InputError(path, "", f"has no column {', '.join(sorted(missing))}")
    known, found = {(w.suite, w.workload) for w in published()}, {}
    for line, row in zip(table.lines, table.records()):
        key = row["suite"], row["workload"]
        if key not in known:
            raise InputError(path, f"line {line}", f"{'/'.join(key)} is not in Table VIII")
        try:
            found[key] = tuple(shlex.split(row["arguments"]))
        except ValueError as error:
            raise InputError(path, f"line {line}", f"arguments: {error}") from error
    return found


def program_of(folder: Path, workload: Published) -> Path | None:
    """A workload's program; None where it was not built."""
    names = workload.workload, workload.program
    places = [folder / workload.suite / name for name in names]
    return runs.executable(*places, *(place / inner for place in places for inner in names))


def programs(folder: Path, run: runs.Runner, say: Callable[[str], None]) -> Comparison:
    """Run what is there, and compare its cycles; ``say`` is told of each program that begins."""
    result = Comparison("table8", f"Programs of Accel-Sim's Table VIII on {GPU}: cycles")
    own, errors = own_arguments(folder), []
    for workload, program, arguments in _planned(folder, own, result):
        say(f"{workload.name}: {shlex.join([program.name, *arguments])}")
        try:
            cycles = sum(launch.cycles for launch in run(program, arguments, GPU).launches)
        except LockstepError as error:
            result.skipped.append(f"{workload.name}: {error}")
            continue
        result.figures.append(Figure(workload.name, cycles, workload.cycles, SOURCE))
        errors.append(workload.peer_error)
    result.peer = "Accel-Sim", errors
    return result


def _planned(
    folder: Path, own: Mapping[tuple[str, str], tuple[str, ...]], result: Comparison
) -> Iterator[tuple[Published, Path, tuple[str, ...]]]:
    for workload in published():
        program = program_of(folder, workload)
        arguments = own.get((workload.suite, workload.workload), workload.arguments)
        if program is None:
            result.skipped.append(f"{workload.name}: no {workload.suite}/{workload.program}")
        elif arguments is None:
            what = f"arguments are not published ({workload.note}); {ARGUMENTS} may have them"
            result.skipped.append(f"{workload.name}: {what}")
        else:
            yield workload, program, arguments
