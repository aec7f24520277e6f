"""The streams of CTAs that were read and have not finished, in four growing arenas.

The model reads them by offset. A CTA's part is dropped when it retires; when an arena is full, what
is alive moves to its front, or the arena doubles, so memory follows the resident CTAs and not
the length of the trace.
"""

import itertools

import numpy as np

from lockstep._jit import Context
from lockstep.model.core.state import Sm
from lockstep.model.dispatch.state import PENDING, Dispatcher
from lockstep.workload import Cta

ARENAS = ("warp_streams", "runs", "addresses", "pool")
PARTS = ("warps", *ARENAS[1:])  # where a CTA's part of each begins
INSTRUCTIONS = ("warp_instructions", "thread_instructions")


class Streams:
    """Keeps the arenas of the SMs' state, which it replaces as they grow, and queues CTAs."""

    def __init__(self, sm: Sm, dispatcher: Dispatcher):
        self._take(sm)
        self.dispatcher = dispatcher
        self._pending = dispatcher.pending.view(np.ndarray)
        self.queued = dispatcher.grids["queued"].view(np.ndarray)
        self.taken = dispatcher.progress["taken"].view(np.ndarray)
        self._used = [0] * len(ARENAS)
        self._live: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def add(self, slot: int, ctas: dict[int, Cta]) -> None:
        """Copy the streams of CTAs, by number, and queue them for dispatch in their kernel's slot.

        There must be room for them in the queue.
        """
        arenas = [
            self._copy(0, [cta.warps for cta in ctas.values()]),
            self._copy(1, [cta.runs for cta in ctas.values()]),
            self._copy(2, [cta.addresses for cta in ctas.values()]),
            self._copy(3, [cta.pool for cta in ctas.values()]),
        ]
        queued, room = int(self.queued[slot]), self._pending.shape[1]
        issues = self._count(arenas[0])
        for number, issued, *places in zip(ctas, issues, *arenas):
            self._live[slot, number] = places
            entry = (number, places[0][0], places[1][0], places[2][0], places[3][0], *issued)
            self._pending[slot, queued % room] = entry
            queued += 1
        self.queued[slot] = queued

    def _count(self, warps: list[tuple[int, int]]) -> list[list[int]]:
        """INSTRUCTIONS of CTAs whose warps have just been copied, one behind the other."""
        ends = np.cumsum([length for _, length in warps])
        copied = self._arenas[0][warps[0][0] : warps[0][0] + ends[-1]]
        sums = [np.append(0, np.cumsum(copied[name])) for name in INSTRUCTIONS]
        return np.transpose([np.diff(s[ends], prepend=0) for s in sums]).tolist()

    def _copy(self, k: int, parts: list[np.ndarray]) -> list[tuple[int, int]]:
        """Copy the parts of several CTAs to the end of an arena; where each is, and its length."""
        lengths = [len(part) for part in parts]
        length = sum(lengths)
        if self._used[k] + length > len(self._arenas[k]):
            self._make_room(k, length)
        start = self._used[k]
        end = self._used[k] = start + length
        np.concatenate(parts, out=self._arenas[k][start:end])
        return list(zip(itertools.accumulate(lengths, initial=start), lengths))

    def waiting(self, slot: int) -> int:
        """How many CTAs of a slot are queued and not dispatched."""
        return int(self.queued[slot]) - int(self.taken[slot])

    def retire(self, slot: int, number: int) -> None:
        """Forget a finished CTA."""
        del self._live[slot, number]

    def drop_all(self) -> None:
        """Forget everything, when no CTA is alive."""
        self._live.clear()
        self._used = [0] * len(ARENAS)

    def replace(self, **arrays: np.ndarray | Context) -> None:
        """Go on with new arrays in the place of some of the SMs'."""
        self._take(self.sm._replace(**arrays))

    def freeze(self) -> dict:
        """What is known of the arenas besides their content."""
        places = [[*key, *(n for place in at for n in place)] for key, at in self._live.items()]
        live = np.array(places, np.int64).reshape(len(places), 2 + 2 * len(ARENAS))
        return {"used": self._used, "live": live}

    def thaw(self, frozen: dict) -> None:
        """Go on where ``freeze`` was called; the arenas are as they were."""
        self._used = list(frozen["used"])
        self._live = {
            (row[0], row[1]): list(zip(row[2::2], row[3::2])) for row in frozen["live"].tolist()
        }

    def _take(self, sm: Sm) -> None:
        """Plain views of what is touched for every CTA: record arrays are slow from Python."""
        self.sm = sm
        self._arenas = [np.asarray(getattr(sm, name)).view(np.ndarray) for name in ARENAS]

    def _make_room(self, k: int, extra: int) -> None:
        """Move what is alive to the front of an arena, of a larger one if it stays half full."""
        old = self._arenas[k]
        live = sum(places[k][1] for places in self._live.values()) + extra
        size = len(old)
        while size < 2 * live:
            size *= 2
        new = old if size == len(old) else np.zeros(size, old.dtype)
        moved = self._compact(k, old, new)
        if new is not old:
            self.replace(**{ARENAS[k]: new.view(type(getattr(self.sm, ARENAS[k])))})
        self._relocate(k, moved)

    def _compact(self, k: int, old: np.ndarray, new: np.ndarray) -> dict[tuple[int, int], int]:
        """Copy what is alive; where each CTA's part begins now."""
        end, moved = 0, {}
        for key, places in sorted(self._live.items(), key=lambda item: item[1][k]):
            start, length = places[k]
            new[end : end + length] = old[start : start + length]
            places[k] = (end, length)
            moved[key] = end
            end += length
        self._used[k] = end
        return moved

    def _relocate(self, k: int, moved: dict[tuple[int, int], int]) -> None:
        """Tell resident and waiting CTAs where their streams lie now."""
        field = PARTS[k]
        room = self._pending.shape[1]
        for slot in np.flatnonzero(self.sm.kernels["active"]).tolist():
            for n in range(int(self.taken[slot]), int(self.queued[slot])):
                entry = self._pending[slot, n % room]
                entry[field] = moved[slot, int(entry["cta"])]
        if k == 0:  # warp records are read at launch only
            return
        ctas = self.sm.ctas.view(np.ndarray)
        for s, c in zip(*np.nonzero(ctas["active"])):
            cta = ctas[s, c]
            cta[field] = moved[int(cta["kernel"]), int(cta["cta"])]


assert PENDING.names == ("cta", *PARTS, *INSTRUCTIONS)
