"""What launches leave in an L2: the least recently used line goes, whatever set it is in.

It knows no sets and no L1, so that it serves GPUs of any L2 that is not larger: one that is smaller
takes what was used last.
"""

from collections import OrderedDict

import numpy as np

from lockstep.sampling.accesses import SECTOR_SHIFT
from lockstep.workload import L2_LINE, L2_RUN, L2_SECTOR, MemoryCopy

_SECTORS = L2_LINE // L2_SECTOR
_LINE_SHIFT = SECTOR_SHIFT + _SECTORS.bit_length() - 1
_ALL = (1 << _SECTORS) - 1
assert L2_SECTOR == 1 << SECTOR_SHIFT


class WarmLines:
    """The lines in an L2 of ``l2_bytes``; say what is accessed, in its order.

    Memory: about 150 bytes a line.
    """

    def __init__(self, l2_bytes: int):
        self._most = max(1, l2_bytes // L2_LINE)
        # Of each line its valid sectors, and above them the dirty ones; the oldest line in front.
        self._lines: OrderedDict[int, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lines)

    def touch(self, sectors: np.ndarray, writes: np.ndarray) -> None:
        """Sectors are accessed: their numbers (int64), and whether each is written (bool)."""
        if not len(sectors):
            return
        lines = sectors // _SECTORS
        begins = np.flatnonzero(np.concatenate([[True], lines[1:] != lines[:-1]]))
        bits = 1 << sectors % _SECTORS
        masks = np.bitwise_or.reduceat(bits | np.where(writes, bits << _SECTORS, 0), begins)
        held = self._lines
        for line, mask in zip(lines[begins].tolist(), masks.tolist()):
            if line in held:
                held[line] |= mask
                held.move_to_end(line)
            else:
                held[line] = mask
                if len(held) > self._most:
                    held.popitem(last=False)

    def copy(self, copy: MemoryCopy) -> None:
        """The host writes memory: what it wrote is here, and not dirty."""
        if not copy.bytes:
            return
        held, end = self._lines, copy.address + copy.bytes
        last = (end - 1) >> _LINE_SHIFT
        for line in range(max(copy.address >> _LINE_SHIFT, last - self._most + 1), last + 1):
            low = max(copy.address - line * L2_LINE, 0) >> SECTOR_SHIFT
            high = min(end - line * L2_LINE, L2_LINE) - 1 >> SECTOR_SHIFT
            mask = (2 << high) - (1 << low)
            held[line] = held.get(line, 0) & ~(mask << _SECTORS) | mask
            held.move_to_end(line)
            if len(held) > self._most:
                held.popitem(last=False)

    def runs(self) -> np.ndarray:
        """What is held now, as of :class:`.WarmSet`."""
        lines = np.fromiter(self._lines.keys(), np.int64, len(self._lines))
        masks = np.fromiter(self._lines.values(), np.int64, len(self._lines))
        goes_on = (np.diff(lines) == 1) & (np.diff(masks) == 0)
        begins = np.flatnonzero(np.concatenate([[True][: len(lines)], ~goes_on]))
        runs = np.zeros(len(begins), L2_RUN)
        runs["first"] = lines[begins]
        runs["lines"] = np.diff(begins, append=len(lines))
        runs["sectors"], runs["dirty"] = masks[begins] & _ALL, masks[begins] >> _SECTORS
        return runs
