"""Turns of SMs, compiled: CTAs begin, warps take steps, barriers open, places become free."""

import numpy as np

from lockstep._jit import Context, Records, force_inline, inline, jit
from lockstep.caches.accesses import BARRIER, FARTHEST, INVALIDATE, PRIVATE, READ

PRIVATE_REGION = 1 << 49  # first line of local memory, apart from all others
PRIVATE_SHIFT = 38  # log2 of the lines that an SM has there
PLACE_LINES = 1 << 24  # of these, what each place has
SAME_SHIFT = 16
RANDOM_MASK = (1 << 62) - 1

FULL, WANTS, DONE = range(3)  # why the compiled side comes back
EMPTY, READY, WAITING, ENDED = range(4)  # states of a warp

_FIELDS = (
    "sms", "places", "warps", "greedy", "rest", "same", "random", "turn", "sm", "out", "next_sm",
    "free", "began", "pending", "more", "living", "apart", "rows", "firsts", "steps", "lines",
)  # fmt: skip
TURNS = np.dtype([(name, "i8") for name in _FIELDS])
LOADED = np.dtype(
    [
        ("steps", "i8"),  # what is added to its first steps
        ("lines", "i8"),  # ... and to the lines of its steps
        ("warps", "i8"),  # where its first steps are
        ("number", "i8"),  # in the grid
    ]
)
PLACE = np.dtype([("row", "i8"), ("living", "i8"), ("waiting", "i8"), ("began", "i8")])
ORDER_WARP = np.dtype(
    [("cursor", "i8"), ("end", "i8"), ("sent", "i8"), ("state", "i8"), ("at", "i8"), ("went", "i8")]
)


class Interleaving(Context):
    """What the compiled side reads and writes."""

    spec: Records  # TURNS, one
    loaded: Records  # LOADED: a row a CTA that is kept; the last ``pending`` have not begun
    firsts: np.ndarray  # int64: first step of each warp of those, and where they end
    steps: Records  # STEP, of those
    lines: Records  # LINE
    moved: np.ndarray  # int64: where each row goes in ``compact``
    places: Records  # PLACE [sms, places]
    warps: Records  # ORDER_WARP [sms, places * warps of a CTA]
    last: np.ndarray  # int64 [sms]: the warp that went last
    ready: np.ndarray  # int64 [sms]: warps that wait for nobody
    out: Records  # ENTRY


@jit
def fill(o):
    """Go on until ``out`` is full, a CTA is wanted that is not there, or all have ended."""
    spec = o.spec[0]
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
    row = spec.rows - spec.pending
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
    """A number below 1 << SAME_SHIFT."""
    x = spec.random
    x ^= (x << 13) & RANDOM_MASK
    x ^= x >> 7
    x ^= (x << 17) & RANDOM_MASK
    spec.random = x
    return x & ((1 << SAME_SHIFT) - 1)


@jit
def take_in(o, first, steps, lines):
    """Append CTAs, whose first steps and lines count from those that come with them: so many, which
    lie behind those of the others."""
    spec = o.spec[0]
    count, width = first.shape
    for k in range(count):
        row = o.loaded[spec.rows + k]
        row.steps, row.lines = spec.steps, spec.lines
        row.warps = spec.firsts + k * width
        row.number = spec.began + spec.pending + k
        for w in range(width):
            o.firsts[row.warps + w] = first[k, w]
    spec.rows += count
    spec.pending += count
    spec.firsts += count * width
    spec.steps += steps
    spec.lines += lines


@force_inline
def _copy_step(to, step):
    to.first, to.lines, to.site = step.first, step.lines, step.site
    to.kind, to.flags = step.kind, step.flags


@jit
def compact(o):
    """Move what CTAs need that have not ended to the front of all arrays, in their order."""
    spec = o.spec[0]
    for row in range(spec.rows):
        o.moved[row] = 0 if row >= spec.rows - spec.pending else -1
    for sm in range(spec.sms):
        for slot in range(spec.places):
            if o.places[sm, slot].row >= 0:
                o.moved[o.places[sm, slot].row] = 0
    rows, spec.rows = spec.rows, 0
    spec.firsts = spec.steps = spec.lines = 0
    for row in range(rows):
        if o.moved[row] == 0:
            o.moved[row] = spec.rows
            _move(o, spec, o.loaded[row])
    for sm in range(spec.sms):
        for slot in range(spec.places):
            place = o.places[sm, slot]
            if place.row >= 0:
                place.row = o.moved[place.row]
                _follow(o, spec, sm, slot)


@inline
def _move(o, spec, of):
    """A CTA's records go to where there is room, which is not behind where they are."""
    warps = spec.warps
    first, end = o.firsts[of.warps], o.firsts[of.warps + warps]
    shift = spec.steps - first  # of its first steps
    lines, behind = FARTHEST, 0
    for k in range(of.steps + first, of.steps + end):
        step = o.steps[k]
        if step.lines > 0:
            lines, behind = min(lines, step.first), max(behind, step.first + step.lines)
    count = behind - lines if behind > 0 else 0
    lines = lines if count > 0 else 0
    for k in range(count):
        to, line = o.lines[spec.lines + k], o.lines[of.lines + lines + k]
        to.line, to.sectors = line.line, line.sectors
    for k in range(end - first):
        _copy_step(o.steps[spec.steps + k], o.steps[of.steps + first + k])
    for k in range(warps + 1):
        o.firsts[spec.firsts + k] = o.firsts[of.warps + k]
    to = o.loaded[spec.rows]
    to.number, to.warps = of.number, spec.firsts
    to.steps, to.lines = shift, spec.lines - lines
    spec.rows += 1
    spec.firsts += warps + 1
    spec.steps += end - first
    spec.lines += count


@inline
def _follow(o, spec, sm, slot):
    """The warps of a place go on where the steps of their CTA lie now."""
    loaded = o.loaded[o.places[sm, slot].row]
    for k in range(spec.warps):
        warp = o.warps[sm, slot * spec.warps + k]
        end = loaded.steps + o.firsts[loaded.warps + k + 1]
        warp.cursor += end - warp.end
        warp.end = end
