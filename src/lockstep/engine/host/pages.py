"""Managed memory: pages that the host has, and that come to the GPU when it accesses them.

The host takes ``fault_ns`` for a fault, many at a time; then the page crosses the link, after what
is on it. With access counters accesses go over the link, a line each and one of an SM at a time,
until a page has had so many that it moves.
"""

import heapq
from collections import Counter

import numpy as np

from lockstep._jit import Records
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.engines import CopyEngines, Page
from lockstep.engine.host.record import CopyRun, PageCounts
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER

PAGES = -1  # in the place of an engine's number


class ManagedMemory:
    """Where each page of managed memory is."""

    def __init__(
        self, gpu: GPU, costs: Costs, away: np.ndarray, asks: Records, copies: list[CopyRun]
    ):
        """``away`` and ``asks`` are shared with the SMs; ``copies`` lists what moved."""
        self._costs, self._away, self._asks, self._copies = costs, away, asks, copies
        self._size, self._line = gpu.host.migration_bytes, gpu.l2.line_bytes
        self._fault = 1000 * gpu.host.fault_ns
        self._threshold = gpu.host.migration_accesses
        self._counts_accesses = gpu.host.migration == "access_counters"
        self.counts = PageCounts()
        self._managed: set[int] = set()
        self._visited: set[int] = set()  # pages that have been on the GPU
        self._accesses: Counter[int] = Counter()
        self._due: list[tuple[int, int]] = []  # faults: when they are dealt with, page; a heap
        self._moving: list[tuple[int, int]] = []  # arrival and page, a heap
        self._under_way: set[int] = set()

    def manage(self, address: int, size: int, managed: bool) -> None:
        """Memory is managed from now on, and the host has it; or it is not any more."""
        for page in self._pages(address, size):
            if managed:
                self._managed.add(page)
            else:
                self._managed.discard(page)
            self._put(page, away=managed)

    def _pages(self, address: int, size: int) -> range:
        return range(address // self._size, -(-(address + size) // self._size))

    def _put(self, page: int, away: bool) -> None:
        self._away[page % len(self._away)] = page + 1 if away else 0

    def _is_away(self, page: int) -> bool:
        return bool(self._away[page % len(self._away)] == page + 1)

    @property
    def next(self) -> int:
        """When the next page arrives, or NEVER."""
        return self._moving[0][0] if self._moving else NEVER

    def answer(self, link: CopyEngines) -> None:
        """Hear what SMs ask for, the earliest first."""
        asking = np.flatnonzero((self._asks["page"] != 0) & (self._asks["told"] == 0))
        for s in sorted(asking.tolist(), key=lambda s: (int(self._asks[s].since), s)):
            ask = self._asks[s]
            ask.told = 1
            page, time = int(ask.page) - 1, self._costs.clock.time(int(ask.since))
            moves = True
            if self._counts_accesses:
                self.counts.remote_accesses += 1
                self._accesses[page] += 1
                moves = self._accesses[page] >= self._threshold
                _, end = link.carry(time + self._costs.latency, self._line)
                ask.until = self._costs.clock.cycle(end)
            if moves and page not in self._under_way:
                self.counts.faults += 1
                self._under_way.add(page)
                heapq.heappush(self._due, (time + self._fault, page))

    @property
    def due(self) -> int:
        """When the host has dealt with the next fault, or NEVER."""
        return self._due[0][0] if self._due else NEVER

    def send(self, link: CopyEngines) -> None:
        """The host has dealt with that fault: its page moves."""
        time, page = heapq.heappop(self._due)
        leaves, arrives = link.carry(time, self._size)
        heapq.heappush(self._moving, (arrives, page))
        self._note(link, page, leaves, leaves + self._costs.on_link(self._size))

    def _note(self, link: CopyEngines, page: int, start: int, end: int) -> None:
        address = page * self._size
        run = CopyRun(link.direction, PAGES, 0, address, self._size, start, end, 1, end - start)
        self._copies.append(run)

    def arrive(self, time: int) -> list[Page]:
        """Pages that have come to the GPU by then; nobody asks for them any more."""
        pages = []
        while self._moving and self._moving[0][0] <= time:
            arrived, page = heapq.heappop(self._moving)
            self._under_way.remove(page)
            self._asks["page"][self._asks["page"] == page + 1] = 0
            if page not in self._managed:  # it was freed meanwhile
                continue
            self._put(page, away=False)
            self.counts.migrated_bytes += self._size
            self.counts.thrash += page in self._visited
            self._visited.add(page)
            self._accesses[page] = 0
            pages.append(Page(arrived, page * self._size, self._size))
        return pages

    def bring_back(self, address: int, size: int, time: int, link: CopyEngines) -> int:
        """The host accesses memory; when all of its pages have come to it, one after the other."""
        for page in self._pages(address, size):
            if page in self._managed and not self._is_away(page):
                leaves, arrives = link.carry(time + self._fault, self._size)
                self._note(link, page, leaves, leaves + self._costs.on_link(self._size))
                self._put(page, away=True)
                self.counts.returned_bytes += self._size
                time = arrives
        return time
