"""One instruction line: its layout in every tracer version, into runs and addresses.

A line is committed as a whole: whoever finds that an array is full or that the instruction is
new returns, and the line is parsed again when that is put right.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.frontend.accelsim.addresses import (
    bulk_copy,
    lane_addresses,
    next_decimal,
    next_hexadecimal,
)
from lockstep.frontend.accelsim.heads import find_head
from lockstep.frontend.accelsim.parser import (
    ADDRESSED,
    BAD_BULK,
    BAD_HEAD,
    BAD_IMMEDIATE,
    BAD_LINEINFO,
    BAD_MASK,
    BAD_PC,
    BAD_PREFIX,
    BAD_VALUES,
    BULK,
    DONE_LINE,
    EXTRA_WORD,
    GROW,
    LONE_PAIR,
    MASK_OUTSIDE,
    MORE,
    NEW_HEAD,
    NEW_VARIANT,
    WRONG_PLACE,
)
from lockstep.frontend.accelsim.scan import (
    BLANK,
    GAP,
    HEX,
    NEWLINE,
    decimal,
    hexadecimal,
    matches,
    popcount,
    skip,
)
from lockstep.isa.instruction import WARP_SIZE

VALUES, NO_VALUES = np.frombuffer(b"Val", np.uint8), np.frombuffer(b"NoVal", np.uint8)


@inline
def instruction(buffer, c, s, p):
    """Parse the line at ``p``; returns an outcome. On DONE_LINE, ``s.position`` is its newline."""
    full = s.runs + 1 > len(c.runs) or s.addresses + 1 > len(c.addresses)
    if full or s.pool + WARP_SIZE > len(c.pool):
        return GROW
    s.fault = p
    p, outcome = _prefix(buffer, s, p)
    if outcome != MORE:
        return outcome
    pc, stop = hexadecimal(buffer, p, 8)
    if stop < 0:
        return BAD_PC
    s.fault = p = skip(buffer, stop)
    mask, stop = hexadecimal(buffer, p, 8)
    if stop != p + 8:
        return BAD_MASK
    if mask & ~s.lanes != 0:
        return MASK_OUTSIDE
    s.fault = p = skip(buffer, stop)
    head, p = find_head(buffer, c, s, pc, p)
    if head < 0:
        return BAD_HEAD
    if head == 0:
        s.pc = pc
        return NEW_HEAD
    return _body(buffer, c, s, p, head, mask)


@inline
def _body(buffer, c, s, p, head, mask):
    """The part behind the head: addresses, immediates, register values; then commit."""
    kind = c.heads[head].kind
    entry = c.addresses[s.addresses]
    pool = s.pool
    immediate = np.int64(0)
    s.fault = p = skip(buffer, p)
    if kind == ADDRESSED:
        p, pool, outcome = lane_addresses(buffer, c, s, p, mask, entry)
        if outcome != MORE:
            return outcome
    elif kind == BULK:
        immediate, p = bulk_copy(buffer, s, p, entry)
        if p < 0:
            return BAD_BULK
    p, immediate, outcome = _tail(buffer, c, s, p, head, immediate)
    if outcome != MORE:
        return outcome
    s.fault = p
    if buffer[p] != NEWLINE:
        return EXTRA_WORD
    variant = _find_variant(c, s, head, immediate)
    if variant == 0:
        s.head, s.immediate = head, immediate
        return NEW_VARIANT
    s.position = p
    return _commit(c, s, variant, mask, pool)


@inline
def _commit(c, s, variant, mask, pool):
    """Append the line to the stream of its warp."""
    c.variants[s.last].successor = variant
    s.last = variant
    v = c.variants[variant]
    if s.raw == 1 and c.heads[v.head].ldgsts == 1:
        if s.pair == 0:  # the line with the shared address
            s.pair, s.pair_pc = 1, c.heads[v.head].pc
            return DONE_LINE
        s.pair = 0
        if s.pair_pc != c.heads[v.head].pc:
            return LONE_PAIR
    elif s.pair == 1:
        return LONE_PAIR
    s.instructions += 1
    s.threads += popcount(mask)
    if v.addressed == 1 and mask != 0:
        s.addresses += 1
        s.pool = pool
    _join(c, s, v.static, mask)
    return DONE_LINE


@inline
def _join(c, s, static, mask):
    """Lengthen the last run of the warp by one instruction, or begin another."""
    if s.runs > s.first_run:
        run = c.runs[s.runs - 1]
        if run.mask == mask and run.static + run.count == static:
            run.count += 1
            return
    run = c.runs[s.runs]
    run.static, run.count, run.mask = static, 1, mask
    s.runs += 1


@inline
def _prefix(buffer, s, p):
    """Skip the numbers before the pc, those that name block and warp being checked."""
    for field in range(s.prefix):
        value, stop = decimal(buffer, p)
        if stop < 0 or not BLANK[buffer[stop]]:
            return p, BAD_PREFIX
        if field < 4 and value != s.place[field]:
            return p, WRONG_PLACE
        s.fault = p = skip(buffer, stop)
    if s.lineinfo == 1:
        value, stop = decimal(buffer, p)
        if stop < 0 or not BLANK[buffer[stop]]:
            return p, BAD_LINEINFO
        s.fault = p = skip(buffer, stop)
    return p, MORE


@inline
def _tail(buffer, c, s, p, head, immediate):
    """Immediates (version 5 on) and register values (6); ``(position, immediate, outcome)``."""
    if s.version >= 5:
        value, stop = next_decimal(buffer, s, p)
        if stop < 0:
            return p, immediate, BAD_IMMEDIATE
        p = stop
        if c.heads[head].kind != BULK:
            immediate = value
    if s.version >= 6:
        value, stop = next_decimal(buffer, s, p)  # a second one, which early tracers lack
        p = stop if stop >= 0 else p
        p = _values(buffer, s, p)
        if p < 0:
            return p, immediate, BAD_VALUES
    return p, immediate, MORE


@inline
def _values(buffer, s, p):
    """Skip ``NoVal``, or ``Val`` and hex numbers: a value of each register, once or by lane."""
    s.fault = p
    stop = matches(buffer, p, VALUES)
    with_values = stop >= 0
    if not with_values:
        stop = matches(buffer, p, NO_VALUES)
    if stop < 0 or not GAP[buffer[stop]]:
        return -1
    p = skip(buffer, stop)
    while with_values and buffer[p] != NEWLINE:
        _, p = next_hexadecimal(buffer, s, p)
        if p < 0:
            return -1
    return p


@inline
def _find_variant(c, s, head, immediate):
    """The variant of ``head`` that has this immediate, or 0."""
    guess = c.variants[s.last].successor
    if c.variants[guess].head == head and c.variants[guess].immediate == immediate:
        return guess
    variant = c.heads[head].first
    while variant != 0 and c.variants[variant].immediate != immediate:
        variant = c.variants[variant].next
    return variant


@inline
def starts_instruction(buffer, p):
    """Whether the line at ``p`` begins with a number (and is not a cluster line)."""
    return HEX[buffer[p]] >= 0 and not (buffer[p] == 99 and buffer[p + 1] == 108)  # cl
