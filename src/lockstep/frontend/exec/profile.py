"""Counters of a functional run that no GPU changes: instructions, accesses, sectors.

They are made from the streams that a program's blocks write, as the timing model's input is.
"""

import numpy as np

from lockstep._jit import Context, inline, jit, popcount
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.state import LANES, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from lockstep.frontend.exec.stream import buffer_of, tables
from lockstep.isa.instruction import OpClass, Space

SECTOR_SHIFT = 5  # a sector has 32 bytes
ALL_LANES = (1 << LANES) - 1
LOCAL_SHIFT = 3  # sectors of local memory: eight words, one of each of eight threads
LOADS, STORES, ATOMICS = 0, 1, 2
GLOBAL, SHARED, LOCAL, GENERIC = 0, 1, 2, 3
_ROWS = {
    OpClass.LOAD: LOADS, OpClass.ASYNC_COPY: LOADS, OpClass.STORE: STORES,
    OpClass.ATOMIC: ATOMICS, OpClass.REDUCTION: ATOMICS,
}  # fmt: skip
_COLUMNS = {
    Space.GLOBAL: GLOBAL, Space.SHARED: SHARED, Space.LOCAL: LOCAL, Space.GENERIC: GENERIC,
}  # fmt: skip

ACCESS = np.dtype([("row", "i8"), ("space", "i8"), ("width", "i8")])
"""A static instruction's place in the counters; ``row`` is -1 if it is not counted."""

BLOCK_ACCESSES = np.dtype([("shared", "i8", (3,))])
"""Loads, stores and atomics of shared memory in a block that all its lanes execute."""

COUNTS = np.dtype(
    [
        ("warp_instructions", "i8"),
        ("thread_instructions", "i8"),  # lanes that are active
        ("used_lanes", "i8"),  # of these, not predicated off
        ("requests", "i8", (3, 3)),  # warp instructions: loads, stores, atomics by memory
        ("threads", "i8", (3, 3)),
        ("sectors", "i8", (3, 3)),
    ]
)


class Tally(Context):
    """What the counting loop reads and writes."""

    steps: np.ndarray  # stream.STEP
    items: np.ndarray  # stream.ITEM
    accesses: np.ndarray  # ACCESS, one a static instruction
    blocks: np.ndarray  # BLOCK_ACCESSES
    counts: np.ndarray  # COUNTS [1]
    stream: np.ndarray  # int64 words


@inline
def space_at(space, address):
    """The memory of an access, generic ones told by their address."""
    if space != GENERIC:
        return space
    if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
        return SHARED
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
        return LOCAL
    return GLOBAL


@inline
def sectors_of_all(stream, place):
    """Distinct sectors of 32 ascending addresses; -1 if they do not ascend. Becomes vector code."""
    n, descents = 1, 0
    for k in range(place, place + LANES - 1):
        here, there = stream[k] >> SECTOR_SHIFT, stream[k + 1] >> SECTOR_SHIFT
        n += here != there
        descents += there < here
    return -1 if descents else n


@inline
def sectors_in_order(stream, place, mask):
    """The same of the lanes in ``mask``."""
    if mask == ALL_LANES:
        return sectors_of_all(stream, place)
    n, last = 0, np.int64(-1)
    for lane in range(LANES):
        if mask >> lane & 1:
            sector = stream[place + lane] >> SECTOR_SHIFT
            if sector < last:
                return -1
            n += sector != last
            last = sector
    return n


@jit
def sectors_of(stream, place, mask, width):
    """Distinct sectors of global memory that the lanes in ``mask`` access."""
    step = 1 << SECTOR_SHIFT
    n = sectors_in_order(stream, place, mask) if width <= step else -1
    if n >= 0:
        return n
    total = 0
    for lane in range(LANES):  # each sector counts at the first lane and part that touches it
        if not mask >> lane & 1:
            continue
        first = stream[place + lane] >> SECTOR_SHIFT
        last = (stream[place + lane] + width - 1) >> SECTOR_SHIFT
        for sector in range(first, last + 1):
            total += is_new(stream, place, mask, width, lane, sector)
    return total


@inline
def is_new(stream, place, mask, width, lane, sector):
    """1 if no lane before ``lane`` touches the sector."""
    for before in range(lane):
        if mask >> before & 1:
            first = stream[place + before] >> SECTOR_SHIFT
            last = (stream[place + before] + width - 1) >> SECTOR_SHIFT
            if first <= sector <= last:
                return 0
    return 1


@jit
def local_sectors_of(stream, place, mask, width):
    """The same in local memory, where words of the same offset lie side by side.

    A sector is one word of each of eight threads: lanes share it if they are of one group of
    eight and access the same word.
    """
    total = 0
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        word = (stream[place + lane] & (WINDOW_BYTES - 1)) >> 2
        for k in range((width + 3) >> 2):
            new = 1
            for before in range(lane >> LOCAL_SHIFT << LOCAL_SHIFT, lane):
                if mask >> before & 1:
                    other = (stream[place + before] & (WINDOW_BYTES - 1)) >> 2
                    new &= not other <= word + k < other + ((width + 3) >> 2)
            total += new
    return total


