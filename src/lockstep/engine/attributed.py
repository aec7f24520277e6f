"""Counters by instruction: rows that follow the arena of code, and sums of those of a kernel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lockstep.model.core.attribution import ATTRIBUTED, Attribution
from lockstep.model.core.state import Sm
from lockstep.model.records import records
from lockstep.workload import Code

ROWS = "sm.attribution.rows"
OF_HOST = (ROWS, "sm.attribution.tables")
"""Arrays that threads of the host have: checkpoints keep their sum alone."""


class InstructionCounts(NamedTuple):
    """What the instructions of a kernel did, one entry a static instruction.

    ``places``: file and line, that of an inlined function first, then its calls; empty = unknown.
    ``ops``: :class:`~lockstep.isa.instruction.OpClass`; ``widths``: bytes that a thread accesses.
    """

    pcs: list[int]
    texts: list[str]
    places: list[list[tuple[str, int]]]
    counts: np.ndarray  # ATTRIBUTED
    ops: list[int]
    widths: list[int]


def counts_of(code: Code, counts: np.ndarray) -> InstructionCounts:
    """Counters with what is known of the instructions that they are of.

    A source file that lies where its code does is named with that folder.
    """
    numbers, folder, names = range(len(counts)), Path(code.file).parent, {}
    places = [code.places_of(k) for k in numbers]
    for name in {file for each in places for file, _ in each}:
        here = folder / name
        names[name] = str(here) if code.file and here.is_file() else name
    known = code.instructions[: len(counts)]
    return InstructionCounts(
        known["pc"].tolist(),
        [code.text_of(k) for k in numbers],
        [[(names[file], line) for file, line in each] for each in places],
        counts,
        known["op"].tolist(),
        known["width"].tolist(),
    )


def thawed(frozen: list | None) -> InstructionCounts | None:
    """Counters as a checkpoint gives them back."""
    if frozen is None:
        return None
    pcs, texts, places, *others = frozen
    return InstructionCounts(
        pcs, texts, [[(file, line) for file, line in each] for each in places], *others
    )


def grown(sm: Sm, size: int) -> dict[str, Attribution]:
    """What grows with the arena of code, which gets ``size`` records."""
    if not sm.spec[0].attributes:
        return {}
    old = sm.attribution.rows
    rows = records((len(old), size), ATTRIBUTED)
    rows[:, : old.shape[1]] = old
    return {"attribution": sm.attribution._replace(rows=rows)}


def move(sm: Sm, old: int, new: int, bound: int, count: int) -> None:
    """The code of a kernel moves in its arena; of its ``count`` instructions ``bound`` are old."""
    if not sm.spec[0].attributes:
        return
    rows = sm.attribution.rows.view(np.ndarray)
    moved = rows[:, old : old + bound].copy()
    rows[:, old : old + bound] = np.zeros((), ATTRIBUTED)
    rows[:, new : new + count] = np.zeros((), ATTRIBUTED)
    rows[:, new : new + bound] = moved


def summed(sm: Sm, first: int, count: int, add: Callable[[Any], Any]) -> np.ndarray:
    """The sums of some rows over all threads; ``add`` sums an array over all machines."""
    rows = sm.attribution.rows.view(np.ndarray)[:-1, first : first + count]
    sums = np.ascontiguousarray(rows).view(np.int64).sum(axis=0)
    return np.ascontiguousarray(add(sums)).view(ATTRIBUTED)


def take_up(sm: Sm, sums: np.ndarray, mine: bool) -> Attribution:
    """Rows that go on from sums over all threads and machines; ``mine``: here, not elsewhere."""
    rows = records((len(sm.attribution.rows), len(sums)), ATTRIBUTED)
    if mine:
        rows[0] = sums.view(ATTRIBUTED)
    return sm.attribution._replace(rows=rows)
