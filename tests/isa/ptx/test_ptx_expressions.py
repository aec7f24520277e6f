"""Constant expressions, against C and against what ptxas makes of them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import InputError
from lockstep.isa.ptx.expressions import DEEPEST, read_constant
from lockstep.isa.ptx.lexer import Cursor
from lockstep.isa.ptx.syntax import Immediate


def value(text):
    cursor = Cursor(text, "t")
    constant = read_constant(cursor)
    assert cursor.texts[cursor.index] == ""
    return constant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), ("42", 42), ("42U", 42), ("0x1F", 31), ("0X1fU", 31), ("017", 15), ("00", 0),
        ("0b101", 5), ("0B11U", 3), ("0xFFFFFFFFFFFFFFFF", 2**64 - 1), ("WARP_SZ", 32),
        ("-5", -5), ("- -5", 5), ("+5", 5), ("~0", 2**64 - 1), ("!3", 0), ("!0", 1),
        ("1+2*3", 7), ("(1+2)*3", 9), ("10-4-3", 3), ("1<<3|1", 9), ("6&3^5|8", 15),
        ("1||0&&0", 1), ("1<2==1", 1), ("3>2", 1), ("2<=1", 0), ("2>=2", 1), ("2!=2", 0),
        ("1?2:3", 2), ("0?2:0?3:4", 4), ("-7/2", -3), ("7/-2", -3), ("7 % 3", 1),
        ("-15 % 3", 1), ("-1>>1", -1), ("-1U>>60", 15), ("1<<64", 1), ("1<<63", -(2**63)),
        ("(.u64)-1", 2**64 - 1), ("(.s64)0xFFFFFFFFFFFFFFFF", -1), ("-1<1U", 0), ("-1<1", 1),
        ("0x7FFFFFFFFFFFFFFF+1", -(2**63)), ("2U-3", 2**64 - 1), ("1.5>1", 1),
    ],
)  # fmt: skip
def test_integers(text, expected):
    assert value(text) == Immediate(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("2.5E-1", 0.25), ("-1.5", -1.5),
        ("1.5+2", 3.5), ("3.0/2.0", 1.5), ("(1.5)*2.0", 3.0), ("0d4000000000000000", 2.0),
        ("-0d4000000000000000", -2.0), ("1e999", float("inf")),
    ],
)  # fmt: skip
def test_doubles_are_bit_patterns(text, expected):
    bits = struct.unpack("<Q", struct.pack("<d", expected))[0]
    assert value(text) == Immediate(bits, 64)


def test_singles_stand_alone():
    assert value("0f3F800000") == Immediate(0x3F800000, 32)
    assert value("-0F3F800000") == Immediate(0xBF800000, 32)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("1+", 3, "expected an operand, found the end of the text"),
        ("1/0", 2, "expected a divisor other than zero"),
        ("1.0/0", 4, "expected a divisor other than zero"),
        ("(1", 3, "expected ')' after an expression, found the end of the text"),
        ("1?2", 4, "expected ':' in a conditional expression, found the end of the text"),
        ("(.f32)1", 2, "expected '.s64' or '.u64', found '.f32'"),
        ("(.s64)1.5", 7, "expected an integer after a cast"),
        ("~1.5", 1, "expected an integer after '~'"),
        ("1.5|1", 4, "expected integers around '|'"),
        ("1.0+0f3F800000", 5, None),
        ("09", 1, "expected a number of at most 64 bits, found '09'"),
        ("0x1FFFFFFFFFFFFFFFF", 1, None),
        ("5u", 1, None), ("0b2", 1, None), ("0x", 1, None), ("0f3F80000", 1, None),
        ("9" * 5000, 1, None),
    ],
)  # fmt: skip
def test_errors(text, column, message):
    with pytest.raises(InputError) as caught:
        value(text)
    assert caught.value.where == f"line 1, column {column}"
    assert message in (None, caught.value.message)


@pytest.mark.parametrize("opening", ["(", "-", "1?", "1?2:", "1||1&&1|1^1&1==1<1<<1+1*(", "!~"])
def test_nesting_ends_in_an_error(opening):
    with pytest.raises(InputError, match=f"at most {DEEPEST} nested"):
        value(opening * 1000 + "1")


def test_some_nesting_is_fine():
    assert value("(" * 20 + "1" + ")" * 20) == Immediate(1)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_signed_arithmetic_wraps(a, b):
    for sign, exact in (("+", a + b), ("-", a - b), ("*", a * b)):
        wrapped = (exact + 2**63) % 2**64 - 2**63
        assert value(f"({_literal(a)}) {sign} ({_literal(b)})") == Immediate(wrapped)


def _literal(number):
    return str(number) if number > -(2**63) else "(.s64)0x8000000000000000"
