"""Coalescer: the addresses of a warp become lines, each with the sectors that are needed.

One transaction a distinct line, over the whole warp. ``full`` marks, for stores, the sectors of
which every byte is written; for atomics it is the largest number of lanes on one word, because
these follow each other at the L2.
"""

import numpy as np

from lockstep._jit import inline, popcount
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.cache.l1_banks import tag_bank
from lockstep.workload.streams import NOWHERE

LOCAL_REGION = 1 << 56  # physical addresses of local memory, apart from all others
LOCAL_PER_SM = 34  # log2 of the bytes that each SM has there
APERTURE = 1 << 24  # bytes of the generic windows of shared and local memory
LOCAL = int(Space.LOCAL)
SHARED = int(Space.SHARED)
GLOBAL = int(Space.GLOBAL)
GENERIC = int(Space.GENERIC)
LOAD = int(OpClass.LOAD)
STORE = int(OpClass.STORE)
ATOMIC = int(OpClass.ATOMIC)
REDUCTION = int(OpClass.REDUCTION)
ONES = np.int64(-1)
MOST_WORDS = 4  # of a lane, each in a line of its own


def most_lines(gpu: GPU) -> int:
    """Lines of one access, at most."""
    return MOST_WORDS * gpu.sm.warp_size


@inline
def resolve(space, address, kernel):
    """The memory a generic access means: told by the first active lane's address."""
    if space != GENERIC:
        return space
    if kernel.local_base <= address < kernel.local_base + APERTURE and kernel.local_base > 0:
        return LOCAL
    end = kernel.shared_base + APERTURE * kernel.cluster  # those of a cluster lie side by side
    if kernel.shared_base <= address < end and kernel.shared_base > 0:
        return SHARED
    return GLOBAL


@inline
def lane_address(c, record, pool, k):
    """Address of the k-th active lane; ``pool`` is where the CTA's pool begins in the arena."""
    if record.pool < 0:
        return record.first + k * record.stride
    return c.pool[pool + record.pool + k]


@inline
def local_address(c, s, kernel, address, thread):
    """Local memory interleaves the threads of an SM by word, so that equal offsets coalesce."""
    offset = address
    if kernel.local_base > 0 and address >= kernel.local_base:
        offset = address - kernel.local_base
    offset &= APERTURE - 1
    word = (offset >> 2) * c.spec[0].warps * c.spec[0].warp_size + thread
    return LOCAL_REGION + (s << LOCAL_PER_SM) + word * 4 + (offset & 3)


@inline
def line_slot(c, s, count, line):
    """Index of the transaction of a line among the first ``count``, or ``count``."""
    for k in range(count - 1, -1, -1):
        if c.transactions[s, k].line == line:
            return k
    return count


@inline
def bits(first, last):
    """A mask of bits first..last-1 of 64."""
    if last - first == 64:
        return ONES
    return ~(ONES << (last - first)) << first


@inline
def add_bytes(c, s, count, low, high):
    """Add bytes low..high-1, which lie in one line; returns the number of transactions."""
    spec = c.l1.spec[0]
    line = low // spec.line_bytes
    k = line_slot(c, s, count, line)
    transaction = c.transactions[s, k]
    if k == count:
        transaction.line = line
        transaction.sectors = 0
        transaction.full = 0
        for i in range(8):
            transaction.cover[i] = 0
        count += 1
    granule = spec.granule
    start = line * spec.line_bytes
    for sector in range(
        (low - start) // spec.sector_bytes, (high - 1 - start) // spec.sector_bytes + 1
    ):
        transaction.sectors |= 1 << sector
        begin = start + sector * spec.sector_bytes
        first = (max(low, begin) - begin + granule - 1) // granule
        last = (min(high, begin + spec.sector_bytes) - begin) // granule
        if last > first:
            transaction.cover[sector] |= bits(first, last)
    return count


