"""Video instructions, written from PTX ISA's pseudocode ("Video Instructions")."""

import operator

from lockstep.isa.ptx.syntax import Part
from ptx_twin.integer import limits
from ptx_twin.numbers import clamp, mask, signed
from ptx_twin.operands import read, write

BINARY = {
    "vadd": operator.add,
    "vsub": operator.sub,
    "vabsdiff": lambda x, y: abs(x - y),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda x, y: (x + y + (x + y >= 0)) >> 1,
}
COMPARE = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
SECOND = {"add": operator.add, "min": min, "max": max}
WIDTHS = {"b": 8, "h": 16}


def word(thread, operand):
    return read(thread, operand.register if isinstance(operand, Part) else operand, "b32")


def selector(operand):
    return operand.selector if isinstance(operand, Part) else ""


def negated(operand):
    return isinstance(operand, Part) and operand.negative


def number(pattern, bits, kind):
    pattern &= mask(bits)
    return signed(pattern, bits) if kind[0] == "s" else pattern


def source(thread, operand, kind):
    """A selected byte, half or word."""
    name = selector(operand)
    bits = WIDTHS[name[0]] if name else 32
    return number(word(thread, operand) >> (bits * int(name[1:] or 0)), bits, kind)


def put(thread, operand, value):
    write(thread, operand.register if isinstance(operand, Part) else operand, value, "b32")


def finish(thread, instruction, value, kind):
    words, operands = instruction.modifiers, instruction.operands
    name = selector(operands[0])
    bits = WIDTHS[name[0]] if name else 32
    if "sat" in words:
        value = clamp(value, *limits(f"{kind[0]}{bits}"))
    third = word(thread, operands[3]) if len(operands) > 3 else 0
    if words[-1] in SECOND:
        value = SECOND[words[-1]](value, number(third, 32, kind))
    if name:
        shift = bits * int(name[1:])
        value = third & ~(mask(bits) << shift) | (value & mask(bits)) << shift
    put(thread, operands[0], value & mask(32))


def scalar(thread, instruction):
    words, (_, a, b) = instruction.modifiers, instruction.operands[:3]
    if instruction.opcode == "vset":
        x, y = source(thread, a, words[0]), source(thread, b, words[1])
        return finish(thread, instruction, int(COMPARE[words[2]](x, y)), "u32")
    x, y = source(thread, a, words[1]), source(thread, b, words[2])
    if instruction.opcode in ("vshl", "vshr"):
        y = min(y, 32) if "clamp" in words else y & 31
        value = signed(x << y & mask(34), 34) if instruction.opcode == "vshl" else x >> y
    else:
        value = BINARY[instruction.opcode](x, y)
    return finish(thread, instruction, value, words[0])


def multiply_add(thread, instruction):
    words, (target, a, b, c) = instruction.modifiers, instruction.operands
    flips, subtracts = negated(a) != negated(b), negated(c)
    wholly_unsigned = words[1][0] == words[2][0] == "u" and not flips and not subtracts
    value = source(thread, a, words[1]) * source(thread, b, words[2]) * (-1 if flips else 1)
    addend = number(word(thread, c), 32, "u32" if wholly_unsigned else "s32")
    value += -addend if subtracts and not flips else addend
    value += "po" in words
    value >>= 7 * ("shr7" in words) + 15 * ("shr15" in words)
    if "sat" in words:
        value = clamp(value, *limits("u32" if wholly_unsigned else "s32"))
    put(thread, target, value & mask(32))


def digits(operand, default):
    """Which elements are selected, the lowest first."""
    return [int(d) for d in reversed((selector(operand) or default)[1:])]


def packed(thread, instruction):
    words, (target, a, b, c) = instruction.modifiers, instruction.operands
    count, name = int(instruction.opcode[-1]), instruction.opcode[:-1]
    bits = 32 // count
    kinds = ["u32", *words[:2]] if name == "vset" else words[:3]
    both = word(thread, a) | word(thread, b) << 32
    lists = [
        [number(both >> (bits * place), bits, kind) for place in digits(operand, default)]
        for operand, default, kind in (
            (a, "x3210" if count == 4 else "x10", kinds[1]),
            (b, "x7654" if count == 4 else "x32", kinds[2]),
        )
    ]
    result = word(thread, c)
    for place in digits(target, "x3210" if count == 4 else "x10"):
        x, y = (numbers[place] for numbers in lists)
        value = int(COMPARE[words[2]](x, y)) if name == "vset" else BINARY[name](x, y)
        if "sat" in words:
            value = clamp(value, *limits(f"{kinds[0][0]}{bits}"))
        if "add" in words:
            result += value
        else:
            result &= ~(mask(bits) << (bits * place))
            result |= (value & mask(bits)) << (bits * place)
    put(thread, target, result & mask(32))


HANDLERS = {
    **dict.fromkeys(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr"), scalar),
    "vmad": multiply_add,
    **{
        f"{name}{count}": packed
        for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset")
        for count in (2, 4)
    },
}
