"""Write ports: each register bank of a sub-core writes one register a cycle (style ports).

A result of fixed latency is never late: where two of them meet, the result queue keeps one and
forwards it meanwhile. A result of variable latency, of a load or of the special function unit,
waits until its banks are free, and those who need it wait too [Huerta 2025]. So it is settled in
the cycle in which it comes, when the results of fixed latency that can meet it are known.

The state is small on purpose: rings of cycles instead of masks cost gemm-256 8 % of its speed,
because every SM brings its own into the host's cache in each window.
"""

from lockstep._jit import force_inline
from lockstep.model.clock import NEVER
from lockstep.model.core.state import BANK_BITS, RESULTS, WRITE_BITS
from lockstep.model.sm.dependence import later_result

PAST = 8  # cycles before now that a port remembers, for results of several writes
LAST = 62  # the last cycle of a port's mask: no sign is involved
SHIFT = 48  # cycle of the mask from which on it is moved; rarely, as every issue comes by
SLOT_BITS, PRODUCER_BITS, AGE_BITS = 8, 2, 20


@force_inline
def write(c, s, b, writes, cycle, now):
    """Write registers in the first free cycles of their banks from ``cycle`` on; returns the last.

    ``writes`` is as in an ISSUE record; nobody writes before ``now`` any more.
    """
    last = cycle
    while writes != 0:
        port = c.write_ports[s, b, writes & ((1 << BANK_BITS) - 1)]
        left = (writes & ((1 << WRITE_BITS) - 1)) >> BANK_BITS
        writes >>= WRITE_BITS
        if cycle - port.since > SHIFT:
            gone = max(0, now - PAST - port.since)
            port.taken = port.taken >> gone if gone <= LAST else 0
            port.since += gone
        at = max(0, cycle - port.since)
        while left > 0 and at <= LAST:
            if (port.taken >> at) & 1 == 0:
                port.taken |= 1 << at
                left -= 1
                last = max(last, port.since + at)
            at += 1
    return last


@force_inline
def owner_of(c, s, w, code, producer):
    """Whose a result is, as one number: of a warp's instruction ``code``, LONG or SHORT."""
    age = c.warps[s, w].age & ((1 << AGE_BITS) - 1)
    return (((code << AGE_BITS | age) << PRODUCER_BITS | producer) << SLOT_BITS) | w


@force_inline
def expect(c, s, b, owner, instruction, cycle):
    """A result of variable latency is written in ``cycle`` if it meets no other.

    If there are too many, the next one is not held up.
    """
    sub = c.subcores[s, b]
    if sub.result_count == 0:
        sub.result_head = 0
    elif sub.result_count == RESULTS:
        sub.result_head += 1
        sub.result_count -= 1
    k = sub.result_head + sub.result_count
    while k > sub.result_head and c.results[s, b, (k - 1) & (RESULTS - 1)].cycle > cycle:
        after = c.results[s, b, (k - 1) & (RESULTS - 1)]
        result = c.results[s, b, k & (RESULTS - 1)]
        result.cycle, result.first = after.cycle, after.first
        result.writes, result.owner = after.writes, after.owner
        k -= 1
    result = c.results[s, b, k & (RESULTS - 1)]
    result.cycle = cycle
    result.first = cycle - instruction.more_writes
    result.writes = instruction.writes
    result.owner = owner
    sub.result_count += 1
    sub.result_next = min(sub.result_next, cycle)


@force_inline
def delay(c, s, owner, cycle):
    """Those who need a result wait until it is written, unless its CTA is no more."""
    w = owner & ((1 << SLOT_BITS) - 1)
    producer = (owner >> SLOT_BITS) & ((1 << PRODUCER_BITS) - 1)
    age = owner >> SLOT_BITS + PRODUCER_BITS
    code = age >> AGE_BITS
    warp = c.warps[s, w]
    if warp.active and (warp.age ^ age) & ((1 << AGE_BITS) - 1) == 0:
        instruction = c.code[c.kernels[warp.kernel].code + code]
        later_result(c, s, w, instruction, cycle, producer)


@force_inline
def settle_results(c, s, b, now):
    """Write what has come until ``now``, in the order in which it came."""
    sub = c.subcores[s, b]
    while sub.result_next <= now:
        result = c.results[s, b, sub.result_head & (RESULTS - 1)]
        sub.result_head += 1
        sub.result_count -= 1
        following = c.results[s, b, sub.result_head & (RESULTS - 1)]
        sub.result_next = following.cycle if sub.result_count > 0 else NEVER
        cycle = write(c, s, b, result.writes, result.first, result.first)
        if cycle > result.cycle:
            c.counters[s].write_conflicts += cycle - result.cycle
            delay(c, s, result.owner, cycle)
