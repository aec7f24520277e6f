"""Index hash: which L2 slice owns a line, and which set of a cache a line belongs to.

A block number ``x`` (an address divided by the interleaving) becomes an index below any ``n``.
With ``n = m * 2**k``, ``m`` odd, ``q = x // m`` and ``r = x % m``:

    index = m * f(q) + r

where ``f`` maps ``q`` to k bits and is linear over GF(2), so eight table look-ups compute any of:

* linear: the low bits of ``q``; then ``index == x % n``.
* xor: ``q`` folded by exclusive-or into k bits.
* ipoly: ``q`` modulo a primitive polynomial of degree k (Rau, "Pseudo-randomly interleaved
  memory", ISCA 1991).

With ipoly, n consecutive elements of any power-of-two stride, from a multiple of n elements on,
fall on n different indices, for every n: for one remainder r the values of ``q`` are
``j * 2**s + c`` with the same ``c < 2**s``, that is ``f(j << s) ^ f(c)``, and multiplying by x is
invertible modulo the polynomial. A residue taken anywhere else than below the quotient would lose
this. The price: a stride that is a multiple of an odd factor m meets only every m-th index.

``x // n`` and the index together give ``x`` back (all three keep the low bits of ``q``
recoverable), so the blocks of one index can be numbered without gaps: ``local_block``.
"""

import functools

import numpy as np

from lockstep._jit import Context, Records, as_records, inline
from lockstep.gpus.choices import IndexHash, numbered
from lockstep.model.divisor import DIVISOR, divisor, quotient
from lockstep.model.policy import compile_policy

LINEAR = 0
XOR = 1
IPOLY = 2
USER = 3
KINDS = numbered(IndexHash, globals()) | {"user": USER}

# Primitive polynomials over GF(2) by degree, the x**k term included, bit i = coefficient of x**i
# (source: Peterson and Weldon, "Error-Correcting Codes", 2nd edition, appendix C).
PRIMITIVE = (
    0x1, 0x3, 0x7, 0xB, 0x13, 0x25, 0x43, 0x89, 0x11D, 0x211, 0x409, 0x805, 0x1053, 0x201B,
    0x4443, 0x8003, 0x1100B, 0x20009, 0x40081, 0x80027, 0x100009,
)  # fmt: skip

_BYTES = 8
HASH = np.dtype(
    [
        ("kind", "i8"),
        ("count", "i8"),  # n
        ("odd", "i8"),  # m
        ("unit", DIVISOR),  # what the caller's number is divided by first
    ]
)


class Hash(Context):
    """A hash: its parameters, and f for each value of each byte of the quotient."""

    spec: Records  # HASH, one
    table: np.ndarray  # int64, 8 x 256


@functools.cache
def build(kind: str, count: int, unit: int = 1) -> Hash:
    """The hash of numbers divided by ``unit`` onto 0 to ``count - 1``."""
    power = (count & -count).bit_length() - 1
    spec = as_records(np.zeros(1, HASH))
    spec[0] = (KINDS[kind], count, count >> power, divisor(unit))
    images = np.array([*_images(KINDS[kind], power), 0]).reshape(_BYTES, 8)
    table = np.zeros((_BYTES, 256), np.int64)
    for bit in range(8):  # numbers with that bit, from those below it
        np.bitwise_xor(
            table[:, : 1 << bit], images[:, bit : bit + 1], out=table[:, 1 << bit : 2 << bit]
        )
    return Hash(spec, table)


def _images(kind: int, power: int) -> list[int]:
    """What f makes of ``1 << bit``, for each bit of a non-negative number."""
    bits = range(8 * _BYTES - 1)
    if power == 0:
        return [0 for _ in bits]
    if kind in (LINEAR, USER):
        return [1 << bit if bit < power else 0 for bit in bits]
    if kind == XOR:
        return [1 << bit % power for bit in bits]
    images, value = [], 1
    for _ in bits:
        images.append(value)
        value <<= 1
        value ^= PRIMITIVE[power] if value >> power else 0
    return images if power > 1 else [1 for _ in bits]


def compile_hash(function):
    """A user's slice hash, ready to be passed to the model."""
    return compile_policy(function, "slice_of(line_address, slices)", "int64", "int64")


def first_slice(line_address, slices):
    """The hash that stands in where the user gives none; never called then."""
    return 0


@inline
def index_of(hash_, number):
    """The index of a number (a byte address for slices, a line number for sets)."""
    spec = hash_.spec[0]
    q = quotient(spec.unit, number)
    r = 0
    if spec.odd > 1:
        r = q % spec.odd
        q = q // spec.odd
    table = hash_.table
    f = table[0, q & 255] ^ table[1, (q >> 8) & 255] ^ table[2, (q >> 16) & 255]
    f ^= table[3, (q >> 24) & 255] ^ table[4, (q >> 32) & 255] ^ table[5, (q >> 40) & 255]
    f ^= table[6, (q >> 48) & 255] ^ table[7, (q >> 56) & 127]
    return f * spec.odd + r


@inline
def local_block(hash_, number):
    """The position of a number's block among the blocks of its index."""
    spec = hash_.spec[0]
    return quotient(spec.unit, number) // spec.count


@inline
def slice_of(hash_, line_address, choose):
    """The global L2 slice that owns a line; ``choose`` is the user's hash or its stand-in.

    A user's hash is ``choose(line_address, slices) -> slice``; the answer is taken modulo the
    number of slices. It should spread each aligned group of ``slices`` interleaving blocks over
    all slices: blocks of one group on one slice would share their place in memory.
    """
    spec = hash_.spec[0]
    if spec.kind == USER:
        return choose(line_address, spec.count) % spec.count
    return index_of(hash_, line_address)
