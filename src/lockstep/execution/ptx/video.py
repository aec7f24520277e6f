"""Video instructions: arithmetic on selected bytes and halves (PTX ISA, "Video Instructions").

Results have 34 bits with a sign until they are saturated, combined with a third operand or cut.
"""

from collections.abc import Callable

from lockstep.execution.lanes import compare, formats, integer
from lockstep.execution.lanes.types import I32, I64, INTEGERS, PRED, Value
from lockstep.execution.ptx.lift import Lift, is_signed
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction, Operand, Part

_TYPES = "{u32,s32}"
_THREE = f"{_TYPES}.{_TYPES}.{_TYPES}"
_SECOND = "[.{add,min,max}]"
_ORDERS = "{eq,ne,lt,le,gt,ge}"
_RESULT_BITS = 34
I128 = INTEGERS[128]


def _whole(lift: Lift, operand: Operand) -> Value:
    """All 32 bits of an operand."""
    return lift.read(operand.register if isinstance(operand, Part) else operand, "b32")


def _selector(operand: Operand, default: str) -> tuple[int, list[int]]:
    """Bits of an element, and which of them an operand selects, the result's lowest first."""
    name = (operand.selector if isinstance(operand, Part) else "") or default
    return {"b": 8, "h": 16, "w": 32}[name[0]], [int(digit) for digit in name[:0:-1]]


def _selected(lift: Lift, operand: Operand, signed: bool) -> Value:
    """The byte, half or word that an operand selects, as i64."""
    bits, (place,) = _selector(operand, "w0")
    return _element(lift, _whole(lift, operand), bits, place, signed)


def _element(lift: Lift, word: Value, bits: int, place: int, signed: bool) -> Value:
    b = lift.b
    part = integer.resize(b, integer.shift_right(b, word, bits * place), INTEGERS[bits])
    return integer.resize(b, part, I64, signed)


def _within(lift: Lift, x: Value, bits: int, signed: bool) -> Value:
    return integer.clamp(lift.b, x, *integer.limits(bits, signed), True)


def _finish(lift: Lift, i: Instruction, result: Value, signed: bool) -> None:
    """Saturate, then merge into the third operand or combine with it, and write."""
    b, words = lift.b, i.modifiers
    bits, (place,) = _selector(i.operands[0], "w0")
    if "sat" in words:
        result = _within(lift, result, bits, signed)
    second = words[-1] if words[-1] in ("add", "min", "max") else None
    if second:
        other = integer.resize(b, _whole(lift, i.operands[3]), I64, signed)
        if second == "add":
            result = Value(b.ir.add(result.ir, other.ir), I64)
        else:
            emit = integer.minimum if second == "min" else integer.maximum
            result = emit(b, result, other, True)
    result = integer.resize(b, result, I32)
    if bits < 32:
        result = _merged(lift, _whole(lift, i.operands[3]), result, bits, place)
    target = i.operands[0]
    lift.write(target.register if isinstance(target, Part) else target, result)


def _merged(lift: Lift, word: Value, part: Value, bits: int, place: int) -> Value:
    """A word with one element of it replaced."""
    b, mask = lift.b, (1 << bits) - 1
    kept = formats.keep(b, word, ~(mask << bits * place))
    new = integer.shift_left(b, formats.keep(b, part, mask), bits * place)
    return Value(b.ir.or_(kept.ir, new.ir), I32)


def _average(lift: Lift, x: Value, y: Value) -> Value:
    """Rounded up, or if the sum is negative down."""
    b = lift.b
    total = Value(b.ir.add(x.ir, y.ir), x.type)
    up = b.ir.zext(b.ir.not_(integer.negative(b, total).ir), b.vector(x.type))
    return integer.shift_right(b, Value(b.ir.add(total.ir, up), x.type), 1, True)


def _difference(lift: Lift, x: Value, y: Value) -> Value:
    return integer.absolute(lift.b, Value(lift.b.ir.sub(x.ir, y.ir), x.type))


_OPERATIONS: dict[str, Callable[[Lift, Value, Value], Value]] = {
    "vadd": lambda lift, x, y: Value(lift.b.ir.add(x.ir, y.ir), x.type),
    "vsub": lambda lift, x, y: Value(lift.b.ir.sub(x.ir, y.ir), x.type),
    "vabsdiff": _difference,
    "vmin": lambda lift, x, y: integer.minimum(lift.b, x, y, True),
    "vmax": lambda lift, x, y: integer.maximum(lift.b, x, y, True),
    "vavrg": _average,
}


@opcode(f"{{vadd,vsub,vabsdiff,vmin,vmax}}.{_THREE}[.sat]{_SECOND}")
def combine(lift: Lift, i: Instruction) -> None:
    signs = [is_signed(word) for word in i.modifiers[:3]]
    a, c = (_selected(lift, o, s) for o, s in zip(i.operands[1:3], signs[1:]))
    _finish(lift, i, _OPERATIONS[i.opcode](lift, a, c), signs[0])


