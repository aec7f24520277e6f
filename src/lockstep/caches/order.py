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
from lockstep.caches.accesses import LINE, STEP, Batch
from lockstep.caches.turns import (
    FULL,
    LOADED,
    ORDER_WARP,
    PLACE,
    PLACE_LINES,
    RANDOM_MASK,
    SAME_SHIFT,
    TURNS,
    WANTS,
    Interleaving,
    compact,
    fill,
    take_in,
)
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.model.core import bind
from lockstep.plain_bytes import plain
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

CHUNK = 1 << 16  # entries that are made at a time: so few that looking up begins early


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
            "moved": np.zeros(256, np.int64),
            "places": as_records(np.zeros((sms, 1), PLACE)),
            "warps": as_records(np.zeros((sms, 1), ORDER_WARP)),
            "last": np.zeros(sms, np.int64),
            "ready": np.zeros(sms, np.int64),
            "out": as_records(np.zeros(CHUNK, ENTRY)),
        }
        self._context: Interleaving | None = None

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
        spec.sm = spec.next_sm = spec.began = spec.pending = spec.living = 0
        spec.rows = spec.firsts = spec.steps = spec.lines = spec.out = 0
        for name, kind, width in (("places", PLACE, places), ("warps", ORDER_WARP, places * warps)):
            if self._arrays[name].shape[1] != width:
                self._put(name, as_records(np.zeros((sms, width), kind)))
            self._arrays[name].view(np.ndarray).view(np.uint8).fill(0)  # at once, not by field
        self._arrays["places"]["row"] = -1
        self._arrays["last"][:] = -1
        self._arrays["ready"][:] = 0

    def add(self, ctas: Batch) -> None:
        """More CTAs, in grid order."""
        count = len(ctas.first)
        self._make_room(count, ctas)
        self._context = self._context or Interleaving(**self._arrays)
        spec = self._arrays["spec"][0]
        for name, records in ("steps", ctas.steps), ("lines", ctas.lines):
            held = int(spec[name])
            plain(self._arrays[name])[held : held + len(records)] = plain(records)
        take_in(self._context, ctas.first, len(ctas.steps), len(ctas.lines))

    def run(self, more: bool) -> tuple[int, bool]:
        """Fill ``entries``: how many there are, and whether to call it again before adding CTAs.

        ``more``: CTAs will be added, and all that were have begun in the end; else the launch runs
        to its end. Entries are kept until there is no room for more, or the launch has ended.
        """
        self._context = self._context or Interleaving(**self._arrays)
        spec = self._arrays["spec"][0]
        spec.more = more
        reason = fill(self._context)
        if reason == WANTS:
            return 0, False
        count, spec.out = int(spec.out), 0
        return count, reason == FULL

    def _make_room(self, count: int, ctas: Batch) -> None:
        """Have room for more CTAs: forget those that have ended, then take more memory."""
        needs = {
            "rows": count,
            "firsts": ctas.first.size,
            "steps": len(ctas.steps),
            "lines": len(ctas.lines),
        }
        arrays, spec = self._arrays, self._arrays["spec"][0]
        places = {"loaded": "rows", "moved": "rows", "firsts": "firsts"}
        places |= {"steps": "steps", "lines": "lines"}
        if all(spec[each] + needs[each] <= len(arrays[name]) for name, each in places.items()):
            return
        self._context = self._context or Interleaving(**arrays)
        compact(self._context)
        for name, each in places.items():
            old, held, size = arrays[name], int(spec[each]), len(arrays[name])
            while 2 * held + needs[each] > size:
                size *= 2
            if size > len(old):
                made = np.zeros(size, old.dtype)
                self._put(name, as_records(made) if old.dtype.names else made)
                plain(arrays[name])[:held] = plain(old)[:held]

    def _put(self, name: str, array: np.ndarray) -> None:
        self._arrays[name], self._context = array, None
