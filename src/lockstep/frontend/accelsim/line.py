"""One instruction line: its layout in every tracer version, into runs and addresses.

A line is committed as a whole: whoever finds that an array is full or that the instruction is
new returns, and the line is parsed again when that is put right.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.frontend.accelsim.parser import (
    ADDRESSED,
    BAD_ADDRESS,
    BAD_BULK,
    BAD_DELTA,
    BAD_HEAD,
    BAD_IMMEDIATE,
    BAD_LINEINFO,
    BAD_MASK,
    BAD_MODE,
    BAD_PC,
    BAD_PREFIX,
    BAD_STRIDE,
    BAD_VALUES,
    BULK,
    DONE_LINE,
    EXTRA_WORD,
    GROW,
    LONE_PAIR,
    MORE,
    NEW_HEAD,
    NEW_VARIANT,
    SPLIT_STRIDE,
    WRONG_PLACE,
)
from lockstep.frontend.accelsim.scan import (
    BLANK,
    GAP,
    HEX,
    NEWLINE,
    address,
    decimal,
    hexadecimal,
    popcount,
    skip,
    word_end,
)

LANES = 32
MODE_LIST, MODE_STRIDE, MODE_DELTAS, MODE_BULK_LIST, MODE_BULK_DELTAS = range(5)
STRIDE_LIMIT = 1 << 31  # strides are stored in 32 bits
GMMA = np.frombuffer(b"GMMA", np.uint8)


@inline
def instruction(buffer, c, s, p):
    """Parse the line at ``p``; returns an outcome. On DONE_LINE, ``s.position`` is its newline."""
    full = s.runs + 1 > len(c.runs) or s.addresses + 1 > len(c.addresses)
    if full or s.pool + LANES > len(c.pool):
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
    s.fault = p = skip(buffer, stop)
    head, p = _find_head(buffer, c, s, pc, p)
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
        p, pool, outcome = _addresses(buffer, c, s, p, mask, entry)
        if outcome != MORE:
            return outcome
    elif kind == BULK:
        immediate, p = _bulk(buffer, s, p, entry)
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
def _find_head(buffer, c, s, pc, p):
    """Number of the head at ``p`` (0: new; -1: malformed) and the position behind it."""
    guess = c.variants[c.variants[s.last].successor].head
    stop = _same_head(buffer, c, guess, pc, p)
    if stop >= 0:
        return guess, stop
    stop = head_end(buffer, p, s.version)
    if stop < 0:
        return -1, stop
    slot = head_hash(buffer, p, stop, pc) & (len(c.slots) - 1)
    while c.slots[slot] != 0:
        if _same_head(buffer, c, c.slots[slot], pc, p) == stop:
            return c.slots[slot], stop
        slot = (slot + 1) & (len(c.slots) - 1)
    s.head_start, s.head_end = p, stop
    return 0, stop


@inline
def _same_head(buffer, c, head, pc, p):
    """Position behind the text at ``p`` if it is that of ``head``, else -1."""
    h = c.heads[head]
    if h.pc != pc:
        return -1
    for k in range(h.length):
        if buffer[p + k] != c.text[h.start + k]:
            return -1
    return p + h.length if GAP[buffer[p + h.length]] else -1


@inline
def head_hash(buffer, p, stop, pc):
    """Hash of a head's text and pc."""
    value = pc
    for k in range(p, stop):
        value = ((value ^ np.int64(buffer[k])) * 16777619) & 0x3FFFFFFFFF
    return value ^ (value >> 17)


@inline
def head_end(buffer, p, version):
    """Position behind the word that says whether addresses follow; -1 if the line is shorter."""
    p = _skip_operands(buffer, p)
    if p < 0:
        return -1
    opcode = p
    p = skip(buffer, word_end(buffer, p))
    extra = 2 if version >= 6 and _is_gmma(buffer, opcode) else 1
    p = _skip_operands(buffer, p)
    for _ in range(extra):
        if p < 0 or buffer[p] == NEWLINE:
            return -1
        stop = word_end(buffer, p)
        p = skip(buffer, stop)
    return stop


@inline
def _skip_operands(buffer, p):
    """Position of the word behind a count of registers and the registers; -1 if there is none."""
    count, stop = decimal(buffer, p)
    if stop < 0 or not BLANK[buffer[stop]] or count < 0 or count > 16:
        return -1
    p = skip(buffer, stop)
    for _ in range(count):
        p = skip(buffer, word_end(buffer, p))
    return p if buffer[p] != NEWLINE else -1


@inline
def _is_gmma(buffer, p):
    """Whether the opcode at ``p`` holds the letters GMMA."""
    k = 0
    while k < len(GMMA) and not GAP[buffer[p]]:
        if buffer[p] == GMMA[k]:
            k += 1
        else:
            k = 1 if buffer[p] == GMMA[0] else 0
        p += 1
    return k == len(GMMA)


