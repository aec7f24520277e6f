"""The order in which the accesses of a launch reach the caches, without time.

CTAs go to SMs in turn, as many to each as it holds, later ones where one has ended. In each turn
every SM takes one step of one of its warps: of the next that is ready (``lrr``), or of the same one
as before for as long as it is, else of the oldest (``gto``). Warps of a CTA meet at barriers. A
warp that has read rests for some turns of its SM. Nothing depends on what is in a cache: the order
is made once for all configurations.
"""

from typing import Any, Literal, get_args

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.accesses import LINE, STEP, CtaAccesses
from lockstep.caches.turns import (
    FULL,
    LOADED,
    ORDER_WARP,
    PLACE,
    PLACE_LINES,
    RANDOM_MASK,
    SAME_SHIFT,
    TURNS,
    Interleaving,
    fill,
)
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.model.sm import bind
from lockstep.workload import Kernel

Order = Literal["lrr", "gto"]
ORDERS = get_args(Order)
GREEDY_REST = 4  # turns, in the order gto: without them a warp would run alone to its end

ENTRY = np.dtype(
    [
        ("line", "i8"),  # address / 128
        ("site", "i4"),  # index of the instruction
        ("warp", "i4"),  # in the grid
        ("sm", "i4"),
        ("sectors", "u2"),  # bits: which 32 bytes of the line
        ("kind", "u1"),  # READ, WRITE, ATOMIC, INVALIDATE
        ("flags", "u1"),  # PAST_L1, PRIVATE
    ]
)
"""One line of one warp's memory instruction, as it reaches the L1 of its SM."""

CHUNK = 1 << 15  # entries that are made at a time: they stay in the host's caches
AHEAD = 64  # CTAs that are kept ready


def places_of(kernel: Kernel, gpu: GPU) -> int:
    """CTAs of a kernel that an SM holds at a time; raises WorkloadError if it holds none."""
    return int(bind.occupancy(kernel, gpu)[0])


