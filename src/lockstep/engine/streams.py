"""The streams of CTAs that were read and have not finished, in four growing arenas.

The model reads them by offset. A CTA's part is dropped when it retires; when an arena is full, what
is alive moves to its front, or the arena doubles, so memory follows the resident CTAs and not
the length of the trace.
"""

import numpy as np

from lockstep.model.sm.state import PENDING, Sm
from lockstep.workload import Cta

ARENAS = ("warp_streams", "runs", "addresses", "pool")


class Streams:
    """Keeps the arenas of an :class:`~lockstep.model.sm.state.Sm`, which it replaces as they grow."""

    def __init__(self, sm: Sm):
        self.sm = sm
        self._used = dict.fromkeys(ARENAS, 0)
        self._live: dict[tuple[int, int], dict[str, tuple[int, int]]] = {}

    def add(self, slot: int, number: int, cta: Cta) -> None:
        """Copy a CTA's streams and queue it for dispatch in its kernel's slot."""
        parts = dict(zip(ARENAS, (cta.warps, cta.runs, cta.addresses, cta.pool)))
        for name, part in parts.items():
            if self._used[name] + len(part) > len(getattr(self.sm, name)):
                self._make_room(name, len(part))
        places = {}
        for name, part in parts.items():
            start = self._used[name]
            getattr(self.sm, name)[start : start + len(part)] = part
            self._used[name] += len(part)
            places[name] = (start, len(part))
        self._live[slot, number] = places
        kernel = self.sm.kernels[slot]
        ring = self.sm.pending[slot]
        ring[int(kernel.queued) % len(ring)] = (number, *(places[name][0] for name in ARENAS))
        kernel.queued += 1

    def retire(self, slot: int, number: int) -> None:
        """Forget a finished CTA."""
        del self._live[slot, number]

    def drop_all(self) -> None:
        """Forget everything, when no CTA is alive."""
        self._live.clear()
        self._used = dict.fromkeys(ARENAS, 0)

    def _make_room(self, name: str, extra: int) -> None:
        """Move what is alive to the front of an arena, doubling it if it stays half full."""
        old = getattr(self.sm, name)
        live = sum(places[name][1] for places in self._live.values()) + extra
        size = len(old)
        while size < 2 * live:
            size *= 2
        new = np.zeros(size, old.dtype).view(type(old))
        moved = self._compact(name, old, new)
        self.sm = self.sm._replace(**{name: new})
        self._relocate(name, moved)

    def _compact(self, name: str, old: np.ndarray, new: np.ndarray) -> dict[tuple[int, int], int]:
        end, moved = 0, {}
        for key, places in sorted(self._live.items(), key=lambda item: item[1][name]):
            start, length = places[name]
            new[end : end + length] = old[start : start + length]
            places[name] = (end, length)
            moved[key] = end
            end += length
        self._used[name] = end
        return moved

    def _relocate(self, name: str, moved: dict[tuple[int, int], int]) -> None:
        """Tell resident and waiting CTAs where their streams lie now."""
        field = "warps" if name == "warp_streams" else name
        for slot in np.flatnonzero(self.sm.kernels["active"]):
            kernel, ring = self.sm.kernels[slot], self.sm.pending[slot]
            for k in range(int(kernel.taken), int(kernel.queued)):
                entry = ring[k % len(ring)]
                entry[field] = moved[int(slot), int(entry["cta"])]
        if name == "warp_streams":  # read at launch only
            return
        for s, c in zip(*np.nonzero(self.sm.ctas["active"])):
            cta = self.sm.ctas[s, c]
            cta[field] = moved[int(cta["kernel"]), int(cta["cta"])]


assert PENDING.names[1:] == ("warps", "runs", "addresses", "pool")
