"""Integer, logic, shift and bit-field instructions: patterns in, a pattern out."""

from ptx_twin.numbers import clamp, mask, signed
from ptx_twin.table import operation, typed


def reader(kind):
    """The function that reads a pattern as this type's number, and the bits of the type."""
    bits = int(kind[1:])
    return (lambda v: signed(v, bits) if kind[0] == "s" else v & mask(bits)), bits


def limits(kind):
    """The least and the greatest number of an integer type."""
    bits = int(kind[1:])
    if kind[0] == "s":
        return -(1 << (bits - 1)), mask(bits - 1)
    return 0, mask(bits)


def lanes(kind):
    """``s16x2`` is two lanes of s16."""
    base, _, count = kind.partition("x")
    return base, int(count or 1)


def by_lane(kind, function, *values):
    """Apply a function to each lane of packed integers."""
    base, count = lanes(kind)
    read, bits = reader(base)
    total = 0
    for lane in range(count):
        parts = (read(v >> (lane * bits)) for v in values)
        total |= (function(*parts) & mask(bits)) << (lane * bits)
    return total


def finish(words, kind, value):
    """Saturate or wrap a result."""
    if "sat" in words:
        value = clamp(value, *limits(kind))
    return value & mask(int(kind[1:]))


@operation("add.int")
def add(words, kind, a, b):
    if "sat" in words:
        return finish(words, kind, signed(a, 32) + signed(b, 32))
    return by_lane(kind, lambda x, y: x + y, a, b)


@operation("sub.int")
def sub(words, kind, a, b):
    if "sat" in words:
        return finish(words, kind, signed(a, 32) - signed(b, 32))
    return by_lane(kind, lambda x, y: x - y, a, b)


def part(words, product, bits):
    """The half of a product that .lo, .hi or .wide wants."""
    if "wide" in words:
        return product & mask(2 * bits)
    return (product >> bits if "hi" in words else product) & mask(bits)


@operation("mul.int")
def mul(words, kind, a, b):
    read, bits = reader(kind)
    return part(words, read(a) * read(b), bits)


@operation("mad.int")
def mad(words, kind, a, b, c):
    read, bits = reader(kind)
    wide = 2 * bits if "wide" in words else bits
    if "sat" in words:
        return finish(words, kind, (read(a) * read(b) >> bits) + read(c))
    return (part(words, read(a) * read(b), bits) + c) & mask(wide)


@operation("mul24")
def mul24(words, kind, a, b):
    read = signed if kind == "s32" else (lambda v, bits: v & mask(bits))
    product = read(a, 24) * read(b, 24)
    return (product >> 16 if "hi" in words else product) & mask(32)


@operation("mad24")
def mad24(words, kind, a, b, c):
    read = signed if kind == "s32" else (lambda v, bits: v & mask(bits))
    product = read(a, 24) * read(b, 24)
    if "sat" in words:
        return finish(words, kind, (product >> 16) + signed(c, 32))
    return ((product >> 16 if "hi" in words else product) + c) & mask(32)


@operation("sad")
def sad(words, kind, a, b, c):
    read, bits = reader(kind)
    return (c + abs(read(a) - read(b))) & mask(bits)


@operation("div.int")
def div(words, kind, a, b):
    """Toward zero. Division by zero is unspecified: all ones here."""
    read, bits = reader(kind)
    x, y = read(a), read(b)
    if y == 0:
        return mask(bits)
    quotient = abs(x) // abs(y)
    return (quotient if (x < 0) == (y < 0) else -quotient) & mask(bits)


@operation("rem")
def rem(words, kind, a, b):
    """The sign of the dividend. By zero it is unspecified: the dividend here."""
    read, bits = reader(kind)
    x, y = read(a), read(b)
    if y == 0:
        return a & mask(bits)
    rest = abs(x) % abs(y)
    return (-rest if x < 0 else rest) & mask(bits)


@operation("abs.int")
def absolute(words, kind, a):
    return by_lane(kind, abs, a)


@operation("neg.int")
def neg(words, kind, a):
    return by_lane(kind, lambda x: -x, a)


@operation("min.int")
def minimum(words, kind, a, b):
    low = 0 if "relu" in words else None
    return by_lane(kind, lambda x, y: min(x, y) if low is None else max(min(x, y), 0), a, b)


@operation("max.int")
def maximum(words, kind, a, b):
    return by_lane(kind, lambda x, y: max(x, y, 0) if "relu" in words else max(x, y), a, b)


@operation("popc")
def popc(words, kind, a):
    return a.bit_count()


@operation("clz")
def clz(words, kind, a):
    return int(kind[1:]) - a.bit_length()


