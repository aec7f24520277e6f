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

from lockstep._jit import inline
from lockstep.gpus.spec import Dram

LINEAR = 0
XOR = 1
SUM = 2


def digits(dram: Dram, line_bytes: int) -> tuple[int, int, int, int]:
    """Bases of the group, column and bank digits, and the kind of bank hash."""
    groups = math.gcd(dram.banks, dram.bank_groups)
    kind = LINEAR
    if dram.bank_hash == "xor" and dram.banks > 1:
        kind = XOR if dram.banks & (dram.banks - 1) == 0 else SUM
    return groups, max(1, dram.row_bytes // line_bytes), dram.banks // groups, kind


@inline
def locate(spec, line):
    """``(bank, row)`` of a line of a channel."""
    group = line % spec.group_digit
    upper = line // spec.group_digit // spec.row_lines
    row = upper // spec.bank_digit
    bank = upper % spec.bank_digit * spec.group_digit + group
    return _permute(spec, bank, row, 1), row


@inline
def line_at(spec, bank, row, column):
    """The line that lies at a place: the inverse of ``locate``."""
    bank = _permute(spec, bank, row, -1)
    group = bank % spec.group_digit
    upper = row * spec.bank_digit + bank // spec.group_digit
    return (upper * spec.row_lines + column) * spec.group_digit + group


@inline
def _permute(spec, bank, row, sign):
    """The bank, moved by the digits of the row; sign -1 moves it back."""
    if spec.bank_hash == XOR:
        while row > 0:
            bank ^= row % spec.banks
            row = row // spec.banks
    elif spec.bank_hash == SUM:
        while row > 0:
            bank = (bank + sign * (row % spec.banks)) % spec.banks
            row = row // spec.banks
    return bank
