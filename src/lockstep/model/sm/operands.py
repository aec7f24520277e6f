"""Operand reading: register ports (Volta and later) or operand collectors (before)."""

from lockstep._jit import force_inline
from lockstep.isa.instruction import SLOTS
from lockstep.model.core.state import OFFSET_PLACE, SLOT_PLACE

BANK_MASK = (1 << SLOT_PLACE - 16) - 1

SLOT_MASK = (1 << OFFSET_PLACE - SLOT_PLACE) - 1


@force_inline
def slot_of(read):
    """Slot of the register-file cache in which a register that is read is kept, if below SLOTS."""
    return (read >> SLOT_PLACE) & SLOT_MASK


@force_inline
def kept_as(w, read):
    """What the register-file cache has of an operand: its warp and its first register."""
    return (w << 16) | ((read & 0xFFFF) - (read >> OFFSET_PLACE))


@force_inline
def in_reuse_cache(c, s, b, w, read):
    """Whether the register-file cache holds a register that is read."""
    slot = slot_of(read)
    return slot < SLOTS and c.reuse[s, b, slot] == kept_as(w, read)


@force_inline
def keep_reused(c, s, b, w, instruction):
    """Fill and drop the register-file cache as the instruction's reuse bits say.

    Where they are not known, every operand is kept: compilers set the bit wherever the next
    instruction reads the same register in the same slot, and it costs nothing where that is not so.
    Where operands go by slots, one without the bit takes no other's place.
    """
    for k in range(instruction.reads):
        read = instruction.read[k]
        slot = slot_of(read)
        if slot >= SLOTS:
            continue
        if instruction.reuse < 0 or (instruction.reuse >> slot) & 1:
            c.reuse[s, b, slot] = kept_as(w, read)
        elif not c.spec[0].slots or c.reuse[s, b, slot] == kept_as(w, read):
            c.reuse[s, b, slot] = -1


@force_inline
def begin_product(c, s, b, instruction, begins):
    """A product of a warpgroup reads its accumulators, and A if lanes hold it, while it runs.

    Evenly, from one bank after the other: each register once, whatever the order is.
    """
    sub = c.subcores[s, b]
    if begins != sub.product_until:
        sub.product_since = begins
    sub.product_until = begins + instruction.interval
    sub.product_interval = instruction.interval
    sub.product_reads = instruction.immediate


@force_inline
def beside_product(sub, banks, bank, at):
    """The first cycle from ``at`` on in which the product that runs reads nothing from a bank."""
    while sub.product_since <= at < sub.product_until:
        offset = (at - sub.product_since) % sub.product_interval
        # Register k is read in cycle k * interval // reads; these are the ones of this cycle.
        first = -(-offset * sub.product_reads // sub.product_interval)
        behind = -(-(offset + 1) * sub.product_reads // sub.product_interval)
        if (bank - first) % banks >= behind - first:
            return at
        at += 1
    return at


@force_inline
def through_ports(c, s, b, w, instruction, now):
    """Reserve the banks' read ports; returns the cycles by which the window is exceeded."""
    spec = c.spec[0]
    sub = c.subcores[s, b]
    latest = now
    cached = spec.reuse_cache
    for k in range(instruction.reads):
        read = instruction.read[k]
        if cached and in_reuse_cache(c, s, b, w, read):
            continue
        bank = (read >> 16) & BANK_MASK
        at = max(c.register_ports[s, b, bank], now + 1)
        if at < sub.product_until:
            at = beside_product(sub, spec.banks, bank, at)
        c.register_ports[s, b, bank] = at + 1
        latest = max(latest, at)
    if cached:
        keep_reused(c, s, b, w, instruction)
    return max(0, latest - now - spec.window)


@force_inline
def free_collector(c, s, b):
    """Index among the register ports of the collector that is free first."""
    spec = c.spec[0]
    best = spec.banks
    for k in range(spec.banks + 1, spec.banks + spec.collectors):
        if c.register_ports[s, b, k] < c.register_ports[s, b, best]:
            best = k
    return best


@force_inline
def through_collector(c, s, b, w, instruction, now):
    """Collect operands from the banks; returns the cycles beyond a conflict-free collection."""
    spec = c.spec[0]
    latest = now
    for slot in range(instruction.reads):
        # Banks are swizzled by warp, so that warps in lockstep do not meet in one bank.
        bank = (((instruction.read[slot] >> 16) & BANK_MASK) + w) % spec.banks
        at = max(c.register_ports[s, b, bank], now + 1)
        c.register_ports[s, b, bank] = at + 1
        latest = max(latest, at)
    c.register_ports[s, b, free_collector(c, s, b)] = latest + 1
    return max(0, latest - now - 1)


@force_inline
def read(c, s, b, w, instruction, now):
    """Read an instruction's sources; returns the delay that conflicts add, in cycles.

    In ports style the delay also holds the sub-core's issue; a collector waits by itself.
    """
    if instruction.reads == 0:
        return 0
    if c.spec[0].collectors_style:
        delay = through_collector(c, s, b, w, instruction, now)
        c.counters[s].operand_conflicts += delay
        return delay
    delay = through_ports(c, s, b, w, instruction, now)
    if delay > 0:
        c.subcores[s, b].hold_until = now + 1 + delay
        c.counters[s].operand_conflicts += delay
    return delay


@force_inline
def available(c, s, b):
    """Cycle from which the sub-core can read another instruction's operands."""
    if c.spec[0].collectors_style:
        return c.register_ports[s, b, free_collector(c, s, b)]
    return c.subcores[s, b].hold_until
