"""Makes the accesses of CTAs from what their blocks wrote, without records of them.

Most of what a block writes is for others: an entry is looked at only if its block accesses memory
beyond the core, or waits. The steps of a warp lie together, as many as its entries can have; those
that nobody executed, or that went to shared memory, have no lines.
"""

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit, popcount
from lockstep.caches.accesses import (
    BARRIER,
    READ,
    Batch,
    access,
    add_step,
    described,
)
from lockstep.caches.workspace import Workspace
from lockstep.execution.programs.program import Program
from lockstep.execution.state import MOST_LANES
from lockstep.execution.streams.stream import tables
from lockstep.execution.streams.written import WrittenCtas
from lockstep.isa.instruction import Space
from lockstep.workload import ADDRESS, Kernel

_BEYOND = (Space.GLOBAL, Space.LOCAL, Space.GENERIC, Space.TEXTURE)
_ENTRY = np.dtype([("events", "i8"), ("count", "i8"), ("words", "i8")])
"""What an entry of a block has: events from that one on, and how many words."""
_EVENT = np.dtype([("site", "i8"), ("lanes", "i8"), ("addresses", "i8")])
"""Places of an instruction's lanes and addresses in the entry; 0 = those of the block, or none."""


class Writings(Context):
    """What the compiled side reads and writes for some CTAs."""

    spec: Records  # COALESCING, one
    code: Records  # CODE: an entry an instruction
    blocks: Records  # _ENTRY
    events: Records  # _EVENT
    words: np.ndarray  # int64: streams of CTAs, one after the other
    ends: np.ndarray  # int64 [ctas]: where each ends
    cursors: np.ndarray  # int64 [warps]: the next step of each warp of a CTA
    addresses: Records  # ADDRESS, one: of an instruction
    pool: np.ndarray  # int64 [MOST_LANES]
    place: np.ndarray  # int64 [tile.STATE_WORDS]
    first: np.ndarray  # int64 [ctas, warps + 1]: first step of each warp
    steps: Records
    lines: Records


class WrittenCoalescer:
    """Makes the accesses of CTAs of one program; ``begin`` starts a launch of it."""

    def __init__(self, program: Program):
        assert program.code is not None, "it was translated"
        self.program = program
        code = described(program.code)
        blocks, events = _events(program, code)
        self._space = Workspace(
            Writings,
            {
                "code": as_records(code),
                "blocks": as_records(blocks),
                "events": as_records(events),
                "words": np.zeros(1, np.int64),
                "ends": np.zeros(1, np.int64),
                "cursors": np.zeros(1, np.int64),
                "addresses": as_records(np.zeros(1, ADDRESS)),
                "pool": np.zeros(MOST_LANES, np.int64),
            },
        )

    def begin(self, kernel: Kernel, threads: int) -> None:
        """A launch; ``threads``: as of :class:`.Coalescer`."""
        self._space.begin(kernel, threads)

    def batch(self, ctas: WrittenCtas) -> Batch:
        """The accesses of some CTAs, which are valid until more are asked for."""
        space, count = self._space, len(ctas.ends)
        warps = int(space.spec.warps)
        if space["words"] is not ctas.words:
            space.put("words", ctas.words)
        if len(space["ends"]) < count or len(space["cursors"]) != warps:
            most = max(count, len(space["ends"]))
            space.put("ends", np.zeros(most, np.int64))
            space.put("cursors", np.zeros(warps, np.int64))
            space.put("first", np.zeros((most, warps + 1), np.int64))
        space["ends"][:count] = ctas.ends
        return space.make(coalesce_written, count)


