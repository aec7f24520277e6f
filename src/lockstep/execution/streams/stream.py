"""From the stream that a CTA's blocks wrote to the CTA that the timing model reads."""

import numpy as np

from lockstep._jit import Context, as_records, inline, jit, popcount
from lockstep.execution.programs.program import Program
from lockstep.execution.state import WAITED
from lockstep.plain_bytes import copied
from lockstep.workload import ADDRESS, RUN, WARP, Cta
from lockstep.workload.bulk_copies import (
    OBJECT_SHIFT,
    OBJECTS,
    TILE_BARRIER,
    TILE_MASK,
    TILE_WORDS,
    object_number,
)

PLAIN, TILED, WAITS = range(3)  # kinds of items
STREAM, RUNS, ADDRESSES, POOL = range(4)  # columns of ``Expansion.bounds``

number_of = inline(object_number)

STEP = np.dtype(
    [
        ("first", "i8"),
        ("count", "i8"),
        ("items", "i8"),
        ("n_items", "i8"),
        ("words", "i8"),
        ("tiles", "i8"),  # how many of the items are tiles
    ]
)
"""One block: its instructions, and where its items and its entry's length are listed."""

ITEM = np.dtype([("instruction", "i8"), ("kind", "i8"), ("lanes", "i8"), ("addresses", "i8")])
"""One instruction of a block with dynamic data: places of its mask and addresses, 0 = none.

``kind``: TILED = each lane has a tile, and executes the instruction alone; WAITS = the addresses
are of barrier objects.
"""


class StreamExpansion(Context):
    """What the expansion reads and writes, for as many CTAs as one call can take."""

    lanes: np.ndarray  # int64 [1]: of a warp
    steps: np.ndarray  # STEP
    items: np.ndarray  # ITEM
    accesses: np.ndarray  # int64: 1 for a static instruction that takes an address record
    stream: np.ndarray  # int64 words
    cursors: np.ndarray  # int64 [ctas * warps, 2]: next run, next address of each warp
    warps: np.ndarray  # WARP [ctas * warps]
    runs: np.ndarray  # RUN
    addresses: np.ndarray  # ADDRESS
    pool: np.ndarray  # int64
    # int64 [ctas + 1, 4]: first stream word, run, address, pool word of each CTA
    bounds: np.ndarray
    # int64 [places, OBJECTS]: copies that completed barrier objects so far; one row serves CTAs
    # that are expanded one after the other
    copies: np.ndarray


