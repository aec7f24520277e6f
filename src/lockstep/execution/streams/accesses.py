"""What warps access, from the streams of CTAs: requests, and the sectors that each one touches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lockstep.execution.state import Memory
from lockstep.isa.instruction import OpClass, Space
from lockstep.plain_bytes import together
from lockstep.workload import ADDRESS, NOWHERE, RUN, Cta, Kernel
from lockstep.workload.bulk_copies import TILE_AXES, TILE_AXIS, TILE_BARRIER, TILE_HEAD, TILE_WORDS

GLOBAL, SHARED, LOCAL = (int(memory) for memory in Memory)
OTHER = len(Memory)
SECTOR_SHIFT = 5  # a sector has 32 bytes
WINDOW = 1 << 24  # bytes of generic addresses that are shared memory, or local memory
_WORD_SHIFT, _GROUP_SHIFT = 2, 3  # of local memory: words of eight threads lie side by side
_MEMORIES = {Space.GLOBAL: GLOBAL, Space.TEXTURE: GLOBAL, Space.SHARED: SHARED, Space.LOCAL: LOCAL}


def one_of(*classes: OpClass) -> np.ndarray:
    """For each class whether it is one of these: bool, to be indexed."""
    return np.isin(np.arange(max(OpClass) + 1), classes)


_TILES = one_of(OpClass.TILE_COPY, OpClass.TILE_STORE)
_BULK = one_of(OpClass.BULK_COPY, OpClass.BULK_STORE)
_CHANGES = one_of(OpClass.ATOMIC, OpClass.REDUCTION)
_STORES = one_of(OpClass.STORE, OpClass.BULK_STORE, OpClass.TILE_STORE)
_NO_DATA = one_of(OpClass.OBJECT_WAIT, OpClass.SLEEP, OpClass.CACHE_CONTROL)


class Requests(NamedTuple):
    """Accesses of warps, in the order of CTAs and warps, each warp's in program order."""

    static: np.ndarray  # int64: index of the instruction
    lanes: np.ndarray  # int64: how many take part
    memory: np.ndarray  # int64: GLOBAL, SHARED, LOCAL, OTHER
    sectors: np.ndarray  # int64: how many different ones
    touched: np.ndarray  # int64: numbers of these in global memory, request after request
    owner: np.ndarray  # int64, of each of those: its request


