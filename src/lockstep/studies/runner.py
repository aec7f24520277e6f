"""Programs run on variants of GPUs, one after the other or in several processes.

What a table of earlier runs has of the same code, program, size and GPU is not run again.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lockstep import api
from lockstep.campaigns import code_digest, evaluated, executor
from lockstep.errors import LockstepError, SpecError
from lockstep.gpus.library import digest
from lockstep.studies.description import CYCLES, SIZES, Program, Study, Variant
from lockstep.studies.library import find
from lockstep.studies.outcome import Outcome
from lockstep.studies.programs import Programs, of_study
from lockstep.studies.rows import StudyRow, read_rows, write_rows

Say = Callable[[str], None]
_RUNNING = "sim__cycles_running"


class Task(NamedTuple):
    """One run to make; ``row`` is what is known of it before."""

    row: StudyRow
    changes: tuple[str, ...]
    counters: tuple[str, ...]
    programs: Programs


def study(
    name: str,
    *,
    size: str = "large",
    gpu: str | Path | None = None,
    overrides: Iterable[str] = (),
    jobs: int = 1,
    table: Path | None = None,
    say: Say | None = None,
    binaries: Path | None = None,
) -> Outcome:
    """Run a study.

    ``gpu`` takes the place of the study's own, in all variants but those of GPUs of their own;
    ``overrides``, such as ``["sm.count=40"]``, change all of them, before what a variant changes.
    ``jobs``: processes. ``table``: a CSV file that is written after each run; what it has already
    of the same code, programs and GPUs is not run again. ``say`` is called with a line of text
    for each run. ``binaries``: the folder of those that the study's programs need. Raises
    :class:`LockstepError`.
    """
    chosen = find(name)
    if size not in SIZES:
        raise LockstepError(f"size is {size}; expected {' or '.join(SIZES)}")
    if jobs < 1:
        raise LockstepError(f"jobs is {jobs}; expected at least 1")
    base, changes = str(gpu or chosen.gpu), tuple(overrides)
    tasks = list(_tasks(chosen, of_study(chosen, binaries), size, base, changes))
    done = _known(table, tasks) if table else {}
    told = say or (lambda text: None)
    if done:
        told(f"{name}: {len(done)} of {len(tasks)} runs are in {table}")
    waiting = [task for task in tasks if task.row.key not in done]
    for n, row in enumerate(_run_all(waiting, jobs), len(done) + 1):
        told(f"{name}: {n} of {len(tasks)}: {row.program} on {row.variant}")
        done[row.key] = row
        if table:
            write_rows(table, _in_order(tasks, done))
    measured = {} if changes else dict(chosen.measured(api.gpu(base).name, size))
    return Outcome(chosen, size, base, _in_order(tasks, done), measured)


def _tasks(
    chosen: Study, programs: Programs, size: str, base: str, overrides: tuple[str, ...]
) -> Iterator[Task]:
    for program in chosen.programs:
        for variant in chosen.variants:
            gpu = variant.gpu or base
            yield _task(chosen, programs, size, program, variant, gpu, overrides)


def _task(
    chosen: Study,
    programs: Programs,
    size: str,
    program: Program,
    variant: Variant,
    gpu: str,
    overrides: tuple[str, ...],
) -> Task:
    changes = (*overrides, *variant.changes)
    items: int = getattr(program, size)
    try:
        spec = api.gpu(gpu, changes)
    except SpecError as error:
        raise SpecError(f"variant {variant.name!r} of {chosen.name}: {error}") from error
    parts = (code_digest(), programs.text(program.name, spec), items, digest(spec))
    key = hashlib.sha256(repr((*parts, variant.name, size)).encode()).hexdigest()[:16]
    said = " ".join(changes)
    row = StudyRow(chosen.name, size, program.name, items, variant.name, gpu, said, key, {})
    return Task(row, changes, chosen.counters, programs)


def _known(table: Path, tasks: list[Task]) -> dict[str, StudyRow]:
    """The rows that a table has of these runs, by key."""
    if not table.exists():
        return {}
    wanted = {task.row.key: task.counters for task in tasks}
    return {
        row.key: row
        for row in read_rows(table)
        if row.key in wanted and row.counters.keys() >= {CYCLES, *wanted[row.key]}
    }


def _in_order(tasks: list[Task], done: dict[str, StudyRow]) -> list[StudyRow]:
    return [done[task.row.key] for task in tasks if task.row.key in done]


def _run_all(tasks: list[Task], jobs: int) -> Iterator[StudyRow]:
    """The rows as they are done."""
    if jobs == 1 or len(tasks) < 2:
        yield from map(run, tasks)
        return
    workers, ended = executor("local", counted, min(jobs, len(tasks))), False
    try:
        for number, outcome, _ in evaluated(tasks, workers):
            row = tasks[number].row
            if outcome.error:
                raise LockstepError(f"{row.program} on {row.variant}: {outcome.error}")
            yield replace(
                row, counters={n: v for n, v in outcome.values.items() if not isinstance(v, str)}
            )
        ended = True
    finally:
        workers.close(now=not ended)


def counted(task: Task) -> dict[str, float]:
    """The counters of one program on one variant."""
    return run(task).counters


def run(task: Task) -> StudyRow:
    """Run one program on one variant."""
    from lockstep.device import Device

    row, gpu = task.row, api.gpu(task.row.gpu, task.changes)
    with Device(gpu, timing=True, name=row.program) as device:
        task.programs.run(device, row.program, row.items)
        total = device.result.total
    known = {name: total.get(name, math.nan) for name in task.counters}
    counters = {CYCLES: total[_RUNNING]} | known
    return replace(row, counters=counters)
