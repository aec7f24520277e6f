"""Constant expressions: C's operators and precedence over 64-bit integers and doubles.

What type an operator reads and makes is in the PTX ISA, section "Constant Expression Evaluation":
integers are signed 64-bit unless a literal or cast says otherwise, comparisons make signed ones,
and the bitwise operators and remainders unsigned ones.
"""

import operator
from collections.abc import Callable
from typing import NamedTuple

from lockstep.isa.instruction import WARP_SIZE
from lockstep.isa.ptx.lexer import DOT, NUMBER, Cursor
from lockstep.isa.ptx.literals import bits_float, float_bits, read_literal
from lockstep.isa.ptx.syntax import Immediate

DEEPEST = 24  # brackets within brackets, everywhere in PTX text: what the stack has room for

_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_CASTS = {".s64": False, ".u64": True}


class ConstantValue(NamedTuple):
    """A value on the way: a Python int within 64 bits, or a float."""

    value: int | float
    unsigned: bool = False


def read_constant(cursor: Cursor) -> Immediate:
    """Go past a constant expression and evaluate it; errors name the token at fault."""
    start = cursor.index
    negative = cursor.texts[start] == "-"
    single = _single(cursor, start + negative)
    if single is not None:
        cursor.index += 1 + negative
        return Immediate(single.value ^ negative << 31, 32)
    value = _ternary(cursor, 0).value
    return Immediate(float_bits(value), 64) if isinstance(value, float) else Immediate(value)


def read_integer(cursor: Cursor, what: str) -> int:
    """Go past a constant expression that must be an integer; ``what`` is for the message."""
    start = cursor.index
    constant = read_constant(cursor)
    if constant.bits:
        raise cursor.error(f"expected {what}, found a floating-point number", start)
    return constant.value


def read_count(cursor: Cursor, what: str, most: int = 1 << 62) -> int:
    """Go past a constant expression that must be an integer from 0 to ``most``."""
    start = cursor.index
    value = read_integer(cursor, what)
    if not 0 <= value <= most:
        raise cursor.error(f"expected {what} from 0 to {most}, found {value}", start)
    return value


def _single(cursor: Cursor, index: int) -> Immediate | None:
    """A single-precision pattern, which stands alone: PTX has no arithmetic on it."""
    if cursor.texts[index][:2] not in ("0f", "0F") or cursor.kinds[index] != NUMBER:
        return None
    literal = read_literal(cursor.texts[index])
    return literal[0] if literal else None


def _ternary(cursor: Cursor, depth: int) -> ConstantValue:
    condition = _binary(cursor, 1, depth)
    if not cursor.accept("?"):
        return condition
    _check_depth(cursor, depth)
    then = _ternary(cursor, depth + 1)
    cursor.expect(":", "in a conditional expression")
    otherwise = _ternary(cursor, depth + 1)
    return then if condition.value else otherwise


def _binary(cursor: Cursor, lowest: int, depth: int) -> ConstantValue:
    left = _unary(cursor, depth)
    while (level := _PRECEDENCE.get(cursor.texts[cursor.index], 0)) >= lowest:
        at = cursor.index
        cursor.index += 1
        right = _binary(cursor, level + 1, depth)
        left = _apply(cursor, at, left, right)
    return left


def _unary(cursor: Cursor, depth: int) -> ConstantValue:
    start, text = cursor.index, cursor.texts[cursor.index]
    if text not in _UNARY:
        return _primary(cursor, depth)
    _check_depth(cursor, depth)
    cursor.index += 1
    operand = _unary(cursor, depth + 1)
    if text in "!~" and isinstance(operand.value, float):
        raise cursor.error(f"expected an integer after {text!r}", start)
    return _UNARY[text](operand)


