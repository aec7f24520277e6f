"""Live points in the index: a warm set before each kernel, and what the kernels stand for."""

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.frontend.tracefile.columns import (
    LIMIT,
    Malformed,
    check_range,
    modular,
    pack_tables,
    unpack_tables,
)
from lockstep.workload import Kernel, Workload
from lockstep.workload.warm import L2_LINE, L2_RUN, L2_SECTOR, LAUNCHED, WarmSet

TABLES = np.array([2, 4, 2, 1])
"""Columns of each table: warm sets (runs, launches before), runs, launches, documents (bytes)."""
_RUN_FIELDS, _LAUNCH_FIELDS = L2_RUN.names or (), LAUNCHED.names or ()
MOST_RUNS = 1 << 25  # and launches
MOST_LINES = 1 << 25  # of a content: 4 GiB
_MASKS = 1 << L2_LINE // L2_SECTOR


def check(workload: Workload) -> None:
    """Raise :class:`WorkloadError` unless each kernel follows its content, or there is none."""
    contents = [c for c in workload.commands if isinstance(c, WarmSet)]
    if not workload.points:
        if contents:
            raise WorkloadError("warm sets are kept with live points alone")
        return
    kernels = workload.commands[1::2]
    whole = len(workload.commands) == 2 * len(contents) and all(
        isinstance(first, WarmSet) and isinstance(second, Kernel)
        for first, second in zip(workload.commands[::2], kernels)
    )
    if not whole:
        raise WorkloadError("expected a warm set before each kernel of live points")
    launches = _launches(contents)
    if problem := _problem_of_launches(launches):
        raise WorkloadError(f"warm set: {problem}")
    for content in contents:
        if problem := _problem(content.runs):
            raise WorkloadError(f"warm set: {problem}")
        if not np.array_equal(content.launches, launches[: len(content.launches)]):
            raise WorkloadError("warm set: launches that differ from those of another one")
        if not len(content.launches):
            raise WorkloadError("warm set: the launch that follows is not among its launches")
    if (runs := sum(len(content.runs) for content in contents)) > MOST_RUNS:
        raise WorkloadError(
            f"{runs} runs of lines in the L2s of live points; a trace file keeps {MOST_RUNS}"
        )


def encode(workload: Workload) -> bytes:
    """What the index has of live points; the workload has been checked."""
    warm = [c for c in workload.commands if isinstance(c, WarmSet)]
    runs = np.concatenate([*(c.runs for c in warm), np.zeros(0, L2_RUN)])
    launches = _launches(warm)
    sets = [[len(c.runs) for c in warm], [len(c.launches) - 1 for c in warm]]
    document = workload.points.encode()
    ends = runs["first"] + runs["lines"]
    jumps = runs["first"] - np.concatenate([[0], ends])[:-1]
    columns = [jumps, *(runs[name] for name in _RUN_FIELDS[1:])]
    launched = [launches[name] for name in _LAUNCH_FIELDS]
    documents = [[len(document)] if document else []]
    return pack_tables([sets, columns, launched, documents]) + document


@modular
def decode(payload: bytes, position: int, kernels: int) -> tuple[list[WarmSet], str, int]:
    """The content before each kernel, the document, and where they end in the index.

    Raises :class:`Malformed`.
    """
    tables, size = unpack_tables(np.frombuffer(payload, np.uint8)[position:], TABLES, MOST_RUNS)
    (counts, before), (jumps, *rest), launched, (lengths,) = tables
    position += size
    if not any(table.size for table in tables):  # no live points
        return [], "", position
    if len(counts) != kernels or (len(counts) and counts.min() < 0) or counts.sum() != len(jumps):
        raise Malformed("expected the runs of lines in the L2 to belong to a kernel each")
    if len(lengths) != 1 or not 0 < lengths[0] <= min(LIMIT, len(payload) - position):
        raise Malformed("expected a document behind the live points")
    runs = np.zeros(len(jumps), L2_RUN)
    runs["first"] = np.cumsum(jumps + np.concatenate([[0], rest[0]])[:-1])
    for name, column in zip(_RUN_FIELDS[1:], rest):
        runs[name] = column
    launches = np.zeros(len(launched[0]), LAUNCHED)
    launches["kernel"], launches["ctas"] = launched
    check_range(before, len(launches), "number of launches before a kernel")
    if problem := _problem_of_launches(launches):
        raise Malformed(f"warm set: {problem}")
    parts = np.split(runs, np.cumsum(counts)[:-1])
    contents = [WarmSet(part, launches[: n + 1]) for part, n in zip(parts, before.tolist())]
    for content in contents:
        if problem := _problem(content.runs):
            raise Malformed(f"warm set: {problem}")
    end = position + int(lengths[0])
    try:
        return contents, payload[position:end].decode(), end
    except UnicodeDecodeError:
        raise Malformed("expected the document of live points in UTF-8") from None


def interleaved(contents: list[WarmSet], kernels: list) -> list:
    """Each kernel behind its content."""
    if len(contents) != len(kernels):
        raise Malformed("expected no copies among live points")
    return [command for pair in zip(contents, kernels) for command in pair]


def _launches(warm: list[WarmSet]) -> np.ndarray:
    """Those of all warm sets: each has the first ones of the longest."""
    return max((w.launches for w in warm), key=len, default=np.zeros(0, LAUNCHED))


def _problem_of_launches(launches: np.ndarray) -> str:
    if len(launches) > MOST_RUNS:
        return f"{len(launches)} launches; a trace file keeps {MOST_RUNS}"
    return "a launch without CTAs" if (launches["ctas"] < 1).any() else ""


def _problem(runs: np.ndarray) -> str:
    """What makes the runs of a content impossible, or nothing."""
    try:
        check_range(runs["lines"] - 1, MOST_LINES, "lines of a run less 1")
        check_range(runs["first"] + (1 << 55), 1 << 56, "number of a line plus 2^55")
        check_range(runs["sectors"], _MASKS, "mask of valid sectors")
        check_range(runs["dirty"], _MASKS, "mask of dirty sectors")
    except Malformed as problem:
        return str(problem)
    if not (runs["dirty"] | runs["sectors"]).all():
        return "lines without a sector"
    if runs["lines"].sum() > MOST_LINES:
        return f"more than {MOST_LINES} lines"
    return ""
