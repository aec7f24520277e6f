"""Where a line lies in its channel: bank and row.

A channel's lines are numbered without gaps. From the low end, the number's digits are: bank
group, column, bank within the group, row. So a stream keeps one row open in every bank group and
alternates between the groups, which hides the longer column delay within a group; and a row's
columns are lines that follow each other closely. ``xor`` then permutes the banks by the row
(Zhang, Zhu and Zhang, MICRO 2000), so that rows that differ by a power of two do not meet in one
bank; with a number of banks that is no power of two a sum stands in for the exclusive-or.

Digits have any base: nothing here needs a power of two. ``line_at`` is the inverse.
"""

import math

import numpy as np

from lockstep._jit import force_inline
from lockstep.gpus.memory import Dram
from lockstep.model.divisor import DIVISOR, divisor, quotient, remainder

BANK_BITS = 8  # of a place; more banks than 256 are not legal

MAP = np.dtype(
    [
        ("groups", DIVISOR),
        ("row_lines", DIVISOR),
        ("group_banks", DIVISOR),
        ("banks", DIVISOR),
        ("permuted", "i8"),  # whether banks are permuted by the row
    ]
)


def digits(dram: Dram, line_bytes: int) -> tuple:
    """The MAP record of a DRAM."""
    groups = math.gcd(dram.banks, dram.bank_groups)
    return (
        divisor(groups),
        divisor(max(1, dram.row_bytes // line_bytes)),
        divisor(dram.banks // groups),
        divisor(dram.banks),
        dram.bank_hash == "xor" and dram.banks > 1,
    )


@force_inline
def locate(digits, line):
    """The place of a line of a channel: its bank and its row, packed."""
    group = remainder(digits.groups, line)
    upper = quotient(digits.row_lines, quotient(digits.groups, line))
    row = quotient(digits.group_banks, upper)
    bank = remainder(digits.group_banks, upper) * digits.groups.value + group
    return (row << BANK_BITS) | _permute(digits, bank, row, 1)


@force_inline
def bank_of(place):
    """The bank of a place."""
    return place & ((1 << BANK_BITS) - 1)


@force_inline
def row_of(place):
    """The row of a place."""
    return place >> BANK_BITS


@force_inline
def line_at(digits, place, column):
    """The line of a column of a place: the inverse of ``locate``."""
    row = row_of(place)
    bank = _permute(digits, bank_of(place), row, -1)
    group = remainder(digits.groups, bank)
    upper = row * digits.group_banks.value + quotient(digits.groups, bank)
    return (upper * digits.row_lines.value + column) * digits.groups.value + group


@force_inline
def _permute(digits, bank, row, sign):
    """The bank, moved by every digit of the row; sign -1 moves it back."""
    if not digits.permuted:
        return bank
    while row > 0:
        digit = remainder(digits.banks, row)
        row = quotient(digits.banks, row)
        if digits.banks.shift >= 0:
            bank ^= digit
        else:
            bank = (bank + sign * digit) % digits.banks.value
    return bank
