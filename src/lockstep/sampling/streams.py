"""Counters of a launch from the streams of its CTAs, where nobody counted while it executed."""

from collections.abc import Callable

import numpy as np

from lockstep.execution.programs.counted import ROWS
from lockstep.execution.programs.profile import named
from lockstep.execution.streams.accesses import OTHER, Requests, requests_of
from lockstep.isa.instruction import OpClass
from lockstep.plain_bytes import together
from lockstep.workload import WARP, Cta, Kernel

MOST_RECORDS, MOST_CTAS = 1 << 14, 1 << 10  # address records, CTAs that are looked at together
FIELDS = ("requests", "threads", "sectors")
_ROW_OF = np.full(max(OpClass) + 1, -1)
_ROW_OF[list(ROWS)] = list(ROWS.values())


class StreamCounts:
    """What the CTAs of one launch did, which are given one after the other.

    ``told`` gets all requests, and the kernel's code. Lanes that a predicate leaves out are in no
    stream: they do not count as threads.
    """

    def __init__(self, kernel: Kernel, told: Callable[[Requests, np.ndarray], None] | None = None):
        self._kernel, self._told = kernel, told
        self._waiting: list[Cta] = []
        self._records = 0
        self._ctas = self._warps = self._threads = 0
        self._counts = {field: np.zeros((3, OTHER + 1), np.int64) for field in FIELDS}

    def take(self, cta: Cta) -> None:
        """Count a CTA."""
        self._waiting.append(cta)
        self._records += len(cta.addresses)
        if self._records >= MOST_RECORDS or len(self._waiting) >= MOST_CTAS:
            self.finish()

    def finish(self) -> None:
        """Look at what has been taken so far."""
        if self._waiting:
            warps = together([cta.warps for cta in self._waiting], WARP)
            self._ctas += len(self._waiting)
            self._warps += int(warps["warp_instructions"].sum())
            self._threads += int(warps["thread_instructions"].sum())
        if self._records:
            self._count(requests_of(self._kernel, self._waiting))
        self._waiting, self._records = [], 0

    def metrics(self) -> dict[str, float]:
        """As of :attr:`.Launch.profile`."""
        self.finish()
        return named(self._ctas, self._warps, self._threads, self._threads, self._counts)

    def _count(self, requests: Requests) -> None:
        code = self._kernel.code.instructions
        rows = _ROW_OF[code["op"][requests.static]]
        counted = rows >= 0
        cells = rows[counted], requests.memory[counted]
        values = np.ones_like(rows), requests.lanes, requests.sectors
        for field, value in zip(FIELDS, values):
            np.add.at(self._counts[field], cells, value[counted])
        if self._told:
            self._told(requests, code)
