"""Whether a result is right: bit for bit, or as far as PTX specifies it."""

import re

from ptx_twin import special
from ptx_twin.floating import divide_approximately, load, split
from ptx_twin.integer import reader
from ptx_twin.numbers import FORMATS, decode, mask, power
from ptx_twin.operands import type_bits
from ptx_twin.table import is_float

DEPTH = re.compile(r"m\d+n\d+k(\d+)")
# Of these PTX says no more than that a NaN gives a NaN.
ANY_NAN = ("abs", "neg", "tanh", "ex2")


def lanes(kind, pattern):
    """The single numbers of a packed float pattern."""
    name, count, bits = split(kind)
    return name, [pattern >> (i * bits) & mask(bits) for i in range(count)]


def same(case, kind, got, expected):
    """Equal patterns; a NaN need only be one where its payload is unspecified."""
    if got == expected:
        return True
    if not is_float(kind):
        return False
    if kind not in ("f64", "tf32") and case.opcode not in ANY_NAN:
        return False
    name, parts = lanes(kind, got)
    _, others = lanes(kind, expected)
    return all(
        a == b or (decode(a, name).is_nan and decode(b, name).is_nan) for a, b in zip(parts, others)
    )


def specified(case, row):
    """Whether PTX says what a division gives."""
    read, _ = reader(case.operand_types[0])
    low = -(1 << (int(case.operand_types[0][1:]) - 1))
    return read(row[1]) != 0 and not (read(row[0]) == low and read(row[1]) == -1)


def bounded(case, kind, row, got):
    """Each lane within the documented error of the exact value of the operands' lanes."""
    words = case.name.split(".")[1:]
    name, results = lanes(kind, got)
    columns = zip(*(lanes(k, value)[1] for k, value in zip(case.operand_types, row)))
    return all(near(case.opcode, words, name, parts, r) for parts, r in zip(columns, results))


def near(opcode, words, name, patterns, result):
    numbers = [load(words, name, pattern) for pattern in patterns]
    if opcode == "div":
        exact = divide_approximately(*numbers)
    else:
        exact = special.FUNCTIONS[opcode](numbers[0])
    value = decode(result, name)
    if special.within(value, exact, opcode, name) or _overflows(value, exact, opcode, name):
        return True
    return bool("ftz" in words and value.is_zero and _flushes(exact, opcode, name))


def _overflows(value, exact, opcode, name):
    """Infinity for what is beyond, or within the error of, the largest number."""
    if not exact.is_finite or value.is_nan or value.sign != exact.sign:
        return False
    largest = decode(FORMATS[name].largest, name).magnitude
    beyond = exact.magnitude + special.bound(opcode, name, exact) > largest
    return beyond and (value.is_infinite or value.magnitude == largest)


def _flushes(exact, opcode, name):
    """A result that is subnormal, or may be within the error."""
    if not exact.is_finite:
        return False
    smallest = power(FORMATS[name].minimum_exponent)
    return exact.magnitude - special.bound(opcode, name, exact) < smallest


def close(case, kind, got, expected):
    """Sums of products of numbers within [-1, 1], in whatever order and precision of sums."""
    name, results = lanes(kind, got)
    _, others = lanes(kind, expected)
    length = int(DEPTH.search(case.name)[1])
    allowed = (length + 1) * 2 * power(-FORMATS[name].fraction_bits)
    pairs = [(decode(a, name), decode(b, name)) for a, b in zip(results, others)]
    return all(a.is_finite and abs(a.value - b.value) <= allowed for a, b in pairs)


def agrees(case, row, kind, got, expected):
    """Whether one result of one thread is acceptable."""
    if case.check == "divisor" and not specified(case, row):
        return True
    if case.check == "sum":
        return close(case, kind, got, expected)
    if case.check == "bound":
        return bounded(case, kind, row, got)
    return same(case, kind, got & mask(max(type_bits(kind), 32)), expected)
