"""What the warps of CTAs access in global and local memory, after coalescing.

A warp's stream becomes *steps*, one for each of its memory instructions, with the lines that these
touch, in the order of lanes. Barriers stay, as steps without lines. Shared memory, constants and
what else never reaches an L1 are left out.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit, popcount
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.core import tile
from lockstep.model.core.coalescer import APERTURE, GLOBAL, LOCAL, resolve
from lockstep.workload import ADDRESS, NOWHERE, RUN, TILE_WORDS, WARP, Cta, Kernel

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
_BYPASS = int(CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE)
_INVALIDATE = int(CachePolicy.INVALIDATE)
_SURFACE, _CONTROL = int(OpClass.SURFACE), int(OpClass.CACHE_CONTROL)
_BULK_COPY, _BULK_STORE = int(OpClass.BULK_COPY), int(OpClass.BULK_STORE)
_TILE_COPY, _TILE_STORE = int(OpClass.TILE_COPY), int(OpClass.TILE_STORE)
_TEXTURE = int(Space.TEXTURE)

_FIELDS = (
    "ctas", "warps", "warp", "pool", "lanes", "threads", "shared_base", "local_base", "cluster",
    "steps", "lines", "full",
)  # fmt: skip
_SPEC = np.dtype([(name, "i8") for name in _FIELDS])
_CODE = np.dtype(
    [
        ("kind", "i4"),
        ("op", "i4"),
        ("space", "i4"),
        ("width", "i4"),
        ("flags", "i8"),
        ("size", "i8"),
    ]
)


class _Coalescing(Context):
    """What the compiled side reads and writes for some CTAs."""

    spec: Records  # _SPEC, one
    code: Records  # _CODE: an entry an instruction
    warps: Records
    runs: Records
    addresses: Records
    pool: np.ndarray
    begins: np.ndarray  # int64 [3, ctas]: where runs, addresses and pool of each CTA begin
    place: np.ndarray  # int64 [tile.STATE_WORDS]: of a tile
    first: np.ndarray  # int64 [ctas, warps + 1]: first step of each warp
    steps: Records
    lines: Records


class CtaAccesses:
    """The accesses of a CTA: ``steps`` of :data:`STEP`, ``lines`` of :data:`LINE`.

    Those of warp ``w`` are ``steps[first[w] : first[w + 1]]``.
    """

    def __init__(self, first: np.ndarray, steps: np.ndarray, lines: np.ndarray):
        self.first, self.steps, self.lines = first, steps, lines


class Batch(NamedTuple):
    """The accesses of some CTAs: those of warp ``w`` of CTA ``k`` are
    ``steps[first[k, w] : first[k, w + 1]]``, whose lines count from those of the first CTA."""

    first: np.ndarray
    steps: np.ndarray
    lines: np.ndarray


class Coalescer:
    """Makes the accesses of CTAs of one kernel.

    ``threads``: of how many threads the words of local memory lie side by side, as those of a whole
    SM; 0 = those of the CTA.
    """

    def __init__(self, kernel: Kernel, threads: int = 0):
        self._kernel = kernel
        self._arrays: dict[str, Any] = {
            "spec": as_records(np.zeros(1, _SPEC)),
            "code": as_records(np.zeros(0, _CODE)),
            "warps": as_records(np.zeros(kernel.warps, WARP)),
            "runs": as_records(np.zeros(256, RUN)),
            "addresses": as_records(np.zeros(256, ADDRESS)),
            "pool": np.zeros(256, np.int64),
            "begins": np.zeros((3, 1), np.int64),
            "place": np.zeros(tile.STATE_WORDS, np.int64),
            "first": np.zeros((1, kernel.warps + 1), np.int64),
            "steps": as_records(np.zeros(1024, STEP)),
            "lines": as_records(np.zeros(4096, LINE)),
        }
        self._context: _Coalescing | None = None
        spec = self._arrays["spec"][0]
        spec.lanes, spec.cluster = kernel.warp_size, kernel.cluster_ctas
        spec.threads = threads or kernel.warps * kernel.warp_size
        spec.shared_base, spec.local_base = kernel.shared_base, kernel.local_base

    def __call__(self, cta: Cta) -> CtaAccesses:
        """The accesses of a CTA; arrays of its own."""
        first, steps, lines = self.batch([cta])
        return CtaAccesses(first[0].copy(), steps.copy(), lines.copy())

    def batch(self, ctas: Sequence[Cta]) -> Batch:
        """The accesses of some CTAs, which are valid until more are asked for."""
        arrays = self._arrays
        spec = arrays["spec"][0]
        if len(arrays["code"]) < len(self._kernel.code):
            self._put("code", as_records(_described(self._kernel.code.instructions)))
        spec.ctas, spec.warps = len(ctas), len(ctas[0].warps)
        if arrays["first"].shape[0] < len(ctas) or arrays["first"].shape[1] != spec.warps + 1:
            self._put("first", np.zeros((len(ctas), spec.warps + 1), np.int64))
            self._put("begins", np.zeros((3, len(ctas)), np.int64))
        self._join("warps", [cta.warps for cta in ctas])
        begins = arrays["begins"]
        for row, name in zip(begins, ("runs", "addresses", "pool")):
            parts = [getattr(cta, name) for cta in ctas]
            row[1 : len(ctas)] = np.cumsum([len(part) for part in parts[:-1]])
            self._join(name, parts)
        while True:
            self._context = self._context or _Coalescing(**arrays)
            coalesce(self._context)
            if not spec.full:
                break
            self._put("steps", as_records(np.zeros(2 * len(arrays["steps"]), STEP)))
            self._put("lines", as_records(np.zeros(2 * len(arrays["lines"]), LINE)))
        first, steps, lines = arrays["first"], arrays["steps"], arrays["lines"]
        return Batch(first[: len(ctas)], steps[: spec.steps], lines[: spec.lines])

    def _join(self, name: str, parts: list[np.ndarray]) -> None:
        """Put the arrays of some CTAs one behind the other."""
        held, count = self._arrays[name], sum(map(len, parts))
        if len(held) < count:
            made = np.zeros(2 * count, held.dtype)
            self._put(name, as_records(made) if held.dtype.names else made)
        to = plain(self._arrays[name])[:count]
        np.concatenate([part.view(to.dtype) for part in parts], out=to)

    def _put(self, name: str, array: np.ndarray) -> None:
        self._arrays[name], self._context = array, None


def plain(array: np.ndarray) -> np.ndarray:
    """Records as plain bytes, which NumPy copies at once; an array of numbers as it is."""
    if not array.dtype.names:
        return array
    raw = np.dtype((np.void, array.dtype.itemsize))
    return np.ascontiguousarray(array).view(np.ndarray).view(raw)


def _described(code: np.ndarray) -> np.ndarray:
    """What each instruction is here."""
    kinds = np.full(max(OpClass) + 1, _NONE)
    kinds[list(_KINDS)] = list(_KINDS.values())
    made = np.zeros(len(code), _CODE)
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


@jit
def coalesce(s):
    """Make the steps and lines of all warps; ``full`` is set if there was no room."""
    spec = s.spec[0]
    spec.steps = spec.lines = spec.full = 0
    for k in range(spec.ctas):
        spec.pool = s.begins[2, k]
        for w in range(spec.warps):
            s.first[k, w], spec.warp = spec.steps, w
            if not _warp(s, spec, s.warps[k * spec.warps + w], s.begins[0, k], s.begins[1, k]):
                spec.full = 1
                return
        s.first[k, spec.warps] = spec.steps


@inline
def _warp(s, spec, warp, runs, addresses):
    """The steps of one warp of a CTA whose runs and addresses begin there; false if there is no
    room."""
    address = addresses + warp.first_address
    for k in range(runs + warp.first_run, runs + warp.first_run + warp.runs):
        run = s.runs[k]
        if run.mask == 0:
            continue
        for static in range(run.static, run.static + run.count):
            code = s.code[static]
            if code.kind >= BARRIER:
                if spec.steps == len(s.steps):
                    return False
                _step(s, spec, static, code.kind, 0)
            if code.width > 0:
                if 0 <= code.kind < BARRIER and not _access(
                    s, spec, static, code, run.mask, address
                ):
                    return False
                address += 1
    return True


@inline
def _step(s, spec, static, kind, flags):
    """Begin a step."""
    step = s.steps[spec.steps]
    step.first, step.lines = spec.lines, 0
    step.site, step.kind, step.flags = static, kind, flags
    spec.steps += 1
    return step


@inline
def _access(s, spec, static, code, mask, address):
    """One memory instruction; false if there is no room for what it touches."""
    record = s.addresses[address]
    if spec.steps == len(s.steps):
        return False
    if code.op == _TILE_COPY or code.op == _TILE_STORE:
        step = _step(s, spec, static, code.kind, code.flags)
        return _tile(s, spec, step, record)
    space = GLOBAL if code.space == _TEXTURE else resolve(code.space, record.first, spec)
    if space != GLOBAL and space != LOCAL:
        return True
    if record.pool < 0 and record.first == NOWHERE and record.stride == 0:
        return True
    if code.op == _BULK_COPY or code.op == _BULK_STORE:
        step = _step(s, spec, static, code.kind, code.flags)
        return _lanes(s, spec, step, record, mask, code.size)
    step = _step(s, spec, static, code.kind, code.flags | (PRIVATE if space == LOCAL else 0))
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
    """Bytes from the address of each lane on."""
    for k in range(popcount(mask)):
        low = _listed(s, spec, record, k)
        if low != NOWHERE and not _range(s, spec, step, low, low + size):
            return False
    return True


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
        k = spec.lines - 1
        while k >= step.first and s.lines[k].line != line:
            k -= 1
        if k < step.first:
            if spec.lines == len(s.lines):
                return False
            k = spec.lines
            spec.lines += 1
            step.lines += 1
            s.lines[k].line, s.lines[k].sectors = line, 0
        s.lines[k].sectors |= (2 << last) - (1 << first)
        low = end
    return True