@operation("bfind")
def bfind(words, kind, a):
    read, bits = reader(kind)
    value = read(a)
    value = ~value if value < 0 else value
    position = value.bit_length() - 1
    if position < 0:
        return mask(32)
    return bits - 1 - position if "shiftamt" in words else position


@operation("fns")
def fns(words, kind, word, base, offset):
    base, offset = base & mask(32), signed(offset, 32)
    if offset == 0:
        return base if word >> base & 1 else mask(32)
    positions = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in positions if word >> p & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else mask(32)


@operation("brev")
def brev(words, kind, a):
    bits = int(kind[1:])
    return int(f"{a:0{bits}b}"[::-1], 2)


@operation("bfe")
def bfe(words, kind, a, position, length):
    bits = int(kind[1:])
    position, length = position & 0xFF, length & 0xFF
    top = min(position + length - 1, bits - 1)
    fill = a >> top & 1 if kind[0] == "s" and length else 0
    result = 0
    for i in range(bits):
        inside = i < length and position + i < bits
        result |= (a >> (position + i) & 1 if inside else fill) << i
    return result


@operation("bfi")
def bfi(words, kind, a, b, position, length):
    bits = int(kind[1:])
    position, length = position & 0xFF, length & 0xFF
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


@operation("szext")
def szext(words, kind, a, count):
    count = count & 31 if "wrap" in words else min(count, 32)
    if count == 0:
        return 0
    low = a & mask(count)
    return (signed(low, count) if kind == "s32" else low) & mask(32)


@operation("bmsk")
def bmsk(words, kind, position, count):
    if "wrap" in words:
        position, count = position & 31, count & 31
    return sum(1 << i for i in range(32) if position <= i < position + count)


@operation("dp4a")
def dp4a(words, kind, a, b, c):
    one, other = typed(words)[-2:]
    total = c
    for i in range(4):
        total += byte(a, i, one) * byte(b, i, other)
    return total & mask(32)


@operation("dp2a")
def dp2a(words, kind, a, b, c):
    one, other = typed(words)[-2:]
    start = 2 if "hi" in words else 0
    total = c
    for i in range(2):
        half = a >> (16 * i)
        total += reader(one[0] + "16")[0](half) * byte(b, start + i, other)
    return total & mask(32)


def byte(word, index, kind):
    return reader(kind[0] + "8")[0](word >> (8 * index))


@operation("and")
def bit_and(words, kind, a, b):
    return a & b


@operation("or")
def bit_or(words, kind, a, b):
    return a | b


@operation("xor")
def bit_xor(words, kind, a, b):
    return a ^ b


@operation("not")
def bit_not(words, kind, a):
    return a ^ (1 if kind == "pred" else mask(int(kind[1:])))


@operation("cnot")
def cnot(words, kind, a):
    return int(a == 0)


@operation("lop3")
def lop3(words, kind, a, b, c, truth, predicate=None):
    """Bit i of the table is the result where a, b, c are the bits of i, a the highest."""
    result = 0
    for i in range(32):
        row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
        result |= (truth >> row & 1) << i
    if predicate is None:
        return result
    some = int(result != 0)
    return result, some | predicate if "or" in words else some & predicate


@operation("shl")
def shl(words, kind, a, count):
    bits = int(kind[1:])
    return a << min(count, bits) & mask(bits)


@operation("shr")
def shr(words, kind, a, count):
    read, bits = reader(kind)
    return read(a) >> min(count, bits) & mask(bits)


@operation("shf")
def shf(words, kind, low, high, count):
    count = count & 31 if "wrap" in words else min(count, 32)
    pair = high << 32 | low
    return (pair << count >> 32 if "l" in words else pair >> count) & mask(32)


PERMUTATIONS = {
    "f4e": lambda s: (s, s + 1, s + 2, s + 3),
    "b4e": lambda s: (s, s - 1, s - 2, s - 3),
    "rc8": lambda s: (s, s, s, s),
    "ecl": lambda s: (s, max(s, 1), max(s, 2), 3),
    "ecr": lambda s: (0, min(s, 1), min(s, 2), s),
    "rc16": lambda s: ((s & 1) * 2, (s & 1) * 2 + 1, (s & 1) * 2, (s & 1) * 2 + 1),
}


@operation("prmt")
def prmt(words, kind, a, b, selector):
    source = [(b << 32 | a) >> (8 * i) & 0xFF for i in range(8)]
    mode = next((w for w in words if w in PERMUTATIONS), None)
    if mode:
        picked = [source[i & 7] for i in PERMUTATIONS[mode](selector & 3)]
    else:
        picked = [_pick(source, selector >> (4 * i)) for i in range(4)]
    return sum(value << (8 * i) for i, value in enumerate(picked))


def _pick(source, selector):
    value = source[selector & 7]
    return (0xFF if value >> 7 else 0) if selector & 8 else value
