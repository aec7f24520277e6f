"""Extended-precision integer arithmetic: the forms that write or read the carry flag.

The flag is that of a sum: a subtraction adds the complement and, at first, one.
"""

from ptx_twin.integer import reader
from ptx_twin.numbers import mask


def add(words, kind, carry, a, b):
    total = a + b + carry
    bits = reader(kind)[1]
    return total & mask(bits), total >> bits


def subtract(words, kind, carry, a, b):
    return add(words, kind, carry, a, b ^ mask(reader(kind)[1]))


def multiply_add(words, kind, carry, a, b, c):
    read, bits = reader(kind)
    product = read(a) * read(b)
    half = (product >> bits if "hi" in words else product) & mask(bits)
    return add(words, kind, carry, half, c)


FUNCTIONS = {"add": add, "sub": subtract, "mad": multiply_add}
FIRST = {"add": 0, "sub": 1, "mad": 0}  # what the forms take that do not read the flag


def applies(opcode, words):
    return "cc" in words or opcode in ("addc", "subc", "madc")


def execute(opcode, words, kind, flag, *values):
    """``(result, new flag)``; the flag is read by the forms with a ``c`` only."""
    base = opcode[:3]
    result, out = FUNCTIONS[base](words, kind, flag if opcode != base else FIRST[base], *values)
    return result, out if "cc" in words else flag