@opcode(f"vset.{_TYPES}.{_TYPES}.{_ORDERS}{_SECOND}")
def compare_parts(lift: Lift, i: Instruction) -> None:
    """The result is unsigned, 1 or 0."""
    signs = [is_signed(word) for word in i.modifiers[:2]]
    a, c = (_selected(lift, o, s) for o, s in zip(i.operands[1:3], signs))
    holds = compare.compare_integers(lift.b, i.modifiers[2], a, c, signed=True)
    _finish(lift, i, integer.resize(lift.b, holds, I64), signed=False)


@opcode(f"{{vshl,vshr}}.{_TYPES}.{_TYPES}.u32[.sat].{{clamp,wrap}}{_SECOND}")
def shift(lift: Lift, i: Instruction) -> None:
    b, words = lift.b, i.modifiers
    a = _selected(lift, i.operands[1], is_signed(words[1]))
    count = _selected(lift, i.operands[2], signed=False)
    if "clamp" in words:
        count = b.elementwise("umin", count, b.constant(I64, 32))
    else:
        count = formats.keep(b, count, 31)
    if i.opcode == "vshr":
        result = Value(b.ir.ashr(a.ir, count.ir), I64)
    else:
        result = Value(b.ir.shl(a.ir, count.ir), I64)
        spare = I64.bits - _RESULT_BITS
        result = integer.shift_right(b, integer.shift_left(b, result, spare), spare, True)
    _finish(lift, i, result, is_signed(words[0]))


@opcode(f"vmad.{_THREE}[.po][.sat][.{{shr7,shr15}}]")
def multiply_add(lift: Lift, i: Instruction) -> None:
    """The exact sum, shifted; signed if an operand's type is, or one is negated."""
    b, words = lift.b, i.modifiers
    negated = [isinstance(o, Part) and o.negative for o in i.operands[1:]]
    flips, subtracts = negated[0] != negated[1], negated[2]
    signs = [is_signed(word) for word in words[1:3]]
    signed = any(signs) or flips or subtracts
    factors = [_selected(lift, o, s) for o, s in zip(i.operands[1:3], signs)]
    x, y = (integer.resize(b, f, I128, True) for f in factors)
    addend = integer.resize(b, _whole(lift, i.operands[3]), I128, signed)
    product = Value(b.ir.mul(x.ir, y.ir), I128)
    if flips:
        product = integer.negate(b, product)
    elif subtracts:
        addend = integer.negate(b, addend)
    total = Value(b.ir.add(product.ir, addend.ir), I128)
    if "po" in words:
        total = Value(b.ir.add(total.ir, b.constant(I128, 1).ir), I128)
    scale = next((int(word[3:]) for word in words if word.startswith("shr")), 0)
    result = integer.shift_right(b, total, scale, True) if scale else total
    if "sat" in words:
        result = _within(lift, result, 32, signed)
    target = i.operands[0]
    lift.write(target, integer.resize(b, result, I32))


# Two halves or four bytes at once

_DEFAULTS = {2: ("h10", "h32"), 4: ("b3210", "b7654")}


@opcode(
    *(
        f"{{vadd{n},vsub{n},vavrg{n},vabsdiff{n},vmin{n},vmax{n}}}.{_THREE}[.{{sat,add}}]"
        for n in (2, 4)
    ),
    *(f"vset{n}.{_TYPES}.{_TYPES}.{_ORDERS}[.add]" for n in (2, 4)),
)
def combine_all(lift: Lift, i: Instruction) -> None:
    """Elements that the result does not select are the third operand's, or count nothing."""
    b, words, target = lift.b, i.modifiers, i.operands[0]
    name, count = i.opcode[:-1], int(i.opcode[-1])
    first, second = _DEFAULTS[count]
    bits, chosen = _selector(target, first)
    compares = name == "vset"
    signs = [False, *map(is_signed, words[:2])] if compares else list(map(is_signed, words[:3]))
    factors = [_whole(lift, o) for o in i.operands[1:3]]
    selections = [_selector(o, d)[1] for o, d in zip(i.operands[1:3], (first, second))]
    result = _whole(lift, i.operands[3])
    for place in chosen:
        a, c = (
            integer.resize(
                b, _element(lift, factors[s[place] // count], bits, s[place] % count, sign), I32
            )
            for s, sign in zip(selections, signs[1:])
        )
        if compares:
            holds = compare.compare_integers(b, words[2], a, c, signed=True)
            part = integer.resize(b, Value(holds.ir, PRED), I32)
        else:
            part = _OPERATIONS[name](lift, a, c)
        if "sat" in words:
            part = _within(lift, part, bits, signs[0])
        if "add" in words:
            result = Value(b.ir.add(result.ir, part.ir), I32)
        else:
            result = _merged(lift, result, part, bits, place)
    lift.write(target.register if isinstance(target, Part) else target, result)
