"""Warp shapes: the distinct run sequences of a chunk, and the memory instructions they execute.

Most warps of a kernel take the same path, so a chunk stores each sequence of runs once. Masks
repeat within a warp (a loop body diverges and converges again): a mask is stored as how many
runs ago it was seen, or as a literal.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import force_inline, jit
from lockstep.frontend.tracefile.columns import Malformed, bounded, modular, records_for_jit
from lockstep.workload import RUN

REACH = 254  # how many runs a mask may lie back

SLOT = np.dtype([("row", "i8"), ("mask", "i8")])
"""One address record of a warp shape: which memory instruction, under which mask."""

TOTALS = np.dtype([("warp_instructions", "i8"), ("thread_instructions", "i8"), ("addresses", "i8")])


class MemoryMap(NamedTuple):
    """Which instructions of a code take an address record."""

    before: np.ndarray  # at [i]: how many memory instructions lie before instruction i
    instructions: np.ndarray  # their static indices


class Shapes(NamedTuple):
    """Distinct run sequences, one after the other."""

    first: np.ndarray  # at [s]: where the runs of shape s begin; one more at the end
    slot_first: np.ndarray  # likewise its address records
    runs: np.ndarray  # RUN
    totals: np.ndarray  # TOTALS, one a shape


def memory_map(instructions: np.ndarray) -> MemoryMap:
    """The memory instructions among ``instructions``."""
    before = np.empty(len(instructions) + 1, np.int64)
    found = np.empty(len(instructions), np.int64)
    return MemoryMap(before, found[: _map_memory(records_for_jit(instructions), before, found)])


@jit
def _map_memory(records, before, found):
    """Fill both; returns how many were found."""
    n = before[0] = 0
    for i in range(len(records)):
        if records[i].width > 0:
            found[n] = i
            n += 1
        before[i + 1] = n
    return n


def starts(counts: np.ndarray) -> np.ndarray:
    """Where each of several groups begins when they lie one after the other, and the end."""
    first = np.empty(len(counts) + 1, np.int64)
    _add_up(counts, first)
    return first


@jit
def _add_up(counts, first):
    first[0] = 0
    for i in range(len(counts)):
        first[i + 1] = first[i] + counts[i]


@modular  # counting the lanes of mask -2**63
def measure(first: np.ndarray, runs: np.ndarray, memory: MemoryMap) -> Shapes:
    """Count what each shape executes. Raises :class:`Malformed` if a run leaves the code."""
    totals = np.zeros(bounded(len(first) - 1, TOTALS), TOTALS)
    slot_first = np.empty(len(first), np.int64)
    bad = int(_measure(first, runs, memory.before, records_for_jit(totals), slot_first))
    if bad >= 0:
        run = runs[bad]
        raise Malformed(
            f"a run of {run['count']} instructions from {run['static']} on; "
            f"the code has {len(memory.before) - 1}"
        )
    return Shapes(first, slot_first, runs, totals)


def slots(shapes: Shapes, memory: MemoryMap) -> np.ndarray:
    """The address records of all shapes; ``row`` counts memory instructions in code order."""
    table = records_for_jit(np.empty(bounded(shapes.slot_first[-1], SLOT), SLOT))
    _list_slots(shapes.runs, memory.before, table)
    return table


def pack_runs(first: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, ...]:
    """The runs as four columns: jump from fall-through, count, how far back the mask, literals."""
    jump, back = np.empty((2, len(runs)), np.int64)
    _split_runs(first, runs, jump, back)
    return jump, runs["count"].astype(np.int64), back, runs["mask"][back == 0]


def unpack_runs(counts, columns, memory: MemoryMap) -> Shapes:
    """Undo :func:`pack_runs` for shapes of ``counts`` runs. Raises :class:`Malformed`."""
    first = starts(counts)
    runs = np.empty(bounded(len(columns[0]), RUN), RUN)
    if not _join_runs(first, *columns, runs):
        raise Malformed("expected warp shapes that fit their runs and masks")
    return measure(first, runs, memory)


@jit
def _measure(first, runs, before, totals, slot_first):
    """Fill ``totals`` and ``slot_first``; returns the first run that leaves the code, or -1."""
    slot_first[0] = 0
    for s in range(len(first) - 1):
        total = totals[s]
        for r in range(first[s], first[s + 1]):
            static, count = np.int64(runs[r]["static"]), np.int64(runs[r]["count"])
            if static < 0 or count < 1 or static + count >= len(before):
                return r
            total.warp_instructions += count
            total.thread_instructions += count * lanes_of(runs[r]["mask"])
            if runs[r]["mask"] != 0:
                total.addresses += before[static + count] - before[static]
        slot_first[s + 1] = slot_first[s] + total.addresses
    return -1


@force_inline
def lanes_of(mask):
    """How many bits are set."""
    n = 0
    while mask != 0:
        mask &= mask - 1
        n += 1
    return n


@jit
def _list_slots(runs, before, table):
    at = 0
    for r in range(len(runs)):
        if runs[r]["mask"] == 0:
            continue
        static, count = np.int64(runs[r]["static"]), np.int64(runs[r]["count"])
        for row in range(before[static], before[static + count]):
            table[at].row = row
            table[at].mask = runs[r]["mask"]
            at += 1


@jit
def _split_runs(first, runs, jump, back):
    for s in range(len(first) - 1):
        expected = np.int64(0)
        for r in range(first[s], first[s + 1]):
            jump[r] = runs[r]["static"] - expected
            expected = np.int64(runs[r]["static"]) + np.int64(runs[r]["count"])
            back[r] = 0
            for b in range(1, min(r - first[s], REACH) + 1):
                if runs[r - b]["mask"] == runs[r]["mask"]:
                    back[r] = b
                    break


@jit
def _join_runs(first, jump, count, back, literals, runs):
    literal = 0
    for s in range(len(first) - 1):
        if first[s + 1] < first[s] or first[s + 1] > len(runs):
            return False
        expected = np.int64(0)
        for r in range(first[s], first[s + 1]):
            static = expected + jump[r]
            expected = static + count[r]
            if static < 0 or count[r] < 1 or max(static, count[r], expected) >= 1 << 31:
                return False
            runs[r]["static"], runs[r]["count"] = static, count[r]
            if back[r] < 0 or back[r] > r - first[s]:
                return False
            if back[r] > 0:
                runs[r]["mask"] = runs[r - back[r]]["mask"]
                continue
            if literal == len(literals):
                return False
            runs[r]["mask"] = literals[literal]
            literal += 1
    return first[len(first) - 1] == len(runs) and literal == len(literals)