def _events(program: Program, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the entries of each block have: arrays of _ENTRY and _EVENT."""
    _, steps, items, _ = tables(program)
    kinds, width = code["kind"], code["width"]
    beyond = np.isin(code["space"], _BEYOND) | (code["flags"] != 0)  # bulk copies: wherever from
    matters = (kinds >= BARRIER) | ((kinds >= READ) & (width > 0) & beyond)
    before = np.concatenate([[0], np.cumsum(matters)])
    sites = np.flatnonzero(matters)
    events = np.zeros(len(sites) + 1, _EVENT)  # a block that begins behind the last has one, too
    events["site"][:-1] = sites
    first = steps["first"]
    blocks = np.zeros(len(steps), _ENTRY)
    blocks["events"] = before[first]
    blocks["count"] = before[first + steps["count"]] - before[first]
    blocks["words"] = steps["words"]
    for item in items.tolist():
        site, _, lanes, addresses = item
        if matters[site]:
            events[before[site]] = site, lanes, addresses
    return blocks, events


@jit
def coalesce_written(s):
    """Make the steps and lines of all warps; ``full`` is set if there was no room."""
    spec = s.spec[0]
    spec.steps = spec.lines = spec.full = spec.pool = 0
    at = steps = 0
    for k in range(spec.ctas):
        end = s.ends[k]
        steps = _reserve(s, spec, k, steps, at, end)
        if steps > len(s.steps):
            spec.full = 1
            return
        while at < end:
            block = s.blocks[s.words[at] & 0xFFFFFFFF]
            if block.count > 0 and not _entry(s, spec, block, at):
                spec.full = 1
                return
            at += block.words
        for w in range(spec.warps):
            for n in range(s.cursors[w], s.first[k, w + 1]):
                step = s.steps[n]
                step.first, step.lines, step.site = spec.lines, 0, 0
                step.kind, step.flags = READ, 0
    spec.steps = steps


@inline
def _reserve(s, spec, k, steps, at, end):
    """Give each warp of a CTA room for its steps; where that of the next CTA begins."""
    s.cursors[:] = 0
    while at < end:
        word = s.words[at]
        block = s.blocks[word & 0xFFFFFFFF]
        s.cursors[word >> 32] += block.count
        at += block.words
    for w in range(spec.warps):
        s.first[k, w] = steps
        steps, s.cursors[w] = steps + s.cursors[w], steps
    s.first[k, spec.warps] = steps
    return steps


@inline
def _entry(s, spec, block, at):
    """The steps of an entry; false if there is no room for its lines."""
    spec.warp = s.words[at] >> 32
    spec.steps = s.cursors[spec.warp]
    for k in range(block.events, block.events + block.count):
        event = s.events[k]
        mask = s.words[at + (event.lanes if event.lanes > 0 else 1)]
        if mask == 0:
            continue
        code = s.code[event.site]
        if code.kind >= BARRIER:
            add_step(s, spec, event.site, code.kind, 0)
        elif event.addresses > 0:
            _note(s, spec, at + event.addresses, mask)
            if not access(s, spec, event.site, code, mask, 0):
                return False
    s.cursors[spec.warp] = spec.steps
    return True


@inline
def _note(s, spec, place, mask):
    """Note the addresses of an instruction, as a CTA's record has them."""
    record, lanes = s.addresses[0], spec.lanes
    record.pool = 0
    if popcount(mask) == lanes:
        first, stride = s.words[place], s.words[place + 1] - s.words[place]
        uneven = 0
        for lane in range(lanes):
            uneven |= s.words[place + lane] - first - lane * stride
        if uneven == 0 and -(1 << 31) <= stride < 1 << 31:
            record.first, record.stride, record.pool = first, stride, -1
            return
        for lane in range(lanes):
            s.pool[lane] = s.words[place + lane]
        record.first, record.stride = s.pool[0], 0
        return
    n = 0
    for lane in range(lanes):
        if mask >> lane & 1:
            s.pool[n] = s.words[place + lane]
            n += 1
    stride, uneven = s.pool[1] - s.pool[0] if n > 1 else 0, 0
    for k in range(1, n):
        uneven |= s.pool[k] - s.pool[k - 1] - stride
    record.first, record.stride = s.pool[0], 0
    if uneven == 0 and -(1 << 31) <= stride < 1 << 31:
        record.stride, record.pool = stride, -1