class Interleaver:
    """Brings the accesses of a launch into an order; ``begin`` starts another launch.

    ``same``: the share of turns, 0 to 1, in which a warp goes on that has just gone, by lot from
    ``seed``; G-MAP's SchedP_self.
    """

    def __init__(
        self,
        sms: int,
        order: Order = "lrr",
        *,
        same: float = 0.0,
        rest: int | None = None,
        seed: int = 0,
    ):
        if order not in ORDERS:
            raise WorkloadError(f"there is no order {order!r}; expected {' or '.join(ORDERS)}")
        if not 0 <= same <= 1:
            raise WorkloadError(f"a share of {same} turns; expected 0 to 1")
        spec = as_records(np.zeros(1, TURNS))
        s = spec[0]
        s.sms, s.greedy = sms, order == "gto"
        s.rest = (GREEDY_REST if order == "gto" else 0) if rest is None else rest
        s.same, s.random = round(same * (1 << SAME_SHIFT)), (2 * seed + 1) & RANDOM_MASK
        self._arrays: dict[str, Any] = {
            "spec": spec,
            "loaded": as_records(np.zeros(256, LOADED)),
            "firsts": np.zeros(1024, np.int64),
            "steps": as_records(np.zeros(1 << 14, STEP)),
            "lines": as_records(np.zeros(1 << 14, LINE)),
            "ring": np.zeros(2 * AHEAD, np.int64),
            "places": as_records(np.zeros((sms, 1), PLACE)),
            "warps": as_records(np.zeros((sms, 1), ORDER_WARP)),
            "last": np.zeros(sms, np.int64),
            "ready": np.zeros(sms, np.int64),
            "out": as_records(np.zeros(CHUNK, ENTRY)),
        }
        self._context: Interleaving | None = None
        self._used = {"loaded": 0, "firsts": 0, "steps": 0, "lines": 0}
        self._sizes: list[tuple[int, int, int]] = []  # firsts, steps, lines of each row

    @property
    def entries(self) -> Records:
        """The memory that ``run`` fills, :data:`ENTRY`."""
        return self._arrays["out"]

    def begin(self, places: int, warps: int, apart: int = PLACE_LINES) -> None:
        """Another launch: its CTAs have ``warps`` warps, and each SM holds ``places`` of them.

        ``apart``: lines between the local memories of an SM's places.
        """
        spec = self._arrays["spec"][0]
        sms = int(spec.sms)
        spec.places, spec.warps, spec.free, spec.apart = places, warps, sms * places, apart
        spec.sm = spec.next_sm = spec.began = spec.pending = spec.first_pending = spec.living = 0
        for name, kind, width in (("places", PLACE, places), ("warps", ORDER_WARP, places * warps)):
            if self._arrays[name].shape[1] != width:
                self._put(name, as_records(np.zeros((sms, width), kind)))
            self._arrays[name].view(np.ndarray)[:] = 0
        self._arrays["places"]["row"] = -1
        self._arrays["last"][:] = -1
        self._arrays["ready"][:] = 0
        self._used = dict.fromkeys(self._used, 0)
        self._sizes = []

    @property
    def wants(self) -> bool:
        """Whether so few CTAs wait to begin that more should be added before it runs."""
        return self._arrays["spec"][0].pending < AHEAD

    def add(self, cta: CtaAccesses) -> None:
        """One more CTA, in grid order, where it ``wants``."""
        needs = {
            "loaded": 1,
            "firsts": len(cta.first),
            "steps": len(cta.steps),
            "lines": len(cta.lines),
        }
        if any(self._used[n] + need > len(self._arrays[n]) for n, need in needs.items()):
            self._make_room(needs)
        arrays, used = self._arrays, self._used
        row = used["loaded"]
        spec, loaded = arrays["spec"][0], arrays["loaded"][row]
        number = int(spec.began + spec.pending)
        loaded.steps, loaded.lines = used["steps"], used["lines"]
        loaded.warps, loaded.number = used["firsts"], number
        for name, part in (("firsts", cta.first), ("steps", cta.steps), ("lines", cta.lines)):
            plain(arrays[name])[used[name] : used[name] + len(part)] = plain(part)
        for name, need in needs.items():
            used[name] += need
        self._sizes.append((len(cta.first), len(cta.steps), len(cta.lines)))
        arrays["ring"][(spec.first_pending + spec.pending) % len(arrays["ring"])] = row
        spec.pending += 1

    def run(self, more: bool) -> tuple[int, bool]:
        """Fill ``entries``: how many there are, and whether to call it again before adding CTAs.

        ``more``: CTAs will be added; else the launch runs to its end.
        """
        self._context = self._context or Interleaving(**self._arrays)
        self._arrays["spec"][0].more = more
        reason = fill(self._context)
        return int(self._arrays["spec"][0].out), reason == FULL

    def _make_room(self, needs: dict[str, int]) -> None:
        """Keep what is still needed, in larger arrays if that is much."""
        arrays, spec = self._arrays, self._arrays["spec"][0]
        ring, places = arrays["ring"], arrays["places"]["row"]
        waiting = [(spec.first_pending + k) % len(ring) for k in range(spec.pending)]
        kept = sorted({*ring[waiting].tolist(), *places[places >= 0].tolist()})
        old = {name: arrays[name] for name in self._used}
        sums = [1 * len(kept), *(sum(self._sizes[row][k] for row in kept) for k in range(3))]
        for (name, need), held in zip(needs.items(), sums):
            size = len(old[name])
            while 2 * held + need > size:
                size *= 2
            if name == "firsts":
                self._put(name, np.zeros(size, np.int64))
            else:
                self._put(name, as_records(np.zeros(size, old[name].dtype)))
        used, sizes, moved = dict.fromkeys(self._used, 0), self._sizes, {}
        self._sizes = []
        for row in kept:
            before, now = old["loaded"][row], arrays["loaded"][used["loaded"]]
            moved[row] = used["loaded"]
            now.number = before.number
            starts = {"firsts": before.warps, "steps": before.steps, "lines": before.lines}
            now.warps, now.steps, now.lines = used["firsts"], used["steps"], used["lines"]
            for (name, start), count in zip(starts.items(), sizes[row]):
                plain(arrays[name])[used[name] : used[name] + count] = plain(old[name])[
                    start : start + count
                ]
                used[name] += count
            used["loaded"] += 1
            self._sizes.append(sizes[row])
        self._used = used
        ring[waiting] = [moved[row] for row in ring[waiting].tolist()]
        flat = places.reshape(-1)
        for k in np.flatnonzero(flat >= 0).tolist():
            self._move(k, old["loaded"][flat[k]], arrays["loaded"][moved[int(flat[k])]])
            flat[k] = moved[int(flat[k])]

    def _move(self, place: int, before, now) -> None:
        """The warps of a place go on where their CTA lies now."""
        spec = self._arrays["spec"][0]
        sm, slot = divmod(place, int(spec.places))
        warps = self._arrays["warps"][sm, slot * spec.warps : (slot + 1) * spec.warps]
        for name in ("cursor", "end"):
            warps[name] += now.steps - before.steps

    def _put(self, name: str, array: np.ndarray) -> None:
        self._arrays[name], self._context = array, None


def plain(array: np.ndarray) -> np.ndarray:
    """Records as plain bytes, which NumPy copies at once; an array of numbers as it is."""
    if not array.dtype.names:
        return array
    return array.view(np.ndarray).view(np.dtype((np.void, array.dtype.itemsize)))
