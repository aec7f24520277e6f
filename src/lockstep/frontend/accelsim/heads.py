"""The head of an instruction line: what is the same every time the instruction executes."""

import numpy as np

from lockstep._jit import inline
from lockstep.frontend.accelsim.scan import BLANK, GAP, NEWLINE, decimal, skip, word_end

MOST_OPERANDS = 16  # of one kind on a line; how many make sense is for Statics to say
GMMA = np.frombuffer(b"GMMA", np.uint8)


@inline
def find_head(buffer, c, s, pc, p):
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
    if stop < 0 or not BLANK[buffer[stop]] or count < 0 or count > MOST_OPERANDS:
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
