"""Comparison and selection: set, setp, selp, slct."""

from ptx_twin import arithmetic, floating
from ptx_twin.integer import reader
from ptx_twin.numbers import ONE, encode, mask
from ptx_twin.table import is_float, operation, typed

ORDER = {
    "eq": lambda o: o == 0,
    "ne": lambda o: o != 0,
    "lt": lambda o: o < 0,
    "le": lambda o: o <= 0,
    "gt": lambda o: o > 0,
    "ge": lambda o: o >= 0,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
BOOLEAN = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def holds(name, order):
    """Whether a comparison holds; ``order`` is -1, 0, 1, or None if unordered."""
    if name in ("num", "nan"):
        return (order is None) == (name == "nan")
    name = UNSIGNED.get(name, name)
    if name in ORDER:
        return order is not None and ORDER[name](order)
    return order is None or ORDER[name[:-1]](order)


def comparison(words):
    names = {*ORDER, *UNSIGNED, "num", "nan", *(n + "u" for n in ORDER)}
    return next(word for word in words if word in names)


def compared(words, kind, a, b):
    """The truth of each lane."""
    name = comparison(words)
    if not is_float(kind):
        read, _ = reader(kind)
        x, y = read(a), read(b)
        return [holds(name, (x > y) - (x < y))]
    form, count, bits = floating.split(kind)
    results = []
    for lane in range(count):
        x, y = (floating.load(words, form, p >> (lane * bits) & mask(bits)) for p in (a, b))
        results.append(holds(name, arithmetic.compare(x, y)))
    return results


def combine(words, truth, other):
    """With the predicate operand, if there is one."""
    function = next((BOOLEAN[word] for word in words if word in BOOLEAN), None)
    return function(int(truth), other) if function else int(truth)


@operation("setp")
def setp(words, kind, a, b, c=0):
    """``(p, q)``: both truths and complements, or for packed types the two lanes."""
    truths = compared(words, kind, a, b)
    if len(truths) == 2:
        return tuple(combine(words, t, c) for t in truths)
    return combine(words, truths[0], c), combine(words, not truths[0], c)


@operation("set")
def set_(words, kind, a, b, c=0):
    """All ones or 1.0 where true."""
    target = typed(words)[0]
    truths = [combine(words, t, c) for t in compared(words, kind, a, b)]
    if not is_float(target):
        lane = int(target[1:].partition("x")[0]) // len(truths)
        return sum(mask(lane) << (i * lane) for i, t in enumerate(truths) if t)
    form, _, bits = floating.split(target)
    one = encode(ONE, form)
    return sum(one << (i * bits) for i, t in enumerate(truths) if t)


@operation("selp")
def selp(words, kind, a, b, p):
    return a if p else b


@operation("slct")
def slct(words, kind, a, b, c):
    """The first operand if c >= 0; ``kind`` is c's type."""
    if kind == "s32":
        return b if c >> 31 else a
    number = floating.load(words, "f32", c)
    return b if number.is_nan or (number.sign and not number.is_zero) else a
