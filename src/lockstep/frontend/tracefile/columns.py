"""Columns of 64-bit integers as bytes: the one primitive that every section is made of.

A column is stored as a head byte, then its values byte-transposed: all lowest bytes, then all
second bytes, up to the narrowest width that holds them. Zstandard does the rest.
"""

import functools

import numpy as np

from lockstep._jit import DISABLED, as_records, jit

WIDTH = 15  # bits of the head byte: bytes a value, 0 to 8
DELTA = 16  # values are differences to the value before
SHIFTED = 32  # a second byte says how many zero bits were cut off at the low end
LIMIT = 1 << 30  # bytes that one section may unfold to, on disk or in memory
_TOO_MANY = f"expected at most {LIMIT // 8} values in one group of columns"


class Malformed(Exception):
    """A section does not hold what it should; the reader adds the file and the position."""


def pack(values, delta: bool = True) -> bytes:
    """One column as bytes; ``delta`` allows storing differences where they are smaller."""
    values = np.ascontiguousarray(values, np.int64)
    head, best = 0, values
    if delta and len(values) > 1:
        differences = np.diff(values, prepend=np.int64(0))
        if _bits(differences) < _bits(values):
            head, best = DELTA, differences
    bits = int(np.bitwise_or.reduce(best)) if len(best) else 0
    shift = (bits & -bits).bit_length() - 1 if bits else 0
    if shift:
        head, best = head | SHIFTED, best >> shift
    folded = zigzag(best)
    width = -(-int(folded.max(initial=0)).bit_length() // 8)
    planes = folded.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T
    return bytes([head | width]) + bytes([shift] if shift else []) + planes.tobytes()


def zigzag(values: np.ndarray) -> np.ndarray:
    """Signed to unsigned, small magnitudes to small numbers: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return ((values << 1) ^ (values >> 63)).view(np.uint64)


def _bits(values: np.ndarray) -> float:
    """About how many bits the values need."""
    return float(np.log2(zigzag(values).astype(np.float64) + 1).sum())


def pack_tables(tables) -> bytes:
    """Tables, each a sequence of equally long columns: first the row counts, then the columns."""
    counts = [len(table[0]) for table in tables]
    return b"".join(map(pack, [counts, *(column for table in tables for column in table)]))


def unpack_tables(payload: np.ndarray, widths, most: int) -> tuple[list[np.ndarray], int]:
    """Undo :func:`pack_tables`; returns an array ``[column, row]`` a table, and where they end.

    ``widths`` says how many columns each table has, ``most`` how many rows one may have. Raises
    :class:`Malformed`.
    """
    counts, position = _unpack_all(payload, 0, _alone(len(widths)), len(widths))
    columns = widths.tolist()
    lengths = np.empty(sum(columns), np.int64)
    total = _lengths(counts, widths, most, lengths)
    if total < 0:
        raise Malformed(f"number of rows out of range; expected 0 to {most}")
    values, position = _unpack_all(payload, position, lengths, total)
    tables, end = [], 0
    for n, width in zip(counts.tolist(), columns):
        begin, end = end, end + n * width
        tables.append(values[begin:end].reshape(width, n))
    return tables, position


def unpack(payload: np.ndarray, position: int, counts: np.ndarray) -> tuple[np.ndarray, int]:
    """The columns at ``position`` with ``counts`` values each, and the position behind them.

    All values are in one array, column after column. Raises :class:`Malformed`.
    """
    total = _total(counts)
    if total < 0:
        raise Malformed(_TOO_MANY)
    return _unpack_all(payload, position, counts, total)


def _unpack_all(
    payload: np.ndarray, position: int, counts: np.ndarray, total: int
) -> tuple[np.ndarray, int]:
    """:func:`unpack` of columns whose counts add up to ``total``."""
    if total > LIMIT // 8:
        raise Malformed(_TOO_MANY)
    values = np.zeros(total, np.int64)
    end = int(_unpack(payload, position, counts, values))
    if end < 0:
        raise Malformed(f"expected a column at offset {-1 - end} of the unpacked section")
    return values, end


@functools.cache
def _alone(count: int) -> np.ndarray:
    """The counts of a single column."""
    return np.array([count])


def check_range(values: np.ndarray, end: int, what: str) -> None:
    """Raise :class:`Malformed` unless all values are at least 0 and less than ``end``."""
    if _outside(values, end):
        raise Malformed(f"{what} out of range; expected 0 to {end - 1}")


def modular(function):
    """For functions that compute modulo 2**64: without JIT, NumPy would warn of it."""
    return np.errstate(over="ignore")(function) if DISABLED else function


def records_for_jit(array: np.ndarray) -> np.ndarray:
    """A structured array for jitted code, whose fields are attributes there.

    Without JIT that takes a view, which costs more than many a small chunk is worth.
    """
    return as_records(array) if DISABLED else array


def bounded(count: int, dtype: np.dtype) -> int:
    """``count``; raises :class:`Malformed` if that many records exceed the limit."""
    if count * dtype.itemsize > LIMIT:
        raise Malformed(
            f"{count} records of {dtype.itemsize} bytes; expected at most {LIMIT} bytes"
        )
    return int(count)


@jit
def _lengths(counts, widths, most, lengths):
    """Fill the length of every column of some tables; their sum, or -1 if a table is too long."""
    at, total = 0, np.int64(0)
    for t in range(len(widths)):
        if not 0 <= counts[t] <= most:
            return np.int64(-1)
        lengths[at : at + widths[t]] = counts[t]
        at += widths[t]
        total += widths[t] * counts[t]
    return total


@jit
def _outside(values, end):
    lowest, highest = np.int64(0), np.int64(-1)
    for value in values:
        lowest, highest = min(lowest, value), max(highest, value)
    return lowest < 0 or highest >= end


@jit
def _total(counts):
    """The sum of the counts; -1 if one is negative or the sum too large."""
    total = np.int64(0)
    for n in counts:
        total += n
        if n < 0 or n > LIMIT or total > LIMIT // 8:
            return np.int64(-1)
    return total


@jit
def _unpack(payload, position, counts, values):
    """Fill ``values``; returns the position behind the last column, or -1 - position if bad."""
    first = 0
    for n in counts:
        start = position
        if position >= len(payload):
            return -1 - start
        head = np.int64(payload[position])
        width = head & WIDTH
        position += 1
        shift = np.int64(0)
        if head & SHIFTED:
            if position >= len(payload):
                return -1 - start
            shift = np.int64(payload[position])
            position += 1
        bad = width > 8 or head >= 2 * SHIFTED or shift > 63
        if bad or position + width * n > len(payload):
            return -1 - start
        column = values[first : first + n]
        for b in range(width):
            plane = payload[position : position + n]
            for i in range(n):
                column[i] |= np.int64(plane[i]) << (8 * b)
            position += n
        if width > 0:
            _unfold(column, shift, head & DELTA)
        first += n
    return position


@jit
def _unfold(column, shift, delta):
    """Undo zigzag, shift and difference in place."""
    for i in range(len(column)):
        z = column[i]
        column[i] = (((z >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(z & 1)) << shift
    if delta != 0:
        for i in range(1, len(column)):
            column[i] += column[i - 1]
