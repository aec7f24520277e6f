"""Kernel lists for Accel-Sim: the launches of a trace that a plan chooses, and their weights.

Accel-Sim simulates the list; the sum over its launches of their weights times what it counts of
them is the estimate, for plans that expand or take ratios.
"""

import shutil
from pathlib import Path

import pandas as pd

from lockstep.api import is_tracefile_name, load, save, trace_files
from lockstep.device import Device
from lockstep.errors import InputError, LockstepError
from lockstep.files import replacing, unwritable
from lockstep.metrics import output
from lockstep.sampling.chosen import ChosenRecorder
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import table_of
from lockstep.workload import Kernel, MemoryCopy, Workload

LIST, WEIGHTS = "kernelslist.g", "weights.csv"
SUFFIXES = (".traceg", ".traceg.xz", ".traceg.gz")  # what the list of an Accel-Sim run may name
_64_BITS = (1 << 64) - 1


def write_chosen(plan: Plan, trace: str | Path, directory: str | Path, link: bool = False) -> None:
    """Write the kernels of a trace that a plan chooses, as :func:`write_kernels` does.

    Files of Accel-Sim's format are taken as they are; of others they are written. Raises as that
    does, and if the plan is for other launches than those of the trace.
    """
    workload = load(trace)
    if workload.points:
        raise LockstepError(f"{trace}: a plan has chosen these live points already")
    plan.check_table(table_of(workload.kernels))
    if not is_tracefile_name(trace) and not _is_one_file(trace):
        write_kernels(plan, trace, directory, link)
        return
    if link:
        raise LockstepError(f"{trace} is one file: there are no files of kernels to link to")
    _check_weights(plan)
    chosen = {workload.kernels[number].id for number in plan.chosen.tolist()}
    commands = [c for c in workload.commands if not isinstance(c, Kernel) or c.id in chosen]
    save(Workload(workload.name, commands), directory)
    files = [command for command in trace_files(directory) if isinstance(command, Path)]
    _write_weights(plan, [file.name for file in files], Path(directory))


def _is_one_file(trace: str | Path) -> bool:
    """Whether a trace is one file, with all kernels or the only one."""
    return Path(trace).is_file() and not Path(trace).name.startswith("kernelslist")


def write_kernels(plan: Plan, trace: str | Path, directory: str | Path, link: bool = False) -> None:
    """Write the chosen trace files, a ``kernelslist.g`` of them and ``weights.csv``.

    ``trace``: a ``kernelslist.g``, or its directory, with all launches that the plan is for;
    ``directory``: where to, another one; ``link``: symbolic links instead of copies. All copies to
    the GPU stay in the list. ``weights.csv`` has a row a launch of the list: ``kernel``, its file,
    ``launch``, its place in the trace, from 0 on, and ``weight``, for how many launches it stands.
    Raises :class:`LockstepError` if the plan is not for this trace or has no weights, and
    :class:`InputError` for whatever is wrong with the files.
    """
    _check_weights(plan)
    commands = trace_files(trace)
    files = [command for command in commands if isinstance(command, Path)]
    if len(files) != len(plan):
        raise LockstepError(
            f"the plan is for {len(plan)} launches, and {trace} has {len(files)}: "
            "plan for this trace"
        )
    chosen = {int(launch): files[launch] for launch in plan.chosen}
    target = Path(directory)
    _check(list(chosen.values()), target)
    for file in dict.fromkeys(chosen.values()):
        _place(file, target / file.name, link)
    lines, launch = [], -1
    for command in commands:
        if isinstance(command, MemoryCopy):
            lines.append(f"MemcpyHtoD,0x{command.address & _64_BITS:016x},{command.bytes}\n")
            continue
        launch += 1
        if launch in chosen:
            lines.append(command.name + "\n")
    _write_weights(plan, [file.name for file in chosen.values()], target)
    output.write_text(target / LIST, "".join(lines))  # last: what it names is there


class ListRecorder(ChosenRecorder):
    """Writes the launches of a plan, all copies and ``weights.csv`` to a directory for Accel-Sim.

    See :class:`ChosenRecorder` and :func:`write_kernels`; ``tracer`` as of :func:`lockstep.save`.
    """

    def __init__(self, device: Device, path: str | Path, plan: Plan, tracer: int = 6):
        _check_weights(plan)
        if is_tracefile_name(path):
            raise LockstepError(f"{path}: a kernel list for Accel-Sim is a directory")
        super().__init__(device, path, plan, tracer)

    def _write(self) -> None:
        super()._write()
        files = [command for command in trace_files(self.path) if isinstance(command, Path)]
        _write_weights(self._plan, [file.name for file in files], self.path)


def _check_weights(plan: Plan) -> None:
    if plan.estimator == "regression":
        raise LockstepError("a regression estimate has no weights: plan with expansion or ratio")


def _write_weights(plan: Plan, names: list[str], directory: Path) -> None:
    """``names``: of the files of the launches that the plan chooses."""
    rows = {"kernel": names, "launch": plan.chosen, "weight": plan.weights()}
    output.write_csv(directory / WEIGHTS, pd.DataFrame(rows))


def _check(files: list[Path], target: Path) -> None:
    """Raise an error if files cannot be put into a directory by their names."""
    by_name: dict[str, Path] = {}
    for file in files:
        if not file.name.endswith(SUFFIXES):
            raise InputError(file, "", f"Accel-Sim reads {', '.join(SUFFIXES)}: convert the trace")
        if by_name.setdefault(file.name, file) != file:
            raise InputError(file, "", f"has the name of {by_name[file.name]}, too")
        if file.parent.resolve() == target.resolve():
            raise LockstepError(f"{target} is the trace itself: name another directory")


def _place(file: Path, target: Path, link: bool) -> None:
    """Put a copy of a file, or a link to it, where there may be an earlier one."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if link or target.is_symlink():  # a copy into a link would replace what it leads to
            target.unlink(missing_ok=True)
        if link:
            target.symlink_to(file.resolve())
            return
    except OSError as error:
        raise unwritable(target, error) from error
    try:
        source = file.open("rb")
    except OSError as error:
        raise InputError(file, "", f"cannot read: {error.strerror or error}") from error
    with source, replacing(target) as temporary, temporary.open("wb") as copy:
        shutil.copyfileobj(source, copy)