@inline
def add_range(c, s, count, low, high):
    """Add bytes low..high-1, line by line."""
    line_bytes = c.l1.spec[0].line_bytes
    while low < high and count < c.spec[0].lines:
        end = min(high, (low // line_bytes + 1) * line_bytes)
        count = add_bytes(c, s, count, low, end)
        low = end
    return count


@inline
def same_word(c, record, pool, k):
    """How many of the lanes up to the k-th access the k-th lane's word."""
    address = lane_address(c, record, pool, k)
    same = 1
    for j in range(k):
        if lane_address(c, record, pool, j) == address:
            same += 1
    return same


@inline
def finish(c, s, count):
    """Turn byte coverage into the ``full`` masks."""
    sectors = c.l1.spec[0].line_bytes // c.l1.spec[0].sector_bytes
    for k in range(count):
        transaction = c.transactions[s, k]
        for sector in range(sectors):
            if transaction.cover[sector] == c.l1.spec[0].covered:
                transaction.full |= 1 << sector


@inline
def serial_atomics(c, s, count, record, pool, lanes):
    """For atomics: the most lanes on one word of each line."""
    for k in range(lanes):
        line = lane_address(c, record, pool, k) // c.l1.spec[0].line_bytes
        transaction = c.transactions[s, line_slot(c, s, count, line)]
        transaction.full = max(transaction.full, same_word(c, record, pool, k))


@inline
def whole_lines(c, s, count):
    """The coalescer before sectors: a load fetches every line whole that it touches."""
    every = (1 << c.l1.spec[0].sectors) - 1
    for k in range(count):
        c.transactions[s, k].sectors = every


@inline
def ideal_lines(c, s, count, first, lanes, width, store):
    """Keep as many sectors as the bytes of an access fill, of whole lines; how many these are.

    Which of its lines an access keeps is told by where in a line its first lane is: so accesses
    that share lines, as those to neighbouring columns do, together keep all of them, and a
    program moves as much data as if it were coalesced.
    """
    spec = c.l1.spec[0]
    sectors = spec.line_bytes // spec.sector_bytes
    touched = 0
    for k in range(count):
        touched += popcount(c.transactions[s, k].sectors)
    left = (lanes * width + spec.sector_bytes - 1) // spec.sector_bytes
    if touched <= left:
        return count
    turn = (first % spec.line_bytes) // width
    kept = 0
    while left > 0 and kept < count:
        transaction = c.transactions[s, kept]
        other = c.transactions[s, kept + turn % (count - kept)]
        line = other.line
        other.line = transaction.line
        transaction.line = line
        n = min(left, sectors)
        transaction.sectors = bits(0, n)
        transaction.full = transaction.sectors if store else 0
        left -= n
        kept += 1
    return kept


@inline
def take_turns(c, s, count):
    """Order the transactions so that lines of different tag banks are looked up together."""
    bits = c.l1.spec[0].tag_bits
    last = 0
    for k in range(count):
        transaction = c.transactions[s, k]
        bank = tag_bank(transaction.line, bits)
        transaction.turn = 0
        for j in range(k):
            other = c.transactions[s, j]
            if tag_bank(other.line, bits) == bank:
                transaction.turn = other.turn + 1
        last = max(last, transaction.turn)
    n = 0
    for turn in range(last + 1):
        for k in range(count):
            if c.transactions[s, k].turn == turn:
                c.transactions[s, n].nth = k
                n += 1


@inline
def coalesce(c, s, access, kernel, cta, warp, instruction):
    """Fill the SM's transactions for one memory instruction; returns their number."""
    record = c.addresses[cta.addresses + access.address]
    width = max(1, instruction.width)
    count = 0
    if record.pool < 0 and record.first == NOWHERE and record.stride == 0:
        return 0
    if access.space == LOCAL and c.spec[0].ideal_local:
        return 0
    if access.space != LOCAL and record.pool < 0 and -width <= record.stride <= width:
        last = record.first + (access.lanes - 1) * record.stride
        low, high = min(record.first, last), max(record.first, last) + width
        count = add_range(c, s, 0, low, high)
    else:
        k = 0
        for lane in range(c.spec[0].warp_size):
            if (access.mask >> lane) & 1:
                address = lane_address(c, record, cta.pool, k)
                if access.space == LOCAL:
                    thread = cta.thread_base + warp.index * c.spec[0].warp_size + lane
                    for offset in range(0, width, 4):
                        low = local_address(c, s, kernel, address + offset, thread)
                        count = add_range(c, s, count, low, low + min(width, 4))
                elif address != NOWHERE:
                    count = add_range(c, s, count, address, address + width)
                k += 1
    if instruction.op == STORE:
        finish(c, s, count)
    elif instruction.op == ATOMIC or instruction.op == REDUCTION:
        serial_atomics(c, s, count, record, cta.pool, access.lanes)
    elif c.spec[0].whole_lines:
        whole_lines(c, s, count)
    if c.spec[0].ideal_coalescing and access.space != LOCAL:
        if instruction.op == LOAD or instruction.op == STORE:
            first = max(lane_address(c, record, cta.pool, 0), 0)
            store = instruction.op == STORE
            count = ideal_lines(c, s, count, first, access.lanes, width, store)
    return count
