"""Clusters: who is in one, whose shared memory an address means, copies between CTAs.

Each CTA's shared memory begins at an address of its own, so that an address tells its CTA.
"""

from functools import lru_cache

from ptx_twin.memory import Fault
from ptx_twin.operands import address, read, type_bits, write
from ptx_twin.table import typed

STEP = 1 << 26  # from the shared memory of a rank to that of the next one


@lru_cache
def place(index, cluster):
    """A CTA's cluster, its own index in it, its rank."""
    pairs = [divmod(i, c) for i, c in zip(index, cluster)]
    inner = [rest for _, rest in pairs]
    rank = inner[0] + cluster[0] * (inner[1] + cluster[1] * inner[2])
    return tuple(whole for whole, _ in pairs), tuple(inner), rank


def members(cta):
    """The CTAs of a cluster, by rank."""
    return cta.machine.clusters[place(cta.index, cta.machine.cluster)[0]]


def owner(cta, where, everywhere=True):
    """The CTA to which a shared address belongs."""
    rank = where // STEP
    ctas = members(cta)
    if rank >= len(ctas) or not (everywhere or rank == cta.rank):
        raise Fault(f"{where:#x} is in no shared memory that CTA {cta.index} sees")
    return ctas[rank]


def map_address(thread, instruction):
    kind = typed(instruction.modifiers)[-1]
    result, source, rank = instruction.operands
    where = read(thread, source, kind)
    window = where // (1 << 40) * (1 << 40) if kind == "u64" else 0
    own = (where - window) % STEP
    write(thread, result, window + read(thread, rank, "u32") * STEP + own, kind)


def cta_rank(thread, instruction):
    kind = typed(instruction.modifiers)[-1]
    where = read(thread, instruction.operands[1], kind) % (1 << 40)
    write(thread, instruction.operands[0], where // STEP, "u32")


def shared_at(thread, operand):
    """The CTA and address that an operand of the space of a cluster means."""
    _, where = address(thread, operand, "shared")
    return owner(thread.cta, where), where


def complete(thread, operand, count):
    """Bytes have come that a barrier object waits for."""
    cta, where = shared_at(thread, operand)
    transaction = cta.transactions[where]
    transaction.bytes -= count
    transaction.settle()


def bulk_copy(thread, instruction):
    """cp.async.bulk into shared memory, of one CTA or of all in a mask."""
    words, operands = instruction.modifiers, instruction.operands
    if "commit_group" in words or "wait_group" in words:
        return
    size = read(thread, operands[2], "b32")
    cta, to = shared_at(thread, operands[0])
    if "global" in words:
        source, at = thread.machine.memory, address(thread, operands[1], "global")[1]
    else:
        source, at = thread.cta.shared, address(thread, operands[1], "shared")[1]
    content = source.bytes_at(at, size)
    barrier_home, barrier = shared_at(thread, operands[3])
    homes = [(cta, barrier_home)]
    if "multicast::cluster" in words:
        mask = read(thread, operands[4], "b16")
        homes = [(c, c) for c in members(thread.cta) if mask >> c.rank & 1]
    for home, told in homes:
        start = home.rank * STEP + to % STEP
        for i, byte in enumerate(content):
            home.shared.write(start + i, 1, byte)
        transaction = told.transactions[told.rank * STEP + barrier % STEP]
        transaction.bytes -= size
        transaction.settle()


def async_bytes(instruction):
    """What st.async or red.async writes."""
    words = instruction.modifiers
    count = next((int(w[1]) for w in words if w in ("v2", "v4")), 1)
    return count * type_bits(typed(words)[-1]) // 8


HANDLERS = {"mapa": map_address, "getctarank": cta_rank}
