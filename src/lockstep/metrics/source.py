"""What instructions and source lines did, as tables: counters, and what follows from them.

A row of :func:`instructions` is a static instruction of a kernel, all its launches together; one of
:func:`lines` is a line of a source file, with all instructions that were made from it.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lockstep.errors import LockstepError
from lockstep.isa.instruction import OpClass
from lockstep.model.counters import Stall

if TYPE_CHECKING:  # importing the engine imports the compiler: no view of results needs that
    import pandas

    from lockstep.engine.record import KernelRun

NOT_COUNTED = (
    "no instructions were counted: simulate with source=True, on the command line with --source"
)
REASONS = tuple(stall for stall in Stall if stall > Stall.NO_WARP)
STALLS = tuple(f"stall_{reason.name.lower()}" for reason in REASONS)
"""Columns of scheduler-cycles by reason: nothing issued, and this instruction was why."""
STATES = (*(f"warp_{stall.name.lower()}" for stall in Stall), "warp_not_selected")
"""Columns of warp-cycles by what a warp did: it issued, had yet to start (no_warp), waited for a
reason, or could have issued when another one did."""


def instructions(kernels: "Iterable[KernelRun]") -> "pandas.DataFrame":
    """One row a static instruction of each kernel, those that were never executed too.

    Columns: ``kernel`` (its name in C++), ``launches``, ``pc``, ``text``, ``op`` (its class),
    ``width`` (bytes that a thread accesses, or 0), ``file`` and ``line``
    ("" and 0 where they are not known), ``inlined_at`` (the calls of an inlined function, the
    innermost first), the counters of :data:`~lockstep.model.core.attribution.ATTRIBUTED` by name,
    :data:`STALLS`, :data:`STATES`, and what :func:`derived` adds. Raises
    :class:`LockstepError` if instructions were not counted.
    """
    import pandas

    groups: dict[tuple, list[KernelRun]] = {}
    for run in kernels:
        if run.source is None:
            raise LockstepError(NOT_COUNTED)
        key = run.name, tuple(run.source.pcs), tuple(run.source.texts)
        groups.setdefault(key, []).append(run)
    frames = [_of_kernel(runs) for runs in groups.values()]
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()


def _of_kernel(runs: "Sequence[KernelRun]") -> "pandas.DataFrame":
    """The instructions of launches of one kernel."""
    import pandas

    source = runs[0].source
    assert source is not None, "who calls has looked"
    counted = [run.source.counts for run in runs if run.source is not None]
    first = [each[0] if each else ("", 0) for each in source.places]
    columns: dict[str, object] = {
        "kernel": runs[0].title,
        "launches": len(runs),
        "pc": source.pcs,
        "text": source.texts,
        "op": [OpClass(op).name.lower() for op in source.ops],
        "width": source.widths,
        "file": [file for file, _ in first],
        "line": [line for _, line in first],
        "inlined_at": [" < ".join(f"{f}:{n}" for f, n in each[1:]) for each in source.places],
    }
    for name in counted[0].dtype.names or ():
        total = np.sum([counts[name] for counts in counted], axis=0)
        if name == "stalls":
            columns |= {column: total[:, r] for column, r in zip(STALLS, REASONS)}
        elif name == "states":
            columns |= dict(zip(STATES, total.T))
        else:
            columns[name] = total
    return derived(pandas.DataFrame(columns))


def lines(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The same by ``kernel``, ``file`` and ``line``, in the order in which the code has them.

    Instructions of which no line is known are left out. ``instructions``: static ones of the line.
    """
    if table.empty:
        return table
    known = table[table["line"] > 0]
    counted = known.select_dtypes("number").columns.difference(_DERIVED + _FIXED)
    groups = known.groupby(["kernel", "file", "line"], sort=False)
    sums = groups[list(counted)].sum()
    sums.insert(0, "instructions", groups.size())
    sums.insert(0, "launches", groups["launches"].first())
    return derived(sums.reset_index())


def derived(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """A table of counters, and what follows from them; NaN where it has no value.

    ``stalls`` is the sum of :data:`STALLS` and ``stall_reason`` the largest of them, "" without
    any; ``stall_share`` is in percent of the kernel's. ``threads_per_instruction``: lanes that an
    issue used, ``cycles_per_issue``: cycles from the issue before it in its warp to its own, on
    average. ``sectors``: of the L1, atomics and bulk copies included; ``bank_conflicts``: passes
    over shared memory beyond one an access. Hit rates are of sectors, in percent: in the L1, of
    loads; in the L2, of data that came from there. ``latency``: cycles from a request to the L2 to
    its reply, on average.
    """
    stalls = table[list(STALLS)].to_numpy()
    reads = table["l1_global_read_sectors"] + table["l1_local_read_sectors"]
    writes = table["l1_global_write_sectors"] + table["l1_local_write_sectors"]
    hits = table["l1_global_read_hits"] + table["l1_local_read_hits"]
    requests = table["requests_global"] + table["requests_local"]
    total = stalls.sum(axis=1)
    names = np.array([reason.name.lower() for reason in REASONS], object)
    table["stalls"] = total
    by_kernel = table.groupby("kernel")["stalls"].transform("sum")
    table["stall_share"] = _percent(table["stalls"], by_kernel)
    table["stall_reason"] = np.where(total > 0, names[stalls.argmax(axis=1)], "")
    table["threads_per_instruction"] = _ratio(
        table["thread_instructions"], table["warp_instructions"]
    )
    table["cycles_per_issue"] = _ratio(table["warp_cycles"], table["warp_instructions"])
    bulk = table["bulk_read_sectors"] + table["bulk_write_sectors"]
    table["sectors"] = reads + writes + table["l1_atomic_sectors"] + bulk
    table["sectors_per_request"] = _ratio(table["sectors"] - bulk, requests)
    table["bank_conflicts"] = table["shared_wavefronts"] - table["shared_accesses"]
    table["l1_hit_rate"] = _percent(hits, reads)
    table["l2_hit_rate"] = _percent(table["l2_hit_sectors"], table["reply_sectors"])
    table["latency"] = _ratio(table["miss_latency"], table["replies"])
    return table


_DERIVED = [
    "stalls", "stall_share", "threads_per_instruction", "cycles_per_issue", "sectors",
    "sectors_per_request", "bank_conflicts", "l1_hit_rate", "l2_hit_rate", "latency",
]  # fmt: skip
_FIXED = ["launches", "pc", "line", "width"]


def _ratio(part: "pandas.Series", whole: "pandas.Series") -> "pandas.Series":
    return part / whole.where(whole > 0)


def _percent(part: "pandas.Series", whole: "pandas.Series") -> "pandas.Series":
    return 100 * _ratio(part, whole)
