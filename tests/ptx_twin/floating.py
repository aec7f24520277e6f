"""Floating-point instructions: exact arithmetic on decoded patterns, rounded once."""

from ptx_twin import arithmetic, special
from ptx_twin.numbers import (
    FORMATS,
    NAN,
    Real,
    decode,
    encode,
    flush,
    is_subnormal,
    mask,
    power,
)
from ptx_twin.table import operation

MODES = ("rn", "rz", "rm", "rp", "rna")


def split(kind):
    """``f16x2`` is two lanes of f16; ``(format, lanes, bits of a lane)``."""
    name, _, count = kind.partition("x")
    return name, int(count or 1), 32 if name == "tf32" else FORMATS[name].bits


def rounding(words):
    return next((word for word in words if word in MODES), "rn")


def load(words, name, pattern):
    number = decode(pattern, name)
    return flush(number, name) if "ftz" in words else number


def store(words, name, number):
    """Saturate, rectify, round, flush, as the modifiers say; a pattern."""
    if "sat" in words:
        number = arithmetic.saturate(number)
    if "relu" in words:
        number = arithmetic.rectify(number)
    pattern = encode(number, name, rounding(words), "satfinite" in words)
    rounded = decode(pattern, name)
    if "ftz" in words and is_subnormal(rounded, name):
        return encode(flush(rounded, name), name)
    return pattern


def by_lane(words, kind, function, *patterns):
    """Apply a function of Reals to each lane."""
    name, count, bits = split(kind)
    total = 0
    for lane in range(count):
        parts = (load(words, name, p >> (lane * bits) & mask(bits)) for p in patterns)
        total |= store(words, name, function(*parts)) << (lane * bits)
    return total


@operation("add.float")
def add(words, kind, a, b):
    mode = rounding(words)
    return by_lane(words, kind, lambda x, y: arithmetic.add(x, y, mode), a, b)


@operation("sub.float")
def sub(words, kind, a, b):
    mode = rounding(words)
    return by_lane(words, kind, lambda x, y: arithmetic.subtract(x, y, mode), a, b)


@operation("mul.float")
def mul(words, kind, a, b):
    return by_lane(words, kind, arithmetic.multiply, a, b)


@operation("fma", "mad.float")
def fma(words, kind, a, b, c):
    mode = rounding(words)
    return by_lane(words, kind, lambda x, y, z: arithmetic.fused(x, y, z, mode), a, b, c)


def divide_approximately(x, y):
    """div.approx gives zero for a divisor above 2**126: its reciprocal underflows."""
    if y.is_finite and y.magnitude > power(126):
        return NAN if not x.is_finite else Real(x.sign ^ y.sign, power(0) * 0)
    return arithmetic.divide(x, y)


@operation("div.float")
def div(words, kind, a, b):
    divide = divide_approximately if "approx" in words else arithmetic.divide
    return by_lane(words, kind, divide, a, b)


def _approximate(opcode):
    def function(words, kind, a):
        if kind == "f64" and "approx" in words:
            return gross(opcode, a)
        if kind == "f64":  # ptxas makes one code of rcp.rn.f64 and rcp.rn.ftz.f64
            words = tuple(word for word in words if word != "ftz")
        return by_lane(words, kind, special.FUNCTIONS[opcode], a)

    return function


for _opcode in special.FUNCTIONS:
    operation(_opcode)(_approximate(_opcode))


def gross(opcode, pattern):
    """The .approx.ftz.f64 forms compute the upper 32 bits of the pattern only."""
    number = flush(decode(pattern & ~mask(32), "f64"), "f64")
    result = flush(special.FUNCTIONS[opcode](number), "f64")
    return encode(result, "f64", "rz") & ~mask(32) if not result.is_nan else FORMATS["f64"].nan


@operation("abs.float")
def absolute(words, kind, a):
    return by_lane(words, kind, arithmetic.absolute, a)


@operation("neg.float")
def neg(words, kind, a):
    return by_lane(words, kind, arithmetic.negate, a)


def choose(words, x, y, take_first):
    """What min and max have in common; a missing (NaN) operand gives the other one."""
    sign = x.sign ^ y.sign
    if "xorsign" in words:
        x, y = arithmetic.absolute(x), arithmetic.absolute(y)
    if x.is_nan or y.is_nan:
        both = "NaN" in words or (x.is_nan and y.is_nan)
        result = NAN if both else (y if x.is_nan else x)
    else:
        result = x if take_first(x, y) else y
    return result._replace(sign=sign) if "xorsign" in words and not result.is_nan else result


@operation("min.float")
def minimum(words, kind, a, b):
    return by_lane(words, kind, lambda x, y: choose(words, x, y, arithmetic.less), a, b)


@operation("max.float")
def maximum(words, kind, a, b):
    def greater(x, y):
        return arithmetic.less(y, x)

    return by_lane(words, kind, lambda x, y: choose(words, x, y, greater), a, b)


@operation("copysign")
def copysign(words, kind, a, b):
    top = 1 << (int(kind[1:]) - 1)
    return a & top | b & (top - 1)


@operation("testp")
def testp(words, kind, a):
    number = decode(a, kind)
    tests = {
        "finite": number.is_finite,
        "infinite": number.is_infinite,
        "number": not number.is_nan,
        "notanumber": number.is_nan,
        "normal": number.is_finite and not is_subnormal(number, kind),
        "subnormal": is_subnormal(number, kind),
    }
    return int(tests[words[0]])
