"""What the warps of CTAs access in global and local memory, after coalescing.

A warp's stream becomes *steps*, one for each of its memory instructions, with the lines that these
touch, in the order of lanes. Barriers stay, as steps without lines. Shared memory, constants and
what else never reaches an L1 are left out.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import inline, popcount
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.core import tile
from lockstep.model.core.coalescer import APERTURE, GLOBAL, LOCAL, resolve
from lockstep.workload import NOWHERE
from lockstep.workload.bulk_copies import TILE_WORDS

LINE_BYTES, SECTOR_BYTES = 128, 32  # of all streams; a cache's own are made of these
LINE_SHIFT, SECTOR_SHIFT = 7, 5
LINE_SECTORS = LINE_BYTES // SECTOR_BYTES

READ, WRITE, ATOMIC, BARRIER, INVALIDATE = range(5)
"""Kinds of steps; an atomic may return something or not. INVALIDATE: the L1 forgets everything."""
PAST_L1, PRIVATE = 1, 2
"""Flags of steps: it does not look into the L1; it is of local memory, whose lines count from the
start of what the CTA has of it."""

STEP = np.dtype(
    [
        ("first", "i8"),  # of its lines, counted from those of the CTA, or of the first of some
        ("lines", "i4"),
        ("site", "i4"),  # index of the instruction
        ("kind", "i4"),
        ("flags", "i4"),
    ]
)
LINE = np.dtype([("line", "i8"), ("sectors", "i8")])
"""Number of a line (address / LINE_BYTES), and the sectors of it that are touched, a bit each."""

_KINDS = {
    OpClass.LOAD: READ,
    OpClass.TEXTURE: READ,
    OpClass.ASYNC_COPY: READ,
    OpClass.BULK_COPY: READ,
    OpClass.TILE_COPY: READ,
    OpClass.STORE: WRITE,
    OpClass.BULK_STORE: WRITE,
    OpClass.TILE_STORE: WRITE,
    OpClass.ATOMIC: ATOMIC,
    OpClass.REDUCTION: ATOMIC,
    OpClass.BARRIER: BARRIER,
}
_NONE = -1
FARTHEST = 1 << 62  # no line has such a number
_BYPASS = int(CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE)
_INVALIDATE = int(CachePolicy.INVALIDATE)
_SURFACE, _CONTROL = int(OpClass.SURFACE), int(OpClass.CACHE_CONTROL)
_BULK_COPY, _BULK_STORE = int(OpClass.BULK_COPY), int(OpClass.BULK_STORE)
_TILE_COPY, _TILE_STORE = int(OpClass.TILE_COPY), int(OpClass.TILE_STORE)
_TEXTURE = int(Space.TEXTURE)

_FIELDS = (
    "ctas", "warps", "warp", "pool", "lanes", "threads", "shared_base", "local_base", "cluster",
    "steps", "lines", "full", "least", "most",
)  # fmt: skip
COALESCING = np.dtype([(name, "i8") for name in _FIELDS])
CODE = np.dtype(
    [
        ("kind", "i4"),
        ("op", "i4"),
        ("space", "i4"),
        ("width", "i4"),
        ("flags", "i8"),
        ("size", "i8"),
    ]
)


class Batch(NamedTuple):
    """The accesses of some CTAs: those of warp ``w`` of CTA ``k`` are
    ``steps[first[k, w] : first[k, w + 1]]``, whose lines count from those of the first CTA."""

    first: np.ndarray
    steps: np.ndarray
    lines: np.ndarray


def described(code: np.ndarray) -> np.ndarray:
    """What each instruction is here."""
    kinds = np.full(max(OpClass) + 1, _NONE)
    kinds[list(_KINDS)] = list(_KINDS.values())
    made = np.zeros(len(code), CODE)
    made["kind"], made["op"], made["space"] = kinds[code["op"]], code["op"], code["space"]
    surface = code["op"] == _SURFACE
    made["kind"][surface] = np.where(code["destinations"][surface] == 0, WRITE, READ)
    control = (code["op"] == _CONTROL) & (code["cache"] & _INVALIDATE != 0)
    made["kind"][control] = INVALIDATE
    made["width"], made["size"] = code["width"], np.maximum(code["width"], code["immediate"])
    bulk = np.isin(code["op"], (_BULK_COPY, _BULK_STORE, _TILE_COPY, _TILE_STORE))
    past = (made["kind"] == READ) & (code["cache"] & _BYPASS != 0)
    made["flags"] = np.where(bulk | past, PAST_L1, 0)
    return made


@inline
def add_step(s, spec, static, kind, flags):
    """Begin a step."""
    step = s.steps[spec.steps]
    step.first, step.lines = spec.lines, 0
    step.site, step.kind, step.flags = static, kind, flags
    spec.steps += 1
    spec.least, spec.most = FARTHEST, -FARTHEST
    return step


@inline
def access(s, spec, static, code, mask, address):
    """One memory instruction; false if there is no room for what it touches."""
    record = s.addresses[address]
    if spec.steps == len(s.steps):
        return False
    if code.op == _TILE_COPY or code.op == _TILE_STORE:
        step = add_step(s, spec, static, code.kind, code.flags)
        return _tile(s, spec, step, record)
    space = GLOBAL if code.space == _TEXTURE else resolve(code.space, record.first, spec)
    if space != GLOBAL and space != LOCAL:
        return True
    if record.pool < 0 and record.first == NOWHERE and record.stride == 0:
        return True
    if code.op == _BULK_COPY or code.op == _BULK_STORE:
        step = add_step(s, spec, static, code.kind, code.flags)
        return _lanes(s, spec, step, record, mask, code.size)
    step = add_step(s, spec, static, code.kind, code.flags | (PRIVATE if space == LOCAL else 0))
    if space == LOCAL:
        return _private(s, spec, step, record, mask, code.width)
    width = code.width
    if record.pool < 0 and -width <= record.stride <= width:
        last = record.first + (popcount(mask) - 1) * record.stride
        low, high = min(record.first, last), max(record.first, last)
        return _range(s, spec, step, low, high + width)
    return _lanes(s, spec, step, record, mask, width)


@inline
def _listed(s, spec, record, k):
    """The address of the lane that is the k-th to take part, or a word of a tile."""
    return (
        record.first + k * record.stride if record.pool < 0 else s.pool[spec.pool + record.pool + k]
    )


@inline
def _lanes(s, spec, step, record, mask, size):
    """Bytes from the address of each lane on: at once where they lie side by side."""
    begin = end = 0
    for k in range(popcount(mask)):
        low = _listed(s, spec, record, k)
        if low == NOWHERE:
            continue
        if low == end and begin < end:
            end += size
        elif low < begin or low + size > end:
            if not _range(s, spec, step, begin, end):
                return False
            begin, end = low, low + size
    return _range(s, spec, step, begin, end)


@inline
def _private(s, spec, step, record, mask, width):
    """Local memory: threads are interleaved by word, as the model has it."""
    k = 0
    for lane in range(spec.lanes):
        if (mask >> lane) & 1:
            at = _listed(s, spec, record, k)
            if spec.local_base > 0 and at >= spec.local_base:
                at -= spec.local_base
            at &= APERTURE - 1
            for offset in range(0, width, 4):
                thread = spec.warp * spec.lanes + lane
                word = ((at + offset) >> 2) * spec.threads + thread
                low = word * 4 + (at & 3)
                if not _range(s, spec, step, low, low + min(width, 4)):
                    return False
            k += 1
    return True


@inline
def _tile(s, spec, step, record):
    """The rows of a tile that exist."""
    for k in range(TILE_WORDS):
        s.place[k] = _listed(s, spec, record, k)
    there = tile.begin(s.place)
    while there:
        low = tile.address(s.place)
        if not _range(s, spec, step, low, low + s.place[tile.BYTES]):
            return False
        tile.step(s.place)
        there = tile.seek(s.place)
    return True


@inline
def _range(s, spec, step, low, high):
    """Add bytes low..high-1 to a step, line by line; false if there is no room."""
    while low < high:
        line = low >> LINE_SHIFT
        end = min(high, (line + 1) << LINE_SHIFT)
        first = (low >> SECTOR_SHIFT) & (LINE_SECTORS - 1)
        last = ((end - 1) >> SECTOR_SHIFT) & (LINE_SECTORS - 1)
        # Beyond all lines so far, as mostly, it is none of these: they are not looked at.
        k = spec.lines - 1 if spec.least <= line <= spec.most else step.first - 1
        while k >= step.first and s.lines[k].line != line:
            k -= 1
        if k < step.first:
            if spec.lines == len(s.lines):
                return False
            k = spec.lines
            spec.lines += 1
            step.lines += 1
            spec.least, spec.most = min(spec.least, line), max(spec.most, line)
            s.lines[k].line, s.lines[k].sectors = line, 0
        s.lines[k].sectors |= (2 << last) - (1 << first)
        low = end
    return True
