"""Any other table of measurements: a column names the program or the kernel, others have metrics.

Metrics have lockstep's names, or one of those below. Without a column of kernels and of launches,
a row is a program. Launches are counted in their program, from 0 or from 1, or in each kernel.
"""

import re
from collections import Counter
from collections.abc import Iterator

from lockstep.correlation import nsight
from lockstep.correlation.csvfile import Table, dimensions, number
from lockstep.correlation.launches import CYCLES, DURATION, Launch
from lockstep.errors import InputError

PROGRAM = ("program", "benchmark", "workload", "application", "trace", "model", "config")
KERNEL = ("kernel", "kernel name", "name")
LAUNCH = ("launch", "index", "id")
SECTION = ("suite", "size", "args", "params", "pass", "config", "gpu", "tool")

# Other names of metrics, in small letters; and by what they are multiplied.
SAME = {
    "exec_time_sec": (DURATION, 1e9),
    "ns": (DURATION, 1.0),
    "dram_rd": ("dram__sectors_read.sum", 1.0),
    "dram_wr": ("dram__sectors_write.sum", 1.0),
    "dram_reads": ("dram__sectors_read.sum", 1.0),
    "dram_writes": ("dram__sectors_write.sum", 1.0),
    "l2_reads": ("lts__t_sectors_srcunit_tex_op_read.sum", 1.0),
    "l2_writes": ("lts__t_sectors_srcunit_tex_op_write.sum", 1.0),
    "warp_instructions": ("sm__inst_executed.sum", 1.0),
}
Run = tuple[str, tuple[tuple[str, str], ...]]
"""A program, and the section that a row is of."""

_CYCLES = re.compile(r"(?:hw_|hardware_)?(?:elapsed_)?cycles")
_METRIC = re.compile(r"[a-z0-9]+__\w+")


def launches(table: Table) -> Iterator[Launch]:
    """The launches of a table, in its order."""
    program = _column(table, PROGRAM)
    kernel, launch = _column(table, KERNEL), _column(table, LAUNCH)
    if not program and not kernel:
        what = f"names no program and no kernel: no column {', '.join((*PROGRAM, *KERNEL))}"
        raise InputError(table.path, "", what)
    metrics = {name: known for name in table.columns if (known := _metric(name))}
    if not metrics:
        what = "has no cycles and no counter that lockstep knows: docs/correlate.md lists the names"
        raise InputError(table.path, "", what)
    table = in_order(table)
    runs = _runs(table)
    numbers = _numbers(table, runs) if kernel or launch else [0] * len(runs)
    rows = zip(table.lines, table.records(), runs, numbers)
    for line, record, (name, section), count in rows:
        yield Launch(
            name,
            record[kernel] if kernel else "",
            count,
            _values(table, line, record, metrics),
            dimensions(record.get("grid", "")),
            dimensions(record.get("block", "")),
            section,
        )


def in_order(table: Table) -> Table:
    """With the rows of each run of a program in the order of its launches, where they have numbers.

    Where launches are counted in each kernel, nothing says more of the order of different kernels.
    Raises :class:`InputError` for a number that is none, or that a kernel has twice.
    """
    found = _counted(table)
    if not found:
        return table
    kernels, runs = _kernels(table), _runs(table)
    each = _in_each_kernel(runs, found)
    groups = [(run, kernel if run in each else "") for run, kernel in zip(runs, kernels)]
    return table.arranged(list(zip(groups, found)))


def _runs(table: Table) -> list[Run]:
    """Which run of which program each row is of."""
    program = _column(table, PROGRAM)
    sections = [name for name in table.columns if name.lower() in SECTION and name != program]
    return [
        (record[program] if program else "", tuple((name, record[name]) for name in sections))
        for record in table.records()
    ]


def _kernels(table: Table) -> list[str]:
    kernel = _column(table, KERNEL)
    return [record[kernel] if kernel else "" for record in table.records()]


def _counted(table: Table) -> list[int]:
    """The number of each row's launch; none where no column has them.

    The column ``launch`` says nothing else. Others may: they count where all of it are numbers.
    """
    column = _column(table, LAUNCH)
    cells = [record[column] for record in table.records()] if column else []
    found = [int(n) for n in map(number, cells) if n is not None and n >= 0 and n == int(n)]
    if column.lower() == LAUNCH[0]:
        if len(found) < len(cells):
            _refuse_number(table, column)
        _check_once(table, found)
    return found if len(found) == len(cells) else []


def _refuse_number(table: Table, column: str) -> None:
    for line, record in zip(table.lines, table.records()):
        value = number(record[column])
        if value is None or value < 0 or value != int(value):
            what = f"{column} = {record[column][:40]!r}; expected the number of a launch, 0 or more"
            raise InputError(table.path, f"line {line}", what)


def _check_once(table: Table, found: list[int]) -> None:
    first: dict[tuple, int] = {}
    for line, kernel, run, launch in zip(table.lines, _kernels(table), _runs(table), found):
        if other := first.get((run, kernel, launch)):
            what = f"launch {launch}{' of ' * bool(kernel)}{kernel} is on line {other}, too; "
            raise InputError(table.path, f"line {line}", f"{what}delete one of them")
        first[run, kernel, launch] = line


def _in_each_kernel(runs: list[Run], launches: list[int]) -> set[Run]:
    """The runs in which different kernels have launches of one number."""
    seen: set[tuple[Run, int]] = set()
    found = set()
    for key in zip(runs, launches):
        if key in seen:
            found.add(key[0])
        seen.add(key)
    return found


def _numbers(table: Table, runs: list[Run]) -> list[int]:
    """The number of each row's launch in its run, from 1: told by the column, else counted."""
    found = _counted(table) if _column(table, LAUNCH).lower() == LAUNCH[0] else []
    each = _in_each_kernel(runs, found)
    base = 0 if 0 in found else 1
    if each:
        _check_gaps(table, runs, found, each)
    counts: Counter[Run] = Counter()
    numbers = []
    for place, run in enumerate(runs):
        counts[run] += 1
        told = found and run not in each
        numbers.append(found[place] - base + 1 if told else counts[run])
    return numbers


def _check_gaps(table: Table, runs: list[Run], found: list[int], each: set[Run]) -> None:
    """Of what is counted in each kernel the n-th launch has to be the n-th row."""
    next_one: dict[tuple[Run, str], int] = {}
    for line, kernel, run, launch in zip(table.lines, _kernels(table), runs, found):
        due = next_one.get((run, kernel), 0 if 0 in found else 1)
        if run in each and launch != due:
            what = f"launch {launch} of {kernel}, but none is its launch {due}; launches that are "
            what += "counted in each kernel must all be there: count them in the program"
            raise InputError(table.path, f"line {line}", what)
        next_one[run, kernel] = due + 1


def _column(table: Table, names: tuple[str, ...]) -> str:
    """The column that has one of these names, the first name that there is; "" if there is none."""
    by_name = {column.lower(): column for column in reversed(table.columns)}
    return next((by_name[name] for name in names if name in by_name), "")


def _metric(column: str) -> tuple[str, float] | None:
    """What a column's numbers are called here, and are multiplied by."""
    if _METRIC.match(column):
        return column, 1.0
    small = column.lower()
    return (CYCLES, 1.0) if _CYCLES.fullmatch(small) else SAME.get(small)


def _values(
    table: Table, line: int, record: dict[str, str], metrics: dict[str, tuple[str, float]]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for column, (name, factor) in metrics.items():
        value = table.number(line, column, record[column])
        if value is not None:
            found.setdefault(name, value * factor)
    return nsight.named(found)