def _primary(cursor: Cursor, depth: int) -> ConstantValue:
    start, text = cursor.index, cursor.texts[cursor.index]
    cursor.index += 1
    if text == "(":
        _check_depth(cursor, depth)
        return _bracketed(cursor, depth + 1)
    if text == "WARP_SZ":
        return ConstantValue(WARP_SIZE)
    literal = read_literal(text) if cursor.kinds[start] == NUMBER else None
    if literal is None or literal[0].bits == 32:
        raise cursor.expected("a number of at most 64 bits" if text[:1].isdigit() else "an operand",
                              start)  # fmt: skip
    number, unsigned = literal
    return ConstantValue(bits_float(number.value) if number.bits else number.value, unsigned)


def _bracketed(cursor: Cursor, depth: int) -> ConstantValue:
    if cursor.kinds[cursor.index] != DOT:
        value = _ternary(cursor, depth)
        cursor.expect(")", "after an expression")
        return value
    unsigned = _CASTS.get(cursor.texts[cursor.index])
    if unsigned is None:
        raise cursor.expected("'.s64' or '.u64'")
    cursor.index += 1
    cursor.expect(")", "after a cast")
    start, operand = cursor.index, _unary(cursor, depth)
    if isinstance(operand.value, float):
        raise cursor.error("expected an integer after a cast", start)
    return _wrapped(operand.value, unsigned)


def _check_depth(cursor: Cursor, depth: int) -> None:
    if depth >= DEEPEST:
        raise cursor.error(f"expected at most {DEEPEST} nested operators and brackets")


def _wrapped(value: int, unsigned: bool) -> ConstantValue:
    value &= (1 << 64) - 1
    return ConstantValue(value if unsigned or value < 1 << 63 else value - (1 << 64), unsigned)


def _negate(operand: ConstantValue) -> ConstantValue:
    if isinstance(operand.value, float):
        return ConstantValue(-operand.value)
    return _wrapped(-operand.value, operand.unsigned)


_UNARY: dict[str, Callable[[ConstantValue], ConstantValue]] = {
    "+": lambda operand: operand,
    "-": _negate,
    "!": lambda operand: ConstantValue(int(not operand.value)),
    "~": lambda operand: _wrapped(~int(operand.value), True),
}


def _apply(cursor: Cursor, at: int, left: ConstantValue, right: ConstantValue) -> ConstantValue:
    sign = cursor.texts[at]
    real = isinstance(left.value, float) or isinstance(right.value, float)
    unsigned = (left.unsigned or right.unsigned or sign == "%") and not real
    a, b = left.value, right.value
    if unsigned:
        a, b = int(a) & (1 << 64) - 1, int(b) & (1 << 64) - 1
    if sign in _COMPARE:
        return ConstantValue(int(_COMPARE[sign](a, b)))
    if sign in ("&&", "||"):
        return ConstantValue(int(bool(a and b if sign == "&&" else a or b)))
    if sign in "/%" and b == 0:
        raise cursor.error("expected a divisor other than zero", at)
    if real:
        return ConstantValue(_real(cursor, at, float(a), float(b)))
    if sign in ("<<", ">>"):
        return _shift(sign, left, int(b))
    return _wrapped(_integer(sign, int(a), int(b)), unsigned or sign in _BITWISE)


def _real(cursor: Cursor, at: int, a: float, b: float) -> float:
    sign = cursor.texts[at]
    if sign == "/":
        return a / b
    if sign not in _ARITHMETIC:
        raise cursor.error(f"expected integers around {sign!r}", at)
    return _ARITHMETIC[sign](a, b)


def _shift(sign: str, left: ConstantValue, count: int) -> ConstantValue:
    count &= 63  # as ptxas does; C leaves longer shifts open
    value = int(left.value)
    return _wrapped(value << count if sign == "<<" else value >> count, left.unsigned)


def _integer(sign: str, a: int, b: int) -> int:
    if sign in _ARITHMETIC:
        return _ARITHMETIC[sign](a, b)
    if sign in _BITWISE:
        return _BITWISE[sign](a, b)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # C rounds towards zero
    return quotient if sign == "/" else a - b * quotient
