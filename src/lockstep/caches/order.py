"""The order in which the accesses of a launch reach the caches, without time.

CTAs go to SMs in turn, as many to each as it holds, later ones where one has ended. In each turn
every SM takes one step of one of its warps: of the next that is ready (``lrr``), or of the same one
as before for as long as it is, else of the oldest (``gto``). Warps of a CTA meet at barriers. A
warp that has read rests for some turns of its SM. Nothing depends on what is in a cache: the order
is made once for all configurations.
"""

from typing import Any, Literal, get_args

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit
from lockstep.caches.accesses import (
    BARRIER,
    INVALIDATE,
    LINE,
    PRIVATE,
    READ,
    STEP,
    CtaAccesses,
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
        ("sectors", "u1"),  # bits: which 32 bytes of the line
        ("kind", "u1"),  # READ, WRITE, ATOMIC, INVALIDATE
        ("flags", "u1"),  # PAST_L1, PRIVATE
        ("last", "u1"),  # 1: the last line of its instruction
    ]
)
"""One line of one warp's memory instruction, as it reaches the L1 of its SM."""

CHUNK = 1 << 15  # entries that are made at a time: they stay in the host's caches
PRIVATE_REGION = 1 << 49  # first line of local memory, apart from all others
PRIVATE_SHIFT = 38  # log2 of the lines that an SM has there
PLACE_LINES = 1 << 24  # of these, what each place has
AHEAD = 64  # CTAs that are kept ready
_SELF_SHIFT = 16
_RANDOM_MASK = (1 << 62) - 1

FULL, WANTS, DONE = range(3)  # why the compiled side comes back
EMPTY, READY, WAITING, ENDED = range(4)  # states of a warp

_FIELDS = (
    "sms", "places", "warps", "greedy", "rest", "same", "random", "turn", "sm", "out", "next_sm",
    "free", "began", "pending", "first_pending", "more", "living", "apart",
)  # fmt: skip
_SPEC = np.dtype([(name, "i8") for name in _FIELDS])
_LOADED = np.dtype([("steps", "i8"), ("lines", "i8"), ("warps", "i8"), ("number", "i8")])
_PLACE = np.dtype([("row", "i8"), ("living", "i8"), ("waiting", "i8"), ("began", "i8")])
_WARP = np.dtype(
    [("cursor", "i8"), ("end", "i8"), ("sent", "i8"), ("state", "i8"), ("at", "i8"), ("went", "i8")]
)


class _Interleaving(Context):
    """What the compiled side reads and writes."""

    spec: Records  # _SPEC, one
    loaded: Records  # _LOADED: a row a CTA that is kept
    firsts: np.ndarray  # int64: first step of each warp of those, and where they end
    steps: Records  # STEP, of those
    lines: Records  # LINE
    ring: np.ndarray  # int64: rows of CTAs that have not begun
    places: Records  # _PLACE [sms, places]
    warps: Records  # _WARP [sms, places * warps of a CTA]
    last: np.ndarray  # int64 [sms]: the warp that went last
    ready: np.ndarray  # int64 [sms]: warps that wait for nobody
    out: Records  # ENTRY


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
        spec = as_records(np.zeros(1, _SPEC))
        s = spec[0]
        s.sms, s.greedy = sms, order == "gto"
        s.rest = (GREEDY_REST if order == "gto" else 0) if rest is None else rest
        s.same, s.random = round(same * (1 << _SELF_SHIFT)), (2 * seed + 1) & _RANDOM_MASK
        self._arrays: dict[str, Any] = {
            "spec": spec,
            "loaded": as_records(np.zeros(256, _LOADED)),
            "firsts": np.zeros(1024, np.int64),
            "steps": as_records(np.zeros(1 << 14, STEP)),
            "lines": as_records(np.zeros(1 << 14, LINE)),
            "ring": np.zeros(2 * AHEAD, np.int64),
            "places": as_records(np.zeros((sms, 1), _PLACE)),
            "warps": as_records(np.zeros((sms, 1), _WARP)),
            "last": np.zeros(sms, np.int64),
            "ready": np.zeros(sms, np.int64),
            "out": as_records(np.zeros(CHUNK, ENTRY)),
        }
        self._context: _Interleaving | None = None
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
        for name, kind, width in (("places", _PLACE, places), ("warps", _WARP, places * warps)):
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
        self._context = self._context or _Interleaving(**self._arrays)
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


@jit
def fill(o):
    """Go on until ``out`` is full, a CTA is wanted that is not there, or all have ended."""
    spec = o.spec[0]
    spec.out = 0
    while True:
        if spec.sm == 0:
            if spec.free > 0 and spec.pending > 0:
                _begin_ctas(o, spec)
            if spec.free > 0 and spec.more != 0:
                return WANTS
            if spec.living == 0:
                return DONE
        while spec.sm < spec.sms:
            if o.ready[spec.sm] > 0 and not _visit(o, spec, spec.sm):
                return FULL
            spec.sm += 1
        spec.sm = 0
        spec.turn += 1


@inline
def _begin_ctas(o, spec):
    """CTAs begin while there are free places: one on each SM in turn."""
    full = 0
    while spec.pending > 0 and full < spec.sms:
        sm = spec.next_sm
        spec.next_sm = sm + 1 if sm + 1 < spec.sms else 0
        slot = 0
        while slot < spec.places and o.places[sm, slot].row >= 0:
            slot += 1
        if slot == spec.places:
            full += 1
            continue
        full = 0
        _begin(o, spec, sm, slot)