@inline
def count_access(x, access, place, mask):
    """Count one memory instruction of a warp."""
    lane = 0
    while not mask >> lane & 1:
        lane += 1
    space = space_at(access.space, x.stream[place + lane])
    counts = x.counts[0]
    counts.requests[access.row, space] += 1
    counts.threads[access.row, space] += popcount(mask)
    if space == GLOBAL:
        counts.sectors[access.row, space] += sectors_of(x.stream, place, mask, access.width)
    elif space == LOCAL:
        counts.sectors[access.row, space] += local_sectors_of(x.stream, place, mask, access.width)


@jit
def tally(x, words):
    """Count what ``words`` words of stream tell."""
    counts = x.counts[0]
    at = 0
    while at < words:
        block = x.stream[at] & 0xFFFFFFFF
        step, near = x.steps[block], x.blocks[block]
        mask = x.stream[at + 1]
        active_lanes = popcount(mask)
        lanes = step.count * active_lanes
        for row in range(3):
            counts.requests[row, SHARED] += near.shared[row]
            counts.threads[row, SHARED] += near.shared[row] * active_lanes
        counts.warp_instructions += step.count
        counts.thread_instructions += lanes
        counts.used_lanes += lanes
        for k in range(step.items, step.items + step.n_items):
            item = x.items[k]
            active = mask
            if item.lanes:
                active = x.stream[at + item.lanes]
                counts.used_lanes -= active_lanes - popcount(active)
            access = x.accesses[item.instruction]
            if access.row < 0 or active == 0:
                continue
            if item.addresses:
                count_access(x, access, at + item.addresses, active)
            elif access.space == SHARED:
                counts.requests[access.row, SHARED] += 1
                counts.threads[access.row, SHARED] += popcount(active)
        at += step.words


class Profiler:
    """Counts the streams of one program."""

    def __init__(self, program: Program):
        steps, items, _ = tables(program)
        code = program.code
        accesses = np.zeros(len(code), ACCESS)
        accesses["row"] = [_ROWS.get(op, -1) for op in code["op"]]
        accesses["space"] = [_COLUMNS.get(space, -1) for space in code["space"]]
        accesses["row"][(accesses["space"] < 0) | (code["width"] == 0)] = -1
        accesses["width"] = code["width"]
        near = _near(program, accesses).view(np.recarray)
        self._arguments = steps, items, accesses.view(np.recarray), near

    def start(self, grid: tuple[int, int, int]) -> "Profile":
        """Counters of zero for a launch."""
        return Profile(self._arguments, grid[0] * grid[1] * grid[2])


def _near(program: Program, accesses: np.ndarray) -> np.ndarray:
    """The accesses to shared memory for which no stream has anything: the block's lanes do them."""
    near = np.zeros(len(program.blocks), BLOCK_ACCESSES)
    for row, block, items in zip(near, program.blocks, program.items):
        told = {item.instruction for item in items}
        for number in range(block["first"], block["first"] + block["count"]):
            access = accesses[number]
            if access["space"] == SHARED and access["row"] >= 0 and number not in told:
                row["shared"][access["row"]] += 1
    return near


class Profile:
    """The counters of one launch of ``ctas`` thread blocks."""

    def __init__(self, tables: tuple, ctas: int):
        self.counts, self.ctas = np.zeros(1, COUNTS), ctas
        self._tables = tables
        self._buffer: np.ndarray | None = None

    def add(self, stream: np.ndarray) -> None:
        """Count a stream: int64 words, best from the start of a buffer."""
        buffer = buffer_of(stream)
        if buffer is not self._buffer:  # a context takes longer to make than to use
            self._buffer = buffer
            self._tally = Tally(*self._tables, self.counts.view(np.recarray), buffer)
        tally(self._tally, len(stream))

    def metrics(self) -> dict[str, float]:
        """By name; Nsight Compute's where its definition is the same.

        Reductions are counted with the atomics, copies from global to shared memory with the
        loads of global memory. Where nothing ran, ratios are NaN.
        """
        c = self.counts[0]
        warps, threads = int(c["warp_instructions"]), int(c["thread_instructions"])
        out = {
            "launch__grid_size": self.ctas,
            "smsp__inst_executed.sum": warps,
            "smsp__thread_inst_executed.sum": threads,
            "smsp__thread_inst_executed_pred_on.sum": int(c["used_lanes"]),
            "smsp__thread_inst_executed_per_inst_executed.ratio": threads / warps
            if warps
            else float("nan"),
        }
        for name, field, row, column in _NAMES:
            out[name] = int(c[field][row, column])
        return out


def _names():
    """(name, counter, row, column) of every counter of accesses."""
    rows, spaces = (("ld", LOADS), ("st", STORES)), (("global", GLOBAL), ("local", LOCAL))
    for space, column in spaces:
        for op, row in rows:
            name = f"l1tex__t_sectors_pipe_lsu_mem_{space}_op_{op}.sum"
            yield name, "sectors", row, column
    for space, column in (*spaces, ("shared", SHARED)):
        for op, row in rows:
            yield f"smsp__inst_executed_op_{space}_{op}.sum", "requests", row, column
            yield f"sim__thread_inst_{space}_{op}.sum", "threads", row, column
    for space, column in (("global", GLOBAL), ("shared", SHARED)):
        yield f"sim__inst_{space}_atomic.sum", "requests", ATOMICS, column
        yield f"sim__thread_inst_{space}_atomic.sum", "threads", ATOMICS, column
    yield "sim__l1_atomic_sectors.sum", "sectors", ATOMICS, GLOBAL


_NAMES = tuple(_names())
