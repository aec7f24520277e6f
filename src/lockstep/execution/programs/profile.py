"""Counters of a functional run that no GPU changes: instructions, accesses, sectors.

Most follow from how often each block ran, and with how many lanes, which is counted in every run.
Code that is translated for a profile counts the rest: see ``lanes/counting.py``.
"""

import numpy as np

from lockstep.execution.programs.counted import ATOMICS, LOADS, STORES
from lockstep.execution.programs.program import Program
from lockstep.execution.state import COUNTER, Memory
from lockstep.isa.instruction import WARP_SIZE, OpClass

_FIELDS = ("requests", "threads", "sectors")


class Profile:
    """The counters of one launch of ``ctas`` thread blocks of a program that counts."""

    def __init__(self, program: Program, ctas: int):
        self._program, self.ctas = program, ctas
        self._times = np.zeros(len(program.blocks), np.int64)
        self._lanes = np.zeros(len(program.blocks), np.int64)
        self._counters = np.zeros(len(program.code), COUNTER)

    def take(self, times: np.ndarray, lanes: np.ndarray, counters: np.ndarray) -> None:
        """What the launch counted: executions and lanes of each block, COUNTER records."""
        self._times, self._lanes = times.copy(), lanes.copy()
        self._counters = counters.copy()

    def counted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :meth:`take` has taken."""
        return self._times, self._lanes, self._counters

    def metrics(self) -> dict[str, float]:
        """By name, see :func:`named`."""
        assert self._program.code is not None, "it was translated"
        times, lanes = self._of_instructions(self._times), self._of_instructions(self._lanes)
        for_one = self._program.code["op"] == OpClass.SCALAR_LOAD  # as streams have it
        lanes = np.where(for_one, times, lanes)
        warps, threads = int(times.sum()), int(lanes.sum())
        guarded = self._program.guarded
        times = np.where(guarded, self._counters["times"], times)
        lanes = np.where(guarded, self._counters["lanes"], lanes)
        active = int(lanes.sum())
        if self._program.lanes != WARP_SIZE:  # EXEC says who is active, and is no predicate
            threads = active
        return named(self.ctas, warps, threads, active, self._accesses(times, lanes))

    def _of_instructions(self, blocks: np.ndarray) -> np.ndarray:
        """What was counted for each block, for each static instruction."""
        places = self._program.counted
        out = np.zeros(len(self._program.code), np.int64)
        np.add.at(out, places.instructions, blocks[places.blocks])
        return out

    def _accesses(self, times: np.ndarray, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """Requests, threads and sectors: int64 [loads stores atomics, memory] each."""
        counts = {field: np.zeros((3, len(Memory)), np.int64) for field in _FIELDS}
        places = self._program.counted
        known = places.memories >= 0
        where = places.accesses[known]
        cells = places.rows[known], places.memories[known]
        np.add.at(counts["requests"], cells, times[where])
        np.add.at(counts["threads"], cells, lanes[where])
        where, rows = places.accesses[~known], places.rows[~known]
        for field in ("requests", "threads"):
            np.add.at(counts[field], rows, self._counters[field][where])
        np.add.at(counts["sectors"], places.rows, self._counters["sectors"][places.accesses])
        return counts


def named(
    ctas: int, warps: int, threads: int, active: int, counts: dict[str, np.ndarray]
) -> dict[str, float]:
    """Counters by name; Nsight Compute's where its definition is the same.

    ``warps``: instructions of warps, ``threads`` the same times lanes, ``active`` without lanes
    that a predicate leaves out. ``counts``: requests, threads and sectors, int64 [loads stores
    atomics, memory]. Reductions are counted with the atomics, copies from global to shared memory
    with the loads of global memory. Where nothing ran, ratios are NaN.
    """
    out: dict[str, float] = {
        "launch__grid_size": ctas,
        "smsp__inst_executed.sum": warps,
        "smsp__thread_inst_executed.sum": threads,
        "smsp__thread_inst_executed_pred_on.sum": active,
        "smsp__thread_inst_executed_per_inst_executed.ratio": threads / warps
        if warps
        else float("nan"),
    }
    for name, field, row, column in _NAMES:
        out[name] = int(counts[field][row, column])
    return out


def _names():
    """(name, counter, row, column) of every counter of accesses."""
    memories = (("global", Memory.GLOBAL), ("local", Memory.LOCAL))
    rows = (("ld", LOADS), ("st", STORES))
    for memory, column in memories:
        for op, row in rows:
            name = f"l1tex__t_sectors_pipe_lsu_mem_{memory}_op_{op}.sum"
            yield name, "sectors", row, column
    for memory, column in (*memories, ("shared", Memory.SHARED)):
        for op, row in rows:
            yield f"smsp__inst_executed_op_{memory}_{op}.sum", "requests", row, column
            yield f"sim__thread_inst_{memory}_{op}.sum", "threads", row, column
    for memory, column in (("global", Memory.GLOBAL), ("shared", Memory.SHARED)):
        yield f"sim__inst_{memory}_atomic.sum", "requests", ATOMICS, column
        yield f"sim__thread_inst_{memory}_atomic.sum", "threads", ATOMICS, column
    yield "sim__l1_atomic_sectors.sum", "sectors", ATOMICS, Memory.GLOBAL


_NAMES = tuple(_names())
