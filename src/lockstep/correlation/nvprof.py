"""nvprof's tables: ``--csv`` with ``--print-gpu-trace``, one row a launch, or with summaries.

A summary has the mean of all launches of a kernel: it stands for as many launches with that value.
"""

from collections.abc import Iterator

from lockstep.correlation.csvfile import Table, number
from lockstep.correlation.kernels import CORRELATION
from lockstep.correlation.launches import CYCLES, DURATION, Launch
from lockstep.correlation.units import factor
from lockstep.errors import InputError

MOST_INVOCATIONS = 1_000_000  # of a kernel

# Events and metrics of nvprof: lockstep's name, and by what they are multiplied.
SAME = {
    "elapsed_cycles_sm": ("sm__cycles_elapsed.sum", 1.0),
    "elapsed_cycles_pm": (CYCLES, 1.0),
    "active_cycles": ("sm__cycles_active.sum", 1.0),
    "inst_executed": ("sm__inst_executed.sum", 1.0),
    "not_predicated_off_thread_inst_executed": ("smsp__thread_inst_executed_pred_on.sum", 1.0),
    "ipc": ("sm__inst_executed.avg.per_cycle_active", 1.0),
    "achieved_occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active", 100.0),
    "gld_transactions": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1.0),
    "gst_transactions": ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1.0),
    "local_load_transactions": ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 1.0),
    "local_store_transactions": ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 1.0),
    "l2_tex_read_transactions": ("lts__t_sectors_srcunit_tex_op_read.sum", 1.0),
    "l2_tex_write_transactions": ("lts__t_sectors_srcunit_tex_op_write.sum", 1.0),
    "dram_read_transactions": ("dram__sectors_read.sum", 1.0),
    "dram_write_transactions": ("dram__sectors_write.sum", 1.0),
    "dram_read_bytes": ("dram__bytes_read.sum", 1.0),
    "dram_write_bytes": ("dram__bytes_write.sum", 1.0),
    "Duration": (DURATION, 1.0),
}
_TRACE = {"Device", "Duration", "Name"}
_NAMES = ("Metric Name", "Event Name")


def is_head(cells: list[str]) -> bool:
    """Whether these are the columns of such a table."""
    return {"Device", "Kernel"} <= set(cells) or set(cells) >= _TRACE


def launches(table: Table) -> Iterator[Launch]:
    """The launches of a table, in its order."""
    yield from _summary(table) if "Invocations" in table.columns else _trace(table)


def _factor(table: Table, line: int, name: str, unit: str) -> float | None:
    """What a column is multiplied by; None where it is not read."""
    if name not in SAME:
        return None
    found = factor(unit, SAME[name][0] == DURATION)
    if found is None:
        table.refuse_unit(line, name, unit)
    return found


def _named(values: dict[str, float]) -> dict[str, float]:
    known = ((SAME[name], value) for name, value in values.items() if name in SAME)
    return {name: value * factor for (name, factor), value in known}


def _trace(table: Table) -> Iterator[Launch]:
    """The row of units names no device; copies have no grid, and no counters."""
    kernel = "Kernel" if "Kernel" in table.columns else "Name"
    units, count = {name: _factor(table, 0, name, "") for name in table.columns}, 0
    for line, record in zip(table.lines, table.records()):
        if not record["Device"]:
            units = {name: _factor(table, line, name, unit) for name, unit in record.items()}
            continue
        if not record[kernel] or record[kernel].startswith("[CUDA mem"):
            continue
        count += 1
        values = {
            name: value * unit
            for name, unit in units.items()
            if unit is not None and (value := table.number(line, name, record[name])) is not None
        }
        grid, block = (_size(record, what) for what in ("Grid", "Block"))
        name = CORRELATION.sub("", record[kernel])
        yield Launch("", name, count, _named(values), grid, block)


def _size(record: dict[str, str], what: str) -> tuple[int, ...]:
    found = [number(record.get(f"{what} {axis}", "")) for axis in "XYZ"]
    sizes = tuple(int(size) for size in found if size is not None)
    return sizes if len(sizes) == len(found) else ()


def _summary(table: Table) -> Iterator[Launch]:
    kernels: dict[str, dict[str, float]] = {}
    times: dict[str, int] = {}
    for line, name, record in _means(table):
        invocations = number(record["Invocations"])
        if invocations is None or not 0 <= invocations <= MOST_INVOCATIONS:
            what = f"Invocations = {record['Invocations']!r}; expected a number of launches"
            raise InputError(table.path, f"line {line}", what)
        values = kernels.setdefault(record["Kernel"], {})
        times[record["Kernel"]] = int(invocations)
        if name in SAME and (value := table.number(line, name, record["Avg"])) is not None:
            values.setdefault(name, value)
    count = 0
    for kernel, values in kernels.items():
        for _ in range(times[kernel]):
            count += 1
            yield Launch("", kernel, count, _named(values))


def _means(table: Table) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Line, event or metric, and cells of each row: the events have a table, the metrics another.

    The head of the second is among the rows of the first.
    """
    columns, kind = table.columns, _kind(table, table.columns)
    for line, row in zip(table.lines, table.rows):
        if is_head(row):
            columns, kind = row, _kind(table, row)
            continue
        record = dict(zip(reversed(columns), reversed(row)))
        yield line, record[kind], record


def _kind(table: Table, columns: list[str]) -> str:
    """The column that names what was counted."""
    found = next((name for name in _NAMES if name in columns), None)
    if found is None or not {"Avg", "Invocations"} <= set(columns):
        raise InputError(table.path, "", f"has no columns Avg and {' or '.join(_NAMES)}")
    return found