@inline
def _addresses(buffer, c, s, p, mask, entry):
    """Fill ``entry`` (and the pool behind ``s.pool``); ``(position, end of pool, outcome)``."""
    mode, stop = decimal(buffer, p)
    if stop < 0 or not GAP[buffer[stop]] or not MODE_LIST <= mode <= MODE_DELTAS:
        return p, s.pool, BAD_MODE
    s.fault = p = skip(buffer, stop)
    lanes = popcount(mask)
    if mode == MODE_STRIDE:
        p, outcome = _stride(buffer, s, p, mask, entry)
        return p, s.pool, outcome
    count = max(lanes, 1) if mode == MODE_DELTAS else lanes
    value = np.int64(0)
    for k in range(count):
        if k == 0 or mode == MODE_LIST:
            value, stop = address(buffer, p)
        else:
            delta, stop = decimal(buffer, p)
            value += delta
        if stop < 0 or not GAP[buffer[stop]]:
            return p, s.pool, BAD_ADDRESS if k == 0 or mode == MODE_LIST else BAD_DELTA
        c.pool[s.pool + k] = value
        s.fault = p = skip(buffer, stop)
    return p, _shortest(c, s, lanes, entry), MORE


@inline
def _stride(buffer, s, p, mask, entry):
    """``base stride``: the active lanes must be neighbours. Without any, both are undefined."""
    base, stop = address(buffer, p)
    if stop < 0:
        return p, BAD_ADDRESS
    s.fault = p = skip(buffer, stop)
    stride, stop = decimal(buffer, p)
    if stop < 0 or not GAP[buffer[stop]] or not -STRIDE_LIMIT <= stride < STRIDE_LIMIT:
        return p, BAD_STRIDE
    lowest = mask & -mask
    if (mask + lowest) & mask != 0:
        return p, SPLIT_STRIDE
    entry.base, entry.pool = base, -1
    entry.stride = stride if mask != lowest else 0
    return skip(buffer, stop), MORE


@inline
def _shortest(c, s, lanes, entry):
    """Describe the pool's last ``lanes`` addresses by a stride if one fits; end of the pool."""
    entry.base, entry.stride, entry.pool = c.pool[s.pool], 0, -1
    if lanes < 2:
        return s.pool
    stride = c.pool[s.pool + 1] - c.pool[s.pool]
    even = -STRIDE_LIMIT <= stride < STRIDE_LIMIT
    for k in range(2, lanes):
        even = even and c.pool[s.pool + k] - c.pool[s.pool + k - 1] == stride
    if even:
        entry.stride = stride
        return s.pool
    entry.pool = s.pool
    return s.pool + lanes


@inline
def _bulk(buffer, s, p, entry):
    """Bulk copy (version 6): ``(bytes, position)``; of its transfers only the first is kept."""
    entry.base, entry.stride, entry.pool = 0, 0, -1
    barrier, p = _next_hexadecimal(buffer, s, p)
    multicast, p = _next_decimal(buffer, s, p)
    if multicast != 0:
        mask, p = _next_hexadecimal(buffer, s, p)
    size, p = _next_decimal(buffer, s, p)
    outside, p = _next_decimal(buffer, s, p)
    mode, p = _next_decimal(buffer, s, p)
    base = np.int64(0)
    if mode == MODE_BULK_DELTAS:
        base, p = _next_hexadecimal(buffer, s, p)
    elif mode != MODE_BULK_LIST:
        return size, -1
    count, p = _next_decimal(buffer, s, p)
    for k in range(count if p >= 0 else 0):
        if mode == MODE_BULK_LIST:
            value, p = _next_hexadecimal(buffer, s, p)
            base = value if k == 0 else base
        elif k > 0:
            value, p = _next_decimal(buffer, s, p)
        if p < 0:
            break
    entry.base = base
    return size, p if size >= 0 and count >= 0 else -1


@inline
def _next_decimal(buffer, s, p):
    """The decimal word at ``p`` and the position of the next word; passes a failure on."""
    value = np.int64(0)
    if p >= 0:
        s.fault = p
        value, p = decimal(buffer, p)
        if p >= 0:
            p = skip(buffer, p) if GAP[buffer[p]] else -1
    return value, p


@inline
def _next_hexadecimal(buffer, s, p):
    """As :func:`_next_decimal`, for hex digits with or without 0x."""
    value = np.int64(0)
    if p >= 0:
        s.fault = p
        prefixed = buffer[p] == 48 and (buffer[p + 1] | 32) == 120
        value, p = hexadecimal(buffer, p + 2 if prefixed else p, 16)
        if p >= 0:
            p = skip(buffer, p)
    return value, p


@inline
def _tail(buffer, c, s, p, head, immediate):
    """Immediates (version 5 on) and register values (6); ``(position, immediate, outcome)``."""
    if s.version >= 5:
        value, stop = _next_decimal(buffer, s, p)
        if stop < 0:
            return p, immediate, BAD_IMMEDIATE
        p = stop
        if c.heads[head].kind != BULK:
            immediate = value
    if s.version >= 6:
        value, stop = _next_decimal(buffer, s, p)  # a second one, which early tracers lack
        p = stop if stop >= 0 else p
        p = _values(buffer, s, p)
        if p < 0:
            return p, immediate, BAD_VALUES
    return p, immediate, MORE


@inline
def _values(buffer, s, p):
    """Skip ``NoVal``, or ``Val`` and hex numbers: a value of each register, once or by lane."""
    s.fault = p
    stop = word_end(buffer, p)
    with_values = buffer[p] == 86 and stop - p == 3  # Val
    if not with_values and not (buffer[p] == 78 and stop - p == 5):  # NoVal
        return -1
    p = skip(buffer, stop)
    while with_values and buffer[p] != NEWLINE:
        value, p = _next_hexadecimal(buffer, s, p)
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
