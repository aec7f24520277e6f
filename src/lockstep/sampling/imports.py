"""Launch tables of measurements: what Nsight Systems, Nsight Compute or nvprof wrote as CSV.

Any other table will do that has a column of kernel names and one of times, as
:mod:`lockstep.correlation.tables` knows them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from lockstep.correlation import nsight, nsys, nvprof, tables
from lockstep.correlation.csvfile import Table, number
from lockstep.correlation.hardware import chosen, kind_of, read_profile
from lockstep.correlation.kernels import full_name, same_kernel
from lockstep.correlation.launches import CYCLES, DURATION, Launch
from lockstep.errors import InputError, LockstepError
from lockstep.sampling.features import INSTRUCTIONS
from lockstep.sampling.table import TIME, LaunchTable

SOURCES = {nsys: "nsys", nsight: "ncu", nvprof: "nvprof", tables: ""}
_WHERE_TIMES_ARE = {
    nsys: " or ".join(nsys.TIMES),
    nsight: f"{CYCLES} or {DURATION}",
    nvprof: "Duration or elapsed_cycles_pm",
    tables: f"cycles, ns, {CYCLES} or {DURATION}",
}
_NEEDS = {
    "launch__registers_per_thread": "registers",
    "launch__shared_mem_per_block": "shared_bytes",
}
_COLUMNS = ("registers", "shared_bytes", "stream")  # of a table that is no profiler's
_INSTRUCTIONS = "sm__inst_executed.sum"  # what measurements have, as lockstep.correlation calls it
_ATOMICS = "sim__inst_global_atomic.sum"
_PARTS_OF_ATOMICS = (
    ("smsp__inst_executed_op_global_atom.sum", "smsp__sass_inst_executed_op_global_atom.sum"),
    ("smsp__inst_executed_op_global_red.sum", "smsp__sass_inst_executed_op_global_red.sum"),
)


def read(path: str | Path, where: Mapping[str, str] | None = None) -> LaunchTable:
    """The launch table in a profiler's CSV file, with times, and with the counters that it has.

    ``time`` is in cycles if every launch has them, else in ns. ``where`` keeps the rows that have
    these values in these columns. The program or model that a table names is the ``range``. Raises
    :class:`InputError` if the file is damaged, or says of no column what is needed.
    """
    table = chosen(read_profile(path), where or {})
    kind = kind_of(table)
    launches: list[Launch] = list(kind.launches(table))
    if not launches:
        raise InputError(path, "", "has no launches" + " left" * bool(where))
    if not launches[0].kernel:
        names = ", ".join(tables.KERNEL)
        raise InputError(path, "", f"has no column of kernels: {names}")
    frame = _light(launches)
    name, unit = _time(table, kind, launches)
    frame[TIME] = [launch.metrics[name] for launch in launches]
    frame = frame.assign(**_counters(launches))
    if kind is tables:
        table = tables.in_order(table)
        frame = frame.assign(**_others(table, len(frame)))
    try:
        return LaunchTable(frame, unit, SOURCES[kind] or Path(path).name)
    except LockstepError as error:
        raise InputError(path, "", str(error)) from None


def merge(table: LaunchTable, measured: LaunchTable) -> LaunchTable:
    """A program's table with the times of another: of the same launches, in the same order.

    Raises :class:`LockstepError` if there are more or fewer, or a kernel has another name, or
    another grid or block where these were measured.
    """
    if len(table) != len(measured):
        raise LockstepError(
            f"the program has {len(table)} launches, and {len(measured)} were measured: times "
            "belong to launches by their order"
        )
    pairs = zip(table.frame["name"], measured.frame["name"])
    for k, (name, other) in enumerate(pairs):
        if not same_kernel(name, other):
            raise LockstepError(
                f"launch {k} of the program is {full_name(name)}, and {full_name(other)} was "
                "measured"
            )
    _check_sizes(table.frame, measured.frame)
    frame = table.frame.assign(**{TIME: measured.times})
    return LaunchTable(frame, measured.unit, measured.source)


def _check_sizes(frame: pd.DataFrame, measured: pd.DataFrame) -> None:
    """A program with other inputs has the same kernels, and not these times."""
    for name in ("grid", "block"):
        columns = [f"{name}_{axis}" for axis in "xyz"]
        ours, theirs = (f[columns].to_numpy(np.int64) for f in (frame, measured))
        if (theirs == 1).all():  # as where a table does not say
            continue
        for k in np.flatnonzero((ours != theirs).any(axis=1))[:1]:
            here, there = (tuple(sizes[k].tolist()) for sizes in (ours, theirs))
            raise LockstepError(
                f"launch {k} of the program, {full_name(frame['name'].iloc[k])}, has {name} "
                f"{here}, and {there} was measured"
            )


def _light(launches: Sequence[Launch]) -> pd.DataFrame:
    """What all launches have of level 0."""
    columns: dict[str, list] = {
        "name": [launch.kernel for launch in launches],
        "range": [launch.program for launch in launches],
        "stream": [launch.stream for launch in launches],
    }
    for name in ("grid", "block"):
        sizes = [getattr(launch, name) or (1, 1, 1) for launch in launches]
        for axis, values in zip("xyz", zip(*sizes)):
            columns[f"{name}_{axis}"] = list(values)
    return pd.DataFrame(columns)


def _time(table: Table, kind: ModuleType, launches: Sequence[Launch]) -> tuple[str, str]:
    """The metric that is the time of all launches, and its unit."""
    for name, unit in ((CYCLES, "cycles"), (DURATION, "ns")):
        if all(name in launch.metrics for launch in launches):
            return name, unit
    times = {CYCLES, DURATION}
    without = [k for k, launch in enumerate(launches) if not times & launch.metrics.keys()]
    if not without:
        raise InputError(table.path, "", "some launches have cycles, others have nanoseconds")
    known, first = _WHERE_TIMES_ARE[kind], without[0]
    if len(without) == len(launches):
        raise InputError(table.path, "", f"has no column of times: {known}")
    name = full_name(launches[first].kernel)
    raise InputError(table.path, "", f"launch {first} ({name}) has no time: {known}")


def _counters(launches: Sequence[Launch]) -> dict[str, np.ndarray]:
    """The counters that every launch has, under our names; registers and shared memory."""
    names = [n for n in launches[0].metrics if "__" in n]
    names = [n for n in names if all(n in launch.metrics for launch in launches)]
    values = {n: np.array([launch.metrics[n] for launch in launches]) for n in names}
    if _INSTRUCTIONS in values:
        values.setdefault(INSTRUCTIONS, values[_INSTRUCTIONS])
    atomics, reductions = (
        next((values[n] for n in same if n in values), None) for same in _PARTS_OF_ATOMICS
    )
    if atomics is not None:
        values.setdefault(_ATOMICS, atomics if reductions is None else atomics + reductions)
    needs = {column: values.pop(n) for n, column in _NEEDS.items() if n in values}
    for name in (CYCLES, DURATION):
        values.pop(name, None)
    return values | needs


def _others(table: Table, launches: int) -> dict[str, np.ndarray]:
    """Columns of level 0 that any table may have."""
    if len(table.rows) != launches:
        return {}
    found = {}
    for name in set(_COLUMNS).intersection(table.columns):
        values = [number(record[name]) for record in table.records()]
        if None not in values:
            found[name] = np.array(values, np.float64)
    return found
