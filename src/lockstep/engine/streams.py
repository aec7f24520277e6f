"""The streams of CTAs that were read and have not finished, in four growing arenas.

The model reads them by offset. A CTA's part is dropped when it retires; when an arena is full, what
is alive moves to its front, or the arena doubles, so memory follows the resident CTAs and not
the length of the trace.
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.engine import attributed
from lockstep.model.core.state import Sm
from lockstep.model.dispatch.state import PENDING, Dispatcher
from lockstep.plain_bytes import put_together
from lockstep.workload import Cta

ARENAS = ("warp_streams", "runs", "addresses", "pool")
PARTS = ("warps", *ARENAS[1:])  # where a CTA's part of each begins
INSTRUCTIONS = ("warp_instructions", "thread_instructions")
START, LENGTH = 0, 1  # of a CTA's part of an arena
ROWS = 64  # CTAs whose places are kept at first


class Streams:
    """Keeps the arenas of the SMs' state, which it replaces as they grow, and queues CTAs."""

    def __init__(self, sm: Sm, dispatcher: Dispatcher, mine: np.ndarray):
        """``mine``: the SMs that run here. A state may hold CTAs of others that have ended."""
        self._mine = mine
        self._take(sm)
        self.dispatcher = dispatcher
        self._pending = dispatcher.pending.view(np.ndarray)
        self.queued = dispatcher.grids["queued"].view(np.ndarray)
        self.taken = dispatcher.progress["taken"].view(np.ndarray)
        self._used = [0] * len(ARENAS)
        self._places = np.zeros((ROWS, len(ARENAS), 2), np.int64)  # START, LENGTH in each arena
        self._rows: dict[tuple[int, int], int] = {}  # of a CTA of a slot in ``_places``
        self._free = list(range(ROWS))

    def add(self, slot: int, ctas: dict[int, Cta]) -> None:
        """Copy the streams of CTAs, by number, and queue them for dispatch in their kernel's slot.

        There must be room for them in the queue.
        """
        parts = [
            [cta.warps for cta in ctas.values()],
            [cta.runs for cta in ctas.values()],
            [cta.addresses for cta in ctas.values()],
            [cta.pool for cta in ctas.values()],
        ]
        places = np.zeros((len(ctas), len(ARENAS), 2), np.int64)
        for k, of_all in enumerate(parts):
            self._copy(k, of_all, places[:, k])
        self._keep([(slot, number) for number in ctas], places)
        entries = np.zeros(len(ctas), PENDING)
        entries["cta"] = list(ctas)
        for k, part in enumerate(PARTS):
            entries[part] = places[:, k, START]
        for name, counts in zip(INSTRUCTIONS, self._count(places[:, 0])):
            entries[name] = counts
        queued = int(self.queued[slot])
        self._pending[slot, np.arange(queued, queued + len(ctas)) % self._pending.shape[1]] = (
            entries
        )
        self.queued[slot] = queued + len(ctas)

    def _count(self, warps: np.ndarray) -> list[np.ndarray]:
        """INSTRUCTIONS of CTAs whose warps have just been copied, one behind the other."""
        start = warps[0, START]
        ends = warps.sum(axis=1) - start
        copied = self._arenas[0][start : start + ends[-1]]
        counts = []
        for name in INSTRUCTIONS:
            sums = np.zeros(len(copied) + 1, np.int64)
            np.cumsum(copied[name], out=sums[1:])
            until = sums[ends]
            until[1:] -= sums[ends[:-1]]
            counts.append(until)
        return counts

    def _copy(self, k: int, parts: list[np.ndarray], places: np.ndarray) -> None:
        """Copy the parts of several CTAs to the end of an arena, and tell their places."""
        lengths = places[:, LENGTH]
        lengths[:] = list(map(len, parts))
        length = int(lengths.sum())
        if self._used[k] + length > len(self._arenas[k]):
            self._make_room(k, length)
        start = self._used[k]
        end = self._used[k] = start + length
        put_together(parts, self._arenas[k][start:end])
        places[:, START] = start + np.cumsum(lengths) - lengths

    def _keep(self, keys: list[tuple[int, int]], places: np.ndarray) -> None:
        """Remember where CTAs are, in rows that are free."""
        while len(self._free) < len(keys):
            self._free += range(len(self._places), 2 * len(self._places))
            self._places = np.concatenate((self._places, np.zeros_like(self._places)))
        left = len(self._free) - len(keys)
        rows, self._free = self._free[left:], self._free[:left]
        self._places[rows] = places
        self._rows.update(zip(keys, rows))

    def waiting(self, slot: int) -> int:
        """How many CTAs of a slot are queued and not dispatched."""
        return int(self.queued[slot]) - int(self.taken[slot])

    def retire(self, slot: int, number: int) -> None:
        """Forget a finished CTA."""
        self._free.append(self._rows.pop((slot, number)))

    def drop_all(self) -> None:
        """Forget everything, when no CTA is alive."""
        self._used = [0] * len(ARENAS)
        self._rows.clear()
        self._free = list(range(len(self._places)))

    def replace(self, **arrays: np.ndarray | Context) -> None:
        """Go on with new arrays in the place of some of the SMs'."""
        self._take(self.sm._replace(**arrays))

    def resize(self, arrays: dict[str, np.ndarray], by_instruction: np.ndarray, mine: bool) -> None:
        """Have arenas, and that of code, as large as those of a checkpoint's arrays.

        Counters go on from the sums ``by_instruction``, on the first machine (``mine``) alone.
        """
        names = (*ARENAS, "code")
        grown: dict[str, np.ndarray] = {n: arrays[f"sm.{n}"].copy().view(Records) for n in names}
        grown["pool"] = grown["pool"].view(np.ndarray)
        rows = attributed.take_up(self.sm, by_instruction, mine)
        self.replace(**grown, attribution=rows)

    def freeze(self) -> dict:
        """What is known of the arenas besides their content."""
        keys = np.array(list(self._rows), np.int64).reshape(len(self._rows), 2)
        places = self._places[list(self._rows.values())].reshape(len(keys), 2 * len(ARENAS))
        return {"used": self._used, "live": np.hstack((keys, places))}

    def thaw(self, frozen: dict) -> None:
        """Go on where ``freeze`` was called; the arenas are as they were."""
        self.drop_all()
        self._used = list(frozen["used"])
        live = np.asarray(frozen["live"])
        keys = [(slot, number) for slot, number in live[:, :2].tolist()]
        self._keep(keys, live[:, 2:].reshape(len(keys), len(ARENAS), 2))

    def _take(self, sm: Sm) -> None:
        """Plain views of what is touched for every CTA: record arrays are slow from Python."""
        self.sm = sm
        self._arenas = [np.asarray(getattr(sm, name)).view(np.ndarray) for name in ARENAS]

    def _make_room(self, k: int, extra: int) -> None:
        """Move what is alive to the front of an arena, of a larger one if it stays half full."""
        old = self._arenas[k]
        rows = np.array(list(self._rows.values()), np.int64)
        live = int(self._places[rows, k, LENGTH].sum()) + extra
        size = len(old)
        while size < 2 * live:
            size *= 2
        new = old if size == len(old) else np.zeros(size, old.dtype)
        self._compact(k, rows, old, new)
        if new is not old:
            self.replace(**{ARENAS[k]: new.view(type(getattr(self.sm, ARENAS[k])))})
        self._relocate(k)

    def _compact(self, k: int, rows: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        """Copy what is alive, what lies side by side together."""
        rows = rows[np.argsort(self._places[rows, k, START], kind="stable")]
        starts, lengths = self._places[rows, k, START], self._places[rows, k, LENGTH]
        ends = np.cumsum(lengths)
        first = np.flatnonzero(np.append(True, starts[1:] != starts[:-1] + lengths[:-1]))
        last = np.append(first[1:], len(rows)) - 1
        for i, j in zip(first.tolist(), last.tolist()) if len(rows) else ():
            new[ends[i] - lengths[i] : ends[j]] = old[starts[i] : starts[j] + lengths[j]]
        self._places[rows, k, START] = ends - lengths
        self._used[k] = int(lengths.sum())

    def _relocate(self, k: int) -> None:
        """Tell resident and waiting CTAs where their streams lie now."""
        field = PARTS[k]
        room = self._pending.shape[1]
        for slot in np.flatnonzero(self.sm.kernels["active"]).tolist():
            waiting = np.arange(int(self.taken[slot]), int(self.queued[slot])) % room
            numbers = self._pending["cta"][slot, waiting].tolist()
            rows = [self._rows[slot, number] for number in numbers]
            self._pending[field][slot, waiting] = self._places[rows, k, START]
        if k == 0:  # warp records are read at launch only
            return
        ctas = self.sm.ctas.view(np.ndarray)
        sms, slots = np.nonzero(ctas["active"][self._mine])
        active = self._mine[sms], slots
        keys = zip(ctas["kernel"][active].tolist(), ctas["cta"][active].tolist())
        rows = [self._rows[key] for key in keys]
        ctas[field][active] = self._places[rows, k, START]


assert PENDING.names == ("cta", *PARTS, *INSTRUCTIONS)
