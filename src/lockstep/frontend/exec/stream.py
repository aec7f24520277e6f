"""From the stream that a CTA's blocks wrote to the CTA that the timing model reads."""

import numpy as np

from lockstep._jit import Context, inline, jit, popcount
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.state import LANES
from lockstep.workload import ADDRESS, RUN, WARP, Cta

STEP = np.dtype(
    [("first", "i8"), ("count", "i8"), ("items", "i8"), ("n_items", "i8"), ("words", "i8")]
)
"""One block: its instructions, and where its items and its entry's length are listed."""

ITEM = np.dtype([("instruction", "i8"), ("word", "i8"), ("lanes", "i8"), ("addresses", "i8")])
"""One instruction of a block with dynamic data: places of its mask and addresses, 0 = none."""


class Expansion(Context):
    """What the expansion reads and writes; from ``warps`` on, the arrays hold one CTA."""

    steps: np.ndarray  # STEP
    items: np.ndarray  # ITEM
    accesses: np.ndarray  # int64: 1 for a static instruction that takes an address record
    stream: np.ndarray  # int64 words
    cursors: np.ndarray  # int64 [warps, 2]: next run, next address of each warp
    warps: np.ndarray  # WARP
    runs: np.ndarray  # RUN
    addresses: np.ndarray  # ADDRESS
    pool: np.ndarray  # int64
    used: np.ndarray  # int64 [3]: of runs, addresses and pool


def tables(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """STEP, ITEM and access tables of a program."""
    steps = np.zeros(len(program.blocks), STEP)
    rows: list[tuple[int, int, int, int]] = []
    for k, items in enumerate(program.items):
        merged: dict[int, list[int]] = {}
        for item in items:
            row = merged.setdefault(item.instruction, [item.instruction, 0, 0])
            row[1 if item.guarded else 2] = item.word
        block = program.blocks[k]
        steps[k] = (block["first"], block["count"], len(rows), len(merged), block["stream_words"])
        rows += [(number, 0, lanes, word) for number, lanes, word in merged.values()]
    items = np.array(rows or [(0, 0, 0, 0)], ITEM)
    return (
        steps.view(np.recarray),
        items.view(np.recarray),
        (program.code["width"] > 0).astype(np.int64),
    )


@inline
def reserve(x, words):
    """Give each warp room for what its part of the stream can become at most."""
    x.cursors[:] = 0
    at = 0
    while at < words:
        w, block = x.stream[at] >> 32, x.stream[at] & 0xFFFFFFFF
        step = x.steps[block]
        x.cursors[w, 0] += 1 + 2 * step.n_items
        x.cursors[w, 1] += step.n_items
        at += step.words
    runs = addresses = 0
    for w in range(len(x.warps)):
        warp = x.warps[w]
        warp.first_run, warp.first_address = runs, addresses
        warp.warp_instructions = warp.thread_instructions = 0
        runs, x.cursors[w, 0] = runs + x.cursors[w, 0], runs
        addresses, x.cursors[w, 1] = addresses + x.cursors[w, 1], addresses


@inline
def close_gaps(x):
    """Move the warps' runs and addresses together."""
    runs = addresses = 0
    for w in range(len(x.warps)):
        warp = x.warps[w]
        first, after = warp.first_run, x.cursors[w, 0]
        warp.first_run, warp.runs = runs, after - first
        for k in range(first, after):
            x.runs[runs] = x.runs[k]
            runs += 1
        first, after = warp.first_address, x.cursors[w, 1]
        warp.first_address, warp.addresses = addresses, after - first
        for k in range(first, after):
            x.addresses[addresses] = x.addresses[k]
            addresses += 1
    x.used[0], x.used[1] = runs, addresses


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
    first = stride = before = 0
    n, regular = 0, True
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        address = x.stream[place + lane]
        if n == 0:
            first = address
        elif n == 1:
            stride = address - first
            regular = -(1 << 31) <= stride < 1 << 31
        elif address - before != stride:
            regular = False
        before = address
        x.pool[pool + n] = address
        n += 1
    record.first = first
    record.stride = stride if regular else 0
    record.pool = -1 if regular else pool
    return pool if regular else pool + n


@inline
def expand_entry(x, at, step, pool):
    """Append what a block wrote at word ``at``; returns the words of the pool in use."""
    w, mask = x.stream[at] >> 32, x.stream[at + 1]
    place = step.first
    for k in range(step.items, step.items + step.n_items):
        item = x.items[k]
        lanes = mask
        if item.lanes:
            lanes = x.stream[at + item.lanes]
            add_run(x, w, place, item.instruction - place, mask)
            add_run(x, w, item.instruction, 1, lanes)
            place = item.instruction + 1
        if item.addresses and lanes and x.accesses[item.instruction]:
            pool = add_address(x, w, at + item.addresses, lanes, pool)
    add_run(x, w, place, step.first + step.count - place, mask)
    return pool


@jit
def expand(x, words):
    """Fill a CTA's arrays from ``words`` words of stream."""
    reserve(x, words)
    at = pool = 0
    while at < words:
        step = x.steps[x.stream[at] & 0xFFFFFFFF]
        pool = expand_entry(x, at, step, pool)
        at += step.words
    x.used[2] = pool
    close_gaps(x)


class Expander:
    """Makes CTAs from streams of one program."""

    def __init__(self, program: Program, warps: int):
        self._tables = tables(program)
        self._warps = np.zeros(warps, WARP)
        self._used = np.zeros(3, np.int64)
        self._buffer: np.ndarray | None = None

    def cta(self, index: tuple[int, int, int], buffer: np.ndarray, words: int) -> Cta:
        """The CTA whose blocks wrote the first ``words`` of a buffer (int64)."""
        self._read_from(buffer)
        expand(self._x, words)
        runs, addresses, pool = self._used.tolist()
        return Cta(
            index,
            self._warps.copy(),
            self._runs[:runs].copy(),
            self._addresses[:addresses].copy(),
            self._x.pool[:pool].copy(),
        )

    def _read_from(self, buffer: np.ndarray) -> None:
        """Prepare for streams in a buffer; a context takes longer to make than a CTA."""
        if buffer is self._buffer:
            return
        self._buffer, words = buffer, len(buffer)
        # An entry has two words, and one at least for each item, which makes two more runs.
        self._runs = np.empty(2 * words, RUN)
        self._addresses = np.empty(words, ADDRESS)
        self._x = Expansion(
            *self._tables,
            buffer,
            np.zeros((len(self._warps), 2), np.int64),
            self._warps.view(np.recarray),
            self._runs.view(np.recarray),
            self._addresses.view(np.recarray),
            np.empty(words, np.int64),
            self._used,
        )