def tables(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Lanes of a warp, STEP, ITEM and access tables of a program."""
    steps = np.zeros(len(program.blocks), STEP)
    rows: list[tuple[int, int, int, int]] = []
    for k, items in enumerate(program.items):
        merged: dict[int, list[int]] = {}
        for item in items:
            row = merged.setdefault(item.instruction, [item.instruction, 0, 0, 0])
            row[2 if item.guarded else 3] = item.word
            row[1] = max(row[1], TILED * item.tiled, WAITS * item.waits)
        block = program.blocks[k]
        tiles = sum(item.tiled for item in items)
        words = block["stream_words"]
        steps[k] = (block["first"], block["count"], len(rows), len(merged), words, tiles)
        rows += map(tuple, merged.values())
    items = np.array(rows or [(0, 0, 0, 0)], ITEM)
    return (
        np.array([program.lanes]),
        as_records(steps),
        as_records(items),
        (program.code["width"] > 0).astype(np.int64),
    )


@inline
def reserve(x, k, row, after):
    """Give each warp of a CTA room for what its part of the stream can become at most."""
    x.cursors[row:after] = 0
    lanes = x.lanes[0]
    at, end = x.bounds[k, STREAM], x.bounds[k + 1, STREAM]
    while at < end:
        w, block = row + (x.stream[at] >> 32), x.stream[at] & 0xFFFFFFFF
        step = x.steps[block]
        x.cursors[w, 0] += 1 + 2 * step.n_items + lanes * step.tiles
        x.cursors[w, 1] += step.n_items + lanes * step.tiles
        at += step.words
    runs, addresses = x.bounds[k, RUNS], x.bounds[k, ADDRESSES]
    for w in range(row, after):
        warp = x.warps[w]
        warp.first_run, warp.first_address = runs, addresses
        warp.warp_instructions = warp.thread_instructions = 0
        runs, x.cursors[w, 0] = runs + x.cursors[w, 0], runs
        addresses, x.cursors[w, 1] = addresses + x.cursors[w, 1], addresses


@inline
def close_gaps(x, k, row, after):
    """Move the runs and addresses of a CTA's warps together; places count from the CTA's first."""
    first_run, first_address, first_word = (
        x.bounds[k, RUNS],
        x.bounds[k, ADDRESSES],
        x.bounds[k, POOL],
    )
    runs, addresses = first_run, first_address
    for w in range(row, after):
        warp = x.warps[w]
        first, end = warp.first_run, x.cursors[w, 0]
        warp.first_run, warp.runs = runs - first_run, end - first
        for n in range(first, end):
            x.runs[runs] = x.runs[n]
            runs += 1
        first, end = warp.first_address, x.cursors[w, 1]
        warp.first_address, warp.addresses = addresses - first_address, end - first
        for n in range(first, end):
            record = x.addresses[addresses]
            record.first, record.stride = x.addresses[n].first, x.addresses[n].stride
            pool = x.addresses[n].pool
            record.pool = pool - first_word if pool >= 0 else pool
            addresses += 1
    x.bounds[k + 1, RUNS], x.bounds[k + 1, ADDRESSES] = runs, addresses


@inline
def add_run(x, w, first, n, mask):
    """Append instructions under a mask to a warp's runs, or lengthen its last one."""
    if n == 0:
        return
    warp = x.warps[w]
    warp.warp_instructions += n
    warp.thread_instructions += n * popcount(mask)
    k = x.cursors[w, 0]
    if k > warp.first_run:
        last = x.runs[k - 1]
        if last.mask == mask and last.static + last.count == first:
            last.count += n
            return
    run = x.runs[k]
    run.static, run.count, run.mask = first, n, mask
    x.cursors[w, 0] = k + 1


@inline
def add_address(x, w, place, mask, pool):
    """Append the address record of an access; returns the words of the pool in use."""
    record = x.addresses[x.cursors[w, 1]]
    x.cursors[w, 1] += 1
    width = x.lanes[0]
    given, listed = x.stream[place : place + width], x.pool[pool : pool + width]
    lanes = width
    if popcount(mask) == width:
        for lane in range(width):
            listed[lane] = given[lane]
    else:
        lanes = 0
        for lane in range(width):
            if mask >> lane & 1:
                listed[lanes] = given[lane]
                lanes += 1
    stride = listed[1] - listed[0] if lanes > 1 else 0
    uneven = 0
    for lane in range(1, lanes):
        uneven |= listed[lane] - listed[lane - 1] - stride
    record.first = listed[0]
    if uneven == 0 and -(1 << 31) <= stride < 1 << 31:
        record.stride, record.pool = stride, -1
        return pool
    record.stride, record.pool = 0, pool
    return pool + lanes


@inline
def add_tiles(x, w, instruction, place, mask, pool):
    """Append a bulk copy of each lane's tile; returns the words of the pool in use.

    What is executed at issue has room for one: that of the first lane.
    """
    lanes = x.lanes[0]
    for lane in range(lanes):
        if mask >> lane & 1 and x.cursors[w, 1] < len(x.addresses):
            add_run(x, w, instruction, 1, TILE_MASK)
            record = x.addresses[x.cursors[w, 1]]
            x.cursors[w, 1] += 1
            for k in range(TILE_WORDS):
                x.pool[pool + k] = x.stream[place + k * lanes + lane]
            record.first, record.stride, record.pool = x.pool[pool], 0, pool
            pool += TILE_WORDS
    return pool


@inline
def count_tiles(x, number, place, mask):
    """Count the copies of tiles that complete barrier objects."""
    lanes = x.lanes[0]
    for lane in range(lanes):
        barrier = x.stream[place + TILE_BARRIER * lanes + lane]
        if mask >> lane & 1 and barrier > 0:
            x.copies[number, number_of(barrier - 1)] += 1


@inline
def count_copies(x, number, place):
    """Say of each address of a barrier object whose phase is over how many copies there were."""
    for lane in range(x.lanes[0]):
        word = x.stream[place + lane]
        if word & WAITED:
            address = word & ((1 << OBJECT_SHIFT) - 1)
            count = x.copies[number, number_of(word)]
            x.stream[place + lane] = count << OBJECT_SHIFT | address


@inline
def expand_entry(x, number, row, at, step, pool):
    """Append what a block of a CTA, whose warps begin at ``row``, wrote at word ``at``.

    ``number``: the row of ``copies`` that is the CTA's. Returns the words of the pool in use.
    """
    w, mask = row + (x.stream[at] >> 32), x.stream[at + 1]
    place = step.first
    for k in range(step.items, step.items + step.n_items):
        item = x.items[k]
        lanes = mask
        if item.lanes:
            lanes = x.stream[at + item.lanes]
        if item.lanes or item.kind == TILED:
            add_run(x, w, place, item.instruction - place, mask)
            if item.kind != TILED or lanes == 0:
                add_run(x, w, item.instruction, 1, lanes)
            place = item.instruction + 1
        if item.kind == WAITS:
            count_copies(x, number, at + item.addresses)
        if item.kind == TILED:
            count_tiles(x, number, at + item.addresses, lanes)
            pool = add_tiles(x, w, item.instruction, at + item.addresses, lanes, pool)
        elif item.addresses and lanes and x.accesses[item.instruction]:
            pool = add_address(x, w, at + item.addresses, lanes, pool)
    add_run(x, w, place, step.first + step.count - place, mask)
    return pool


@inline
def expand_cta(x, k, row, after):
    """Append what the stream of CTA ``k`` says; its warps are the rows up to ``after``."""
    reserve(x, k, row, after)
    x.copies[0] = 0
    at, end, pool = x.bounds[k, STREAM], x.bounds[k + 1, STREAM], x.bounds[k, POOL]
    while at < end:
        step = x.steps[x.stream[at] & 0xFFFFFFFF]
        pool = expand_entry(x, 0, row, at, step, pool)
        at += step.words
    x.bounds[k + 1, POOL] = pool
    close_gaps(x, k, row, after)


@jit
def expand(x, ctas):
    """Fill the arrays with CTAs whose streams follow each other."""
    warps = len(x.warps) // (len(x.bounds) - 1)
    for k in range(ctas):
        expand_cta(x, k, k * warps, (k + 1) * warps)


class Expander:
    """Makes CTAs from streams of one program, up to ``most`` at a time."""

    def __init__(self, program: Program, warps: int, most: int):
        """``warps``: in a CTA."""
        self._tables = tables(program)
        self._warps = np.zeros(most * warps, WARP)
        self._bounds = np.zeros((most + 1, 4), np.int64)
        self._buffer: np.ndarray | None = None

    def ctas(
        self, indices: list[tuple[int, int, int]], buffer: np.ndarray, ends: list[int]
    ) -> list[Cta]:
        """The CTAs whose streams follow each other in a buffer (int64) and end at these words."""
        self._read_from(buffer)
        n, warps = len(ends), len(self._warps) // (len(self._bounds) - 1)
        self._bounds[1 : n + 1, STREAM] = ends
        expand(self._x, n)
        bounds = self._bounds[: n + 1].tolist()
        arrays = [
            copied(array[:end])
            for array, end in zip((self._runs, self._addresses, self._x.pool), bounds[n][RUNS:])
        ]
        every = copied(self._warps[: n * warps]).reshape(n, warps)
        return [
            Cta(index, own, *(a[i:j] for a, i, j in zip(arrays, first[RUNS:], end[RUNS:])))
            for index, own, first, end in zip(indices, every, bounds, bounds[1:])
        ]

    def _read_from(self, buffer: np.ndarray) -> None:
        """Prepare for streams in a buffer; a context takes longer to make than a CTA."""
        if buffer is self._buffer:
            return
        self._buffer, words = buffer, len(buffer)
        # An entry has two words, and one at least for each item, which makes two more runs.
        self._runs = np.empty(2 * words, RUN)
        self._addresses = np.empty(words, ADDRESS)
        self._x = StreamExpansion(
            *self._tables,
            buffer,
            np.zeros((len(self._warps), 2), np.int64),
            as_records(self._warps),
            as_records(self._runs),
            as_records(self._addresses),
            np.empty(words, np.int64),
            self._bounds,
            np.zeros((1, OBJECTS), np.int64),
        )