@inline
def _begin(o, spec, sm, slot):
    """The next CTA begins in a place."""
    row = o.ring[spec.first_pending]
    spec.first_pending = spec.first_pending + 1 if spec.first_pending + 1 < len(o.ring) else 0
    spec.pending -= 1
    place, loaded = o.places[sm, slot], o.loaded[row]
    place.row, place.began = row, spec.began
    place.waiting = 0
    place.living = spec.warps
    spec.began += 1
    spec.free -= 1
    spec.living += 1
    for k in range(spec.warps):
        warp = o.warps[sm, slot * spec.warps + k]
        warp.cursor = loaded.steps + o.firsts[loaded.warps + k]
        warp.end = loaded.steps + o.firsts[loaded.warps + k + 1]
        warp.sent, warp.at, warp.went = 0, spec.turn, 0
        warp.state = READY
        o.ready[sm] += 1
    for k in range(spec.warps):
        _come_to(o, sm, slot, slot * spec.warps + k)
    _meet(o, spec, sm, slot)


@inline
def _come_to(o, sm, slot, w):
    """A warp looks at its next step: it may wait there for others, or have ended."""
    warp, place = o.warps[sm, w], o.places[sm, slot]
    while warp.cursor < warp.end and o.steps[warp.cursor].lines == 0:
        kind = o.steps[warp.cursor].kind
        if kind == BARRIER:
            warp.state = WAITING
            place.waiting += 1
            o.ready[sm] -= 1
            return
        if kind == INVALIDATE:
            return
        warp.cursor += 1
    if warp.cursor >= warp.end:
        warp.state = ENDED
        place.living -= 1
        o.ready[sm] -= 1


@inline
def _meet(o, spec, sm, slot):
    """A barrier opens when all warps that have not ended wait; a place is free when all have."""
    place = o.places[sm, slot]
    first = slot * spec.warps
    while place.living > 0 and place.waiting == place.living:
        place.waiting = 0
        for w in range(first, first + spec.warps):
            warp = o.warps[sm, w]
            if warp.state == WAITING:
                warp.state = READY
                warp.cursor += 1
                o.ready[sm] += 1
                _come_to(o, sm, slot, w)
    if place.living == 0:
        for w in range(first, first + spec.warps):
            o.warps[sm, w].state = EMPTY
        place.row = -1
        spec.free += 1
        spec.living -= 1


@inline
def _visit(o, spec, sm):
    """An SM takes a step of one of its warps; false if there is no more room for it."""
    if spec.out == len(o.out):  # before it chooses: that may draw a lot, and who comes next is kept
        return False
    w = _choose(o, spec, sm)
    if w < 0:
        return True
    warp = o.warps[sm, w]
    slot = w // spec.warps
    place = o.places[sm, slot]
    step = o.steps[warp.cursor]
    first = o.loaded[place.row].lines + step.first
    number = o.loaded[place.row].number * spec.warps + w - slot * spec.warps
    count = max(step.lines, 1)
    o.last[sm] = w
    while warp.sent < count:
        if spec.out == len(o.out):
            return False
        entry = o.out[spec.out]
        spec.out += 1
        entry.site, entry.warp, entry.sm = step.site, number, sm
        entry.kind, entry.flags = step.kind, step.flags
        entry.line = entry.sectors = 0
        if step.lines > 0:
            line = o.lines[first + warp.sent]
            entry.line, entry.sectors = line.line, line.sectors
            if step.flags & PRIVATE:
                entry.line += PRIVATE_REGION + (sm << PRIVATE_SHIFT) + slot * spec.apart
        warp.sent += 1
        entry.last = warp.sent == count
    warp.sent, warp.went = 0, 1
    warp.cursor += 1
    if step.kind == READ:
        warp.at = spec.turn + 1 + spec.rest
    _come_to(o, sm, slot, w)
    if warp.state != READY:
        _meet(o, spec, sm, slot)
    return True


@inline
def _choose(o, spec, sm):
    """The warp of an SM that goes on, or -1 if all rest."""
    last = o.last[sm]
    if last >= 0:
        warp = o.warps[sm, last]
        if warp.sent > 0:
            return last
        again = warp.went != 0 and warp.state == READY and warp.at <= spec.turn
        if again and (spec.greedy or (spec.same > 0 and _lot(spec) < spec.same)):
            return last
    if spec.greedy:
        return _oldest(o, spec, sm)
    count = spec.places * spec.warps
    w = last
    for _ in range(count):
        w = w + 1 if w + 1 < count else 0
        if o.warps[sm, w].state == READY and o.warps[sm, w].at <= spec.turn:
            return w
    return -1


@inline
def _oldest(o, spec, sm):
    """The ready warp of the CTA that began first."""
    best = -1
    age = 0
    for slot in range(spec.places):
        place = o.places[sm, slot]
        if place.row < 0 or place.living == place.waiting or (best >= 0 and place.began > age):
            continue
        for w in range(slot * spec.warps, (slot + 1) * spec.warps):
            if o.warps[sm, w].state == READY and o.warps[sm, w].at <= spec.turn:
                best, age = w, place.began
                break
    return best


@inline
def _lot(spec):
    """A number below 1 << _SELF_SHIFT."""
    x = spec.random
    x ^= (x << 13) & _RANDOM_MASK
    x ^= x >> 7
    x ^= (x << 17) & _RANDOM_MASK
    spec.random = x
    return x & ((1 << _SELF_SHIFT) - 1)
