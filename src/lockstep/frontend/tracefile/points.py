"""Live points in the index: what the L2 holds before each kernel, and what these stand for."""

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
from lockstep.workload import L2_LINE, L2_RUN, L2_SECTOR, Kernel, L2Content, Workload

TABLES = np.array([1, 4, 1])
"""Columns of each table: contents (their runs), runs, documents (their bytes)."""
MOST_RUNS = 1 << 25
MOST_LINES = 1 << 25  # of a content: 4 GiB
_MASKS = 1 << L2_LINE // L2_SECTOR


def check(workload: Workload) -> None:
    """Raise :class:`WorkloadError` unless each kernel follows its content, or there is none."""
    contents = [c for c in workload.commands if isinstance(c, L2Content)]
    if not workload.points:
        if contents:
            raise WorkloadError("contents of the L2 are kept with live points alone")
        return
    kernels = workload.commands[1::2]
    whole = len(workload.commands) == 2 * len(contents) and all(
        isinstance(first, L2Content) and isinstance(second, Kernel)
        for first, second in zip(workload.commands[::2], kernels)
    )
    if not whole:
        raise WorkloadError("expected a content of the L2 before each kernel of live points")
    for content in contents:
        if problem := _problem(content.runs):
            raise WorkloadError(f"content of the L2: {problem}")
    if (runs := sum(len(content.runs) for content in contents)) > MOST_RUNS:
        raise WorkloadError(
            f"{runs} runs of lines in the L2s of live points; a trace file keeps {MOST_RUNS}"
        )


def encode(workload: Workload) -> bytes:
    """What the index has of live points; the workload has been checked."""
    contents = [c.runs for c in workload.commands if isinstance(c, L2Content)]
    runs = np.concatenate([*contents, np.zeros(0, L2_RUN)])
    document = workload.points.encode()
    ends = runs["first"] + runs["lines"]
    jumps = runs["first"] - np.concatenate([[0], ends])[:-1]
    columns = [jumps, *(runs[name] for name in L2_RUN.names[1:])]
    return pack_tables([[[len(r) for r in contents]], columns, [[len(document)]]]) + document


@modular
def decode(payload: bytes, position: int, kernels: int) -> tuple[list[L2Content], str, int]:
    """The content before each kernel, the document, and where they end in the index.

    Raises :class:`Malformed`.
    """
    tables, size = unpack_tables(np.frombuffer(payload, np.uint8)[position:], TABLES, MOST_RUNS)
    (counts,), (jumps, *rest), (lengths,) = tables
    position += size
    if not len(counts) and not len(jumps) and not len(lengths):  # no live points
        return [], "", position
    if len(counts) != kernels or (len(counts) and counts.min() < 0) or counts.sum() != len(jumps):
        raise Malformed("expected the runs of lines in the L2 to belong to a kernel each")
    if len(lengths) != 1 or not 0 < lengths[0] <= min(LIMIT, len(payload) - position):
        raise Malformed("expected a document behind the live points")
    runs = np.zeros(len(jumps), L2_RUN)
    runs["first"] = np.cumsum(jumps + np.concatenate([[0], rest[0]])[:-1])
    for name, column in zip(L2_RUN.names[1:], rest):
        runs[name] = column
    contents = [L2Content(part) for part in np.split(runs, np.cumsum(counts)[:-1])][:kernels]
    for content in contents:
        if problem := _problem(content.runs):
            raise Malformed(f"content of the L2: {problem}")
    end = position + int(lengths[0])
    try:
        return contents, payload[position:end].decode(), end
    except UnicodeDecodeError:
        raise Malformed("expected the document of live points in UTF-8") from None


def interleaved(contents: list[L2Content], kernels: list) -> list:
    """Each kernel behind its content."""
    if len(contents) != len(kernels):
        raise Malformed("expected no copies among live points")
    return [command for pair in zip(contents, kernels) for command in pair]


def _problem(runs: np.ndarray) -> str:
    """What makes the runs of a content impossible, or nothing."""
    try:
        check_range(runs["lines"] - 1, MOST_LINES, "lines of a run less 1")
        check_range(runs["first"] + (1 << 55), 1 << 56, "number of a line plus 2^55")
        check_range(runs["sectors"] - 1, _MASKS - 1, "mask of valid sectors less 1")
        check_range(runs["dirty"], _MASKS, "mask of dirty sectors")
    except Malformed as problem:
        return str(problem)
    if (runs["dirty"] & ~runs["sectors"]).any():
        return "dirty sectors that are not valid"
    if runs["lines"].sum() > MOST_LINES:
        return f"more than {MOST_LINES} lines"
    return ""
