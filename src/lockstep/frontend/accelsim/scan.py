"""Numbers and words out of a byte buffer: the jitted primitives of the text readers.

Every function stops at a newline and the caller guarantees that one ends the text, so none needs
to check the buffer's length. A position below zero means that the text is not what was asked for.
"""

import numpy as np

from lockstep._jit import inline

NEWLINE = 10
BLANK = np.zeros(256, np.bool_)  # what separates words; a carriage return counts
BLANK[[9, 13, 32]] = True
GAP = BLANK.copy()  # what may follow a word
GAP[NEWLINE] = True
_LOWEST = np.int64(-(1 << 63))
HEX = np.full(256, -1, np.int64)  # digit values
for _value, _digit in enumerate("0123456789abcdef"):
    HEX[ord(_digit)] = HEX[ord(_digit.upper())] = _value


@inline
def skip(buffer, p):
    """Position of the next byte that is no blank."""
    while BLANK[buffer[p]]:
        p += 1
    return p


@inline
def word_end(buffer, p):
    """Position behind the word at ``p``."""
    while not GAP[buffer[p]]:
        p += 1
    return p


@inline
def line_end(buffer, p):
    """Position of the newline that ends the line at ``p``."""
    while buffer[p] != NEWLINE:
        p += 1
    return p


@inline
def hexadecimal(buffer, p, most):
    """Value of 1 to ``most`` (up to 16) hex digits, as a bit pattern; ``(value, position)``."""
    value = np.int64(0)
    stop = p
    digit = HEX[buffer[stop]]
    while digit >= 0:
        value = (value << 4) | digit
        stop += 1
        digit = HEX[buffer[stop]]
    if stop == p or stop - p > most or not GAP[buffer[stop]]:
        stop = -1
    return value, stop


@inline
def address(buffer, p):
    """Value of a hexadecimal number that starts with 0x; ``(value, position)``."""
    value = np.int64(0)
    stop = -1
    if buffer[p] == 48 and (buffer[p + 1] | 32) == 120:
        value, stop = hexadecimal(buffer, p + 2, 16)
    return value, stop


@inline
def decimal(buffer, p):
    """Value of a decimal number of up to 64 bits, as a bit pattern; ``(value, position)``.

    Below -2**63 there is none: its bits would be those of a small positive number.
    """
    negative = buffer[p] == 45
    first = p + 1 if negative else p
    value = np.int64(0)
    stop = first
    digit = np.int64(buffer[stop]) - 48
    while 0 <= digit <= 9 and stop - first < 18:  # 18 digits cannot overflow
        value = value * 10 + digit
        stop += 1
        digit = np.int64(buffer[stop]) - 48
    if 0 <= digit <= 9:
        value, stop = _more_digits(buffer, stop, value)
    if stop == first or (negative and value < 0 and value != _LOWEST):
        stop = -1
    return (-value if negative else value), stop


@inline
def _more_digits(buffer, p, value):
    """The last digit or two of a number whose first 18 digits are ``value``."""
    high = np.int64(buffer[p]) - 48
    low = np.int64(buffer[p + 1]) - 48
    if not 0 <= low <= 9:
        return _shifted(value, 10, high), p + 1
    rest = high * 10 + low
    digit = np.int64(buffer[p + 2]) - 48
    if 0 <= digit <= 9 or value > 184467440737095516 or (value == 184467440737095516 and rest > 15):
        return value, -1  # 2**64 or more
    return _shifted(value, 100, rest), p + 2


@inline
def _shifted(value, factor, rest):
    """``value * factor + rest`` modulo 2**64, without the overflow that NumPy scalars report."""
    low = (value & 0xFFFFFFFF) * factor + rest
    high = ((value >> 32) * factor + (low >> 32)) & 0xFFFFFFFF
    return (high << 32) | (low & 0xFFFFFFFF)


@inline
def matches(buffer, p, word):
    """Position behind ``word`` if the text at ``p`` is it, else -1; its blanks match any number."""
    for k in range(len(word)):
        if word[k] == 32:
            if not BLANK[buffer[p]]:
                return -1
            p = skip(buffer, p)
        elif buffer[p] != word[k]:
            return -1
        else:
            p += 1
    return p


@inline
def popcount(mask):
    """Set bits of a 32-bit mask."""
    pairs = mask - ((mask >> 1) & 0x55555555)
    fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    return ((((fours + (fours >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24) & 0xFF
