"""Any other table of measurements: a column names the program or the kernel, others have metrics.

Metrics have lockstep's names, or one of those below. Without a column of kernels and of launches,
a row is a program.
"""

import re
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
    sections = [name for name in table.columns if name.lower() in SECTION and name != program]
    numbers: dict[tuple, int] = {}
    for record in table.records():
        name = record[program] if program else ""
        section = tuple((column, record[column]) for column in sections)
        key = name, section
        numbers[key] = numbers.get(key, 0) + 1
        yield Launch(
            name,
            record[kernel] if kernel else "",
            numbers[key] if kernel or launch else 0,
            _values(record, metrics),
            dimensions(record.get("grid", "")),
            dimensions(record.get("block", "")),
            section,
        )


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


def _values(record: dict[str, str], metrics: dict[str, tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for column, (name, factor) in metrics.items():
        value = number(record[column])
        if value is not None:
            found.setdefault(name, value * factor)
    return nsight.named(found)
