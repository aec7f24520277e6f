"""Which lines of device memory were touched last, and how: what a cache would hold of them.

Each line has a record; generated code writes them (``lanes/touching.py``), as do copies. No list of
accesses is kept, so that it takes as long to ask after many launches as after few.
"""

import mmap

import numpy as np

from lockstep.execution.memory.mapping import NORESERVE
from lockstep.workload import MemoryCopy
from lockstep.workload.warm import L2_LINE, L2_RUN, L2_SECTOR

TOUCHED = np.dtype([("when", "i8"), ("sectors", "i8")])
"""One line: the number of its last access, and its sectors, ``SECTORS`` bits each: those that are
whole, those that were written, those of these of which only a part is here, and those that were
read as constants, which is no access to the line, and is not forgotten."""
SECTORS = L2_LINE // L2_SECTOR
LINE_SHIFT, SECTOR_SHIFT = L2_LINE.bit_length() - 1, L2_SECTOR.bit_length() - 1
_ALL = (1 << SECTORS) - 1
CONSTANTS = _ALL << 3 * SECTORS


class TouchedLines:
    """The lines of ``capacity`` bytes of memory from ``base`` on; nothing was touched yet.

    Accesses are numbered in their order, but those of warps that run at the same time together:
    the k-th of one is as old as the k-th of another. ``now`` is the largest number so far; what was
    touched at ``since`` or before counts as untouched. ``wave``: how many CTAs of the next launch
    run at the same time. ``most``: as many lines displace all that were touched before: what was
    there of a line in an earlier time is there no longer when it is touched again. They are counted
    between launches, from ``_epoch`` on.
    """

    def __init__(self, base: int, capacity: int):
        self._base = base
        size = (capacity // L2_LINE + 1) * TOUCHED.itemsize
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
        self._table = np.frombuffer(mmap.mmap(-1, size, flags=kind), TOUCHED)
        self.now = self.since = 0
        self.wave, self.most = 1, 1 << 62
        self._gone = self._epoch = self._count = 0

    def describe(self, launch: np.void) -> None:
        """Tell a launch (a LAUNCH record) where it notes what it touches."""
        launch["touched"] = self._table.ctypes.data
        launch["touch_now"] = launch["touch_first"] = launch["touch_base"] = self.now
        launch["touch_gone"], launch["touch_wave"] = max(self.since, self._gone), self.wave
        launch["touch_epoch"], launch["touch_count"] = self._epoch, self._count

    def end(self, launch: np.void) -> None:
        """The launch has ended."""
        self._advance(int(launch["touch_now"]), int(launch["touch_count"]))

    def _advance(self, now: int, count: int) -> None:
        """Go on from a number; ``count``: lines since the epoch began."""
        self.now, self._count = now, count
        if count >= self.most:
            self._gone, self._epoch, self._count = self._epoch, now, 0

    def begin(self) -> None:
        """Forget all that was touched so far, but for constants."""
        self.since = self.now

    def copy(self, copy: MemoryCopy) -> None:
        """The host writes memory: what it wrote is here, and not dirty."""
        if not copy.bytes:
            return
        begin, end = copy.address - self._base, copy.address - self._base + copy.bytes
        first, last = begin >> LINE_SHIFT, (end - 1) >> LINE_SHIFT
        masks = np.full(last - first + 1, _ALL)
        masks[0] &= -1 << (begin % L2_LINE >> SECTOR_SHIFT)
        masks[-1] &= (2 << ((end - 1) % L2_LINE >> SECTOR_SHIFT)) - 1
        for k in range(0, len(masks), min(self.most, len(masks))):
            mask = masks[k : k + self.most]
            lines = np.arange(first + k, first + k + len(mask))
            count = self._refresh(lines)
            kept = self._table["sectors"][lines] & ~(mask << SECTORS | mask << 2 * SECTORS)
            self._table["sectors"][lines] = kept | mask
            self._number(lines, count)

    def touch(self, sectors: np.ndarray, writes: np.ndarray) -> None:
        """Whole sectors are accessed, in this order.

        Their numbers (address / L2_SECTOR, int64), and whether each is written (bool).
        """
        lines = (sectors >> LINE_SHIFT - SECTOR_SHIFT) - (self._base >> LINE_SHIFT)
        inside = (lines >= 0) & (lines < len(self._table))
        lines, bits = lines[inside], 1 << sectors[inside] % SECTORS
        written = np.where(writes[inside], bits << SECTORS, 0)
        count = self._refresh(np.unique(lines))
        np.bitwise_or.at(self._table["sectors"], lines, bits | written)
        np.bitwise_and.at(self._table["sectors"], lines, ~(bits << 2 * SECTORS))
        self._number(lines, count)

    def _refresh(self, lines: np.ndarray) -> int:
        """Different lines are about to be touched; how many were so then since the epoch began."""
        when = self._table["when"][lines]
        old = lines[when <= max(self.since, self._gone)]
        self._table["sectors"][old] &= CONSTANTS
        return self._count + int((when <= self._epoch).sum())

    def _number(self, lines: np.ndarray, count: int) -> None:
        """Accesses to lines, which are not all different, get the next numbers."""
        self._table["when"][lines] = self.now + 1 + np.arange(len(lines))
        self._advance(self.now + len(lines), count)

    def runs(self, end: int, most: int) -> np.ndarray:
        """What was touched, the ``most`` lines that were last: see :class:`.WarmSet`.

        ``end``: no address from here on was ever given out.
        """
        table = self._used(end)
        lines = np.flatnonzero(table["when"] > self.since)
        when = table["when"][lines]
        if len(lines) > most:
            newest = when >= np.partition(when, len(lines) - most)[len(lines) - most]
            lines, when = lines[newest], when[newest]
        lines = lines[np.argsort(when, kind="stable")[-most:]]
        return _runs(lines + (self._base >> LINE_SHIFT), table["sectors"][lines])

    def constants(self, end: int) -> np.ndarray:
        """Addresses of the sectors that were read as constants (int64), ``end`` as above."""
        table = self._used(end)
        lines = np.flatnonzero(table["sectors"] & CONSTANTS)
        bits = table["sectors"][lines, None] >> 3 * SECTORS + np.arange(SECTORS) & 1
        row, sector = np.nonzero(bits)
        return self._base + lines[row] * L2_LINE + sector * L2_SECTOR

    def _used(self, end: int) -> np.ndarray:
        return self._table[: (end - self._base + L2_LINE - 1) >> LINE_SHIFT]


def _runs(lines: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Lines one after the other that have the same sectors, together."""
    goes_on = (np.diff(lines) == 1) & (np.diff(masks) == 0)
    begins = np.flatnonzero(np.concatenate([[True][: len(lines)], ~goes_on]))
    runs = np.zeros(len(begins), L2_RUN)
    runs["first"], runs["lines"] = lines[begins], np.diff(begins, append=len(lines))
    runs["sectors"], runs["dirty"] = masks[begins] & _ALL, masks[begins] >> SECTORS & _ALL
    return runs