def reads_and_writes(requests: Requests, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each of some requests reads, and whether it writes: bool."""
    op = code["op"][requests.static]
    drawn = (op == OpClass.SURFACE) & (code["destinations"][requests.static] == 0)
    writes = _CHANGES[op] | _STORES[op] | drawn
    return _CHANGES[op] | ~writes, writes


def requests_of(kernel: Kernel, ctas: Sequence[Cta]) -> Requests:
    """The accesses of some CTAs of a kernel, in their order."""
    runs, records, pool = _joined(ctas)
    first, stride, listed = records
    code = kernel.code.instructions
    static, masks = _executed(code, runs)
    assert len(static) == len(first), "a record an access"
    op = code["op"][static]
    tiled, bulk = _TILES[op], _BULK[op]
    lanes = np.where(tiled, 1, np.bitwise_count(masks.view(np.uint64)).astype(np.int64))
    memory = _memories(kernel, code["space"][static], first)
    memory[bulk | tiled] = GLOBAL
    memory[_NO_DATA[op]] = OTHER
    size = code["width"][static]
    size = np.where(bulk, np.maximum(size, code["immediate"][static]), size)
    plain = (memory == GLOBAL) & ~tiled
    even = plain & (listed < 0) & (np.abs(stride) <= 1 << SECTOR_SHIFT)
    groups = (
        _even(records, lanes, size, np.flatnonzero(even)),
        _scattered(records, pool, lanes, size, np.flatnonzero(plain & ~even)),
        _of_tiles(listed, pool, np.flatnonzero(tiled)),
    )
    owner, touched = (np.concatenate(parts) for parts in zip(*groups))
    order = np.argsort(owner, kind="stable")
    sectors = np.bincount(owner, minlength=len(static))
    local = np.flatnonzero(memory == LOCAL)
    sectors[local] = _local(records, pool, lanes, masks, size, local)
    return Requests(static, lanes, memory, sectors, touched[order], owner[order])


class _Records(NamedTuple):
    """Address records; fields as of ``workload.ADDRESS``, int64 each."""

    first: np.ndarray
    stride: np.ndarray
    pool: np.ndarray


def _joined(ctas: Sequence[Cta]) -> tuple[np.ndarray, _Records, np.ndarray]:
    """Runs, address records and pool of several CTAs as of one."""
    starts = np.cumsum([0, *(len(cta.pool) for cta in ctas)])
    records = together([cta.addresses for cta in ctas], ADDRESS)
    first, stride, places = (records[name].astype(np.int64) for name in ADDRESS.names or ())
    places += np.where(places < 0, 0, np.repeat(starts[:-1], [len(cta.addresses) for cta in ctas]))
    pool = np.concatenate([cta.pool for cta in ctas])
    return together([cta.runs for cta in ctas], RUN), _Records(first, stride, places), pool


def _executed(code: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Static index and mask of each execution that has an address record."""
    accesses = code["width"] > 0
    before = np.concatenate([[0], np.cumsum(accesses)])
    runs = runs[runs["mask"] != 0]
    first = before[runs["static"]]
    count = before[runs["static"].astype(np.int64) + runs["count"]] - first
    static = np.flatnonzero(accesses)[_ranges(first, count)]
    return static, np.repeat(runs["mask"], count)


def _ranges(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """``first``, ``first + 1`` ..., ``count`` of them, for each element."""
    begins = np.cumsum(count) - count
    return np.repeat(first - begins, count) + np.arange(int(count.sum()))


def _memories(kernel: Kernel, space: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Which memory each access is to; a generic one is told by its first lane."""
    table = np.full(max(Space) + 1, OTHER)
    table[list(_MEMORIES)] = list(_MEMORIES.values())
    memory = table[space]
    generic = space == Space.GENERIC
    windows = (kernel.shared_base, WINDOW * kernel.cluster_ctas), (kernel.local_base, WINDOW)
    memory[generic] = GLOBAL
    for kind, (base, length) in zip((SHARED, LOCAL), windows):
        if base > 0:
            memory[generic & (first >= base) & (first < base + length)] = kind
    return memory


def _even(records: _Records, lanes, size, chosen) -> tuple[np.ndarray, np.ndarray]:
    """Request and number of each sector of accesses whose lanes leave no sector out."""
    first, stride = records.first[chosen], records.stride[chosen]
    last = first + stride * (lanes[chosen] - 1)
    low = np.minimum(first, last) >> SECTOR_SHIFT
    high = (np.maximum(first, last) + size[chosen] - 1) >> SECTOR_SHIFT
    count = np.where(first == NOWHERE, 0, high - low + 1)
    return np.repeat(chosen, count), _ranges(low, count)


def _addresses(records: _Records, pool, lanes, chosen) -> np.ndarray:
    """Address of each active lane of some requests, in their order, and NOWHERE behind them.

    A row a request, as many columns as the most lanes of one.
    """
    first, stride, places = (field[chosen][:, None] for field in records)
    turn = np.arange(int(lanes[chosen].max(initial=0)))
    found = first + turn * stride
    listed = places[:, 0] >= 0
    if listed.any():
        found[listed] = pool.take(places[listed] + turn, mode="clip")
    return np.where(turn < lanes[chosen][:, None], found, NOWHERE)


def _scattered(records: _Records, pool, lanes, size, chosen) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`_even`, of any addresses."""
    address = _addresses(records, pool, lanes, chosen)
    row, column = np.nonzero(address != NOWHERE)
    low = address >> SECTOR_SHIFT
    high = address + (size[chosen][:, None] - 1) >> SECTOR_SHIFT
    if (low[row, column] != high[row, column]).any():
        low, high = low[row, column], high[row, column]
        count = high - low + 1
        return _different(np.repeat(chosen[row], count), _ranges(low, count))
    low.sort(axis=1)  # what is NOWHERE comes first
    new = low >= 0
    new[:, 1:] &= low[:, 1:] != low[:, :-1]
    return chosen[np.nonzero(new)[0]], low[new]


def _different(owner: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair once."""
    order = np.lexsort((number, owner))
    owner, number = owner[order], number[order]
    new = np.ones(len(owner), bool)
    new[1:] = (owner[1:] != owner[:-1]) | (number[1:] != number[:-1])
    return owner[new], number[new]


def _local(records: _Records, pool, lanes, masks, size, chosen) -> np.ndarray:
    """How many sectors of local memory each of some requests touches."""
    if not len(chosen):
        return np.zeros(0, np.int64)
    row, lane = np.nonzero(masks[chosen][:, None] >> np.arange(64) & 1)
    turn = np.arange(lanes[chosen].max()) < lanes[chosen][:, None]
    owner, address = chosen[row], _addresses(records, pool, lanes, chosen)[turn]
    shift = np.maximum(_WORD_SHIFT, np.log2(np.maximum(size[owner], 1)).astype(np.int64))
    piece = (address & (WINDOW - 1)) >> shift << _GROUP_SHIFT | lane >> _GROUP_SHIFT
    owner, _ = _different(owner, piece)
    count = np.bincount(owner, minlength=len(size))[chosen]
    widest = np.maximum(_WORD_SHIFT, np.log2(np.maximum(size[chosen], 1)).astype(np.int64))
    return count << widest - _WORD_SHIFT


def _of_tiles(places, pool, chosen) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`_even`, of bulk copies of tiles."""
    owners, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for k in chosen.tolist():
        low, high = _rows(pool[places[k] : places[k] + TILE_WORDS])
        found = _ranges(low, high - low + 1)
        owner, number = _different(np.full(len(found), k), found)
        owners.append(owner)
        numbers.append(number)
    return np.concatenate(owners), np.concatenate(numbers)


def _rows(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last sector of each row of a tile that exists; see ``workload.TILE_WORDS``."""
    base, size, rows, repeats, repeat_stride = words[:TILE_HEAD].tolist()
    if size <= 0 or rows <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    axes = words[TILE_HEAD:TILE_BARRIER].reshape(TILE_AXES, TILE_AXIS).tolist()
    turn, address, exists = np.arange(rows), np.full(rows, base), np.ones(rows, bool)
    for first, lowest, highest, step, last, stride in axes:
        count = max((highest - lowest) // step + 1, 1)
        turn += (first - lowest) // step
        position = lowest + turn % count * step
        turn //= count
        exists &= (position >= 0) & (position <= last)
        address += position * stride
    again = np.arange(repeats)[:, None] * repeat_stride
    starts = (address[exists] + again).ravel()
    return starts >> SECTOR_SHIFT, (starts + size - 1) >> SECTOR_SHIFT
