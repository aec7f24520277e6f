"""Operand values: the edges of every type, and random patterns around and between them."""

import random
from functools import lru_cache

from ptx_twin.floating import split
from ptx_twin.numbers import FORMATS, encode, mask, power, real
from ptx_twin.table import is_float

COUNTS = (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, mask(32))
FEW = (0, 1, mask(32), 0x80000000)


def float_edges(name):
    """Zeros, ones, limits, infinities, NaNs and subnormals, each of both signs."""
    form = FORMATS[name]
    top = 1 << (form.bits - 1)
    one = encode(real(1), name) >> form.shift
    quiet = form.infinity | 1 << (form.fraction_bits - 1)
    bodies = [0, 1, mask(form.fraction_bits), 1 << form.fraction_bits, one - 1, one, one + 1]
    bodies += [one + (1 << form.fraction_bits), form.largest, form.largest - 1]
    bodies += [form.nan, form.infinity, quiet | 1]
    bodies += [encode(real(v), name) >> form.shift for v in (0.5, 1.5, 2.5, 3, 127.5, 128)]
    return [(sign | body) << form.shift for body in bodies for sign in (0, top)]


def integer_edges(bits):
    half = 1 << (bits - 1)
    values = (0, 1, 2, 3, half - 2, half - 1, half, half + 1, mask(bits) - 1, mask(bits))
    return [*values, half >> 1, mask(bits // 2), 1 << (bits // 2), 0x5555555555555555 & mask(bits)]


@lru_cache
def edges(kind):
    """Interesting patterns of a type."""
    if kind == "pred":
        return [0, 1]
    base, _, lanes = kind.partition("x")
    if lanes and not is_float(kind):
        return integer_edges(8 * (2 if lanes == "2" else 1))
    return float_edges(split(kind)[0]) if is_float(kind) else integer_edges(int(base[1:]))


def random_pattern(rng, kind):
    """Any bits, or a float of ordinary size."""
    if kind == "pred":
        return rng.getrandbits(1)
    if not is_float(kind):
        return rng.getrandbits(width(kind))
    name = split(kind)[0]
    form = FORMATS[name]
    if rng.random() < 0.4:
        return rng.getrandbits(form.bits) << form.shift
    value = rng.uniform(-4, 4) * 2 ** rng.randint(-6, 6)
    return encode(real(value), name)


def width(kind):
    """Bits of one lane of an integer type."""
    base = kind.partition("x")[0]
    return int(base[1:]) if base[1:].isdigit() else 32


def lanes_of(kind):
    return int(kind.partition("x")[2] or 1)


def scalar(rng, kind, edge):
    return rng.choice(edges(kind)) if edge else random_pattern(rng, kind)


def pattern(rng, kind):
    """An edge as often as a random one; packed types lane by lane."""
    lanes = lanes_of(kind)
    if lanes == 1:
        return scalar(rng, kind, rng.random() < 0.5)
    bits = split(kind)[2] if is_float(kind) else width(kind)
    parts = (scalar(rng, kind, rng.random() < 0.5) & mask(bits) for _ in range(lanes))
    return sum(part << (i * bits) for i, part in enumerate(parts))


def angle(rng, kind):
    name = split(kind)[0]
    special = (encode(real(0), name), FORMATS[name].infinity, FORMATS[name].nan)
    within = encode(real(rng.uniform(-6.28, 6.28)), name)
    return within if rng.random() < 0.9 else rng.choice(special)


def exponent(rng, kind):
    """Arguments whose powers of two are in and around the range; and the edges."""
    if rng.random() < 0.3:
        return pattern(rng, kind)
    name, count, bits = split(kind)
    reach = 26 if name == "f16" else 152
    size = reach if rng.random() < 0.5 else 4
    parts = (encode(real(rng.uniform(-size, size)), name) for _ in range(count))
    return sum(part << (i * bits) for i, part in enumerate(parts))


def small(rng, kind):
    """Little whole numbers, whose sums of products no format rounds."""
    name, count, bits = split(kind)
    parts = (encode(real(rng.randint(-2, 2)), name) for _ in range(count))
    return sum(part << (i * bits) for i, part in enumerate(parts))


def unit(rng, kind):
    """Numbers within [-1, 1]."""
    name, count, bits = split(kind)
    parts = (encode(real(rng.uniform(-1, 1)), name) for _ in range(count))
    return sum(part << (i * bits) for i, part in enumerate(parts))


def divisor(rng, kind):
    """Any number, but for floats within what div.approx is specified for."""
    if not is_float(kind):
        return pattern(rng, kind)
    value = pattern(rng, kind)
    low, high = encode(real(power(-126)), kind), encode(real(power(126)), kind)
    magnitude = value & mask(31)
    plain = low <= magnitude <= high or magnitude == 0
    return value if plain else divisor(rng, kind)


def near(rng):
    """Numbers about as large as a few bits hold, and any others."""
    reach = rng.choice((9, 300, 1 << 17, 1 << 31))
    return rng.randrange(-reach, reach) & mask(32)


def nibbles(rng, choices):
    """The metadata of eight runs of columns (mma.sp)."""
    return sum(rng.choice(choices) << 4 * k for k in range(8))


FLAVOURS = {
    "": pattern,
    "count": lambda rng, kind: rng.choice(COUNTS) if rng.random() < 0.7 else rng.randint(0, 70),
    "selector": lambda rng, kind: rng.getrandbits(16),
    "lane": lambda rng, kind: rng.randint(0, 31),
    "offset": lambda rng, kind: rng.randint(-33, 33) & mask(32),
    "near": lambda rng, kind: near(rng),
    "few": lambda rng, kind: rng.choice(FEW),
    "constant": lambda rng, kind: 0x1234567,
    "mostly": lambda rng, kind: int(rng.random() < 0.97),
    "angle": angle,
    "exponent": exponent,
    "small": small,
    "unit": unit,
    "divisor": divisor,
    "places": lambda rng, kind: nibbles(rng, (0x4, 0x8, 0xC, 0x9, 0xD, 0xE)),
    "halves": lambda rng, kind: nibbles(rng, (0x4, 0xE)),
}


def rows_of(case):
    """One tuple of operand patterns a thread; every edge occurs, seeded by the case's name."""
    rng = random.Random(case.name)
    rows = []
    for number in range(case.rows):
        row = []
        for operand in case.operands:
            kind, _, flavour = operand.partition(":")
            known = edges(kind) if not flavour and lanes_of(kind) == 1 else ()
            row.append(known[number] if number < len(known) else FLAVOURS[flavour](rng, kind))
        rows.append(tuple(row))
    return mixed(rng, case, rows)


def mixed(rng, case, rows):
    """Columns against each other, so that edges meet edges; some operands are equal."""
    columns = [list(column) for column in zip(*rows)]
    for column, operand in zip(columns[1:], case.operands[1:]):
        rng.shuffle(column)
        for i in range(0, len(column), 11):
            if operand == case.operands[0]:
                column[i] = columns[0][i]
    return list(zip(*columns))
