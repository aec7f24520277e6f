import pytest

from lockstep.isa.sass.encoding import (
    Address,
    Barriers,
    Constant,
    Float,
    Immediate,
    Name,
    Register,
    Target,
)
from lockstep.isa.sass.encoding.operand import float_text, to_float


@pytest.mark.parametrize(
    ("operand", "text"),
    [
        (Register("R", 4), "R4"),
        (Register("R", 255), "RZ"),
        (Register("UR", 63), "URZ"),
        (Register("P", 7, inverted=True), "!PT"),
        (Register("UP", 2), "UP2"),
        (Register("R", 4, negated=True, absolute=True, reuse=True), "-|R4|.reuse"),
        (Register("R", 4, absolute=True, part="H0_H0"), "|R4|.H0_H0"),
        (Register("UR", 4, absolute=True, part="H0_H0"), "|UR4.H0_H0|"),
        (Register("R", 4, inverted=True), "~R4"),
        (Register("R", 4, reuse=True, part="COL"), "R4.reuse.COL"),
        (Immediate(-16), "-0x10"),
        (Constant(0, 0x160), "c[0x0][0x160]"),
        (Constant(3, -4, Register("R", 2), negated=True), "-c[0x3][R2+-0x4]"),
        (Constant(Register("UR", 4), 8), "cx[UR4][0x8]"),
        (Address(Register("R", 2, part="64"), None, 16), "[R2.64+0x10]"),
        (Address(Register("R", 2), Register("UR", 4), -4), "[R2+UR4+-0x4]"),
        (Address(Register("R", 2, part="64"), None, 0, Register("UR", 4)), "desc[UR4][R2.64]"),
        (Address(uniform=Register("UR", 8), kind="gdesc", part="tnspB"), "gdesc[UR8].tnspB"),
        (Address(None, None, 16), "[0x10]"),
        (Target(0x120), "0x120"),
        (Target(0, Register("R", 4)), "R4"),
        (Target(0x10, Register("R", 4), True), "R4 0x10"),
        (Barriers(0b101), "{2,0}"),
        (Name("SR_TID.X", 33), "SR_TID.X"),
    ],
)
def test_operands_print_as_disassembled(operand, text):
    assert operand.text() == text


@pytest.mark.parametrize(
    ("bits", "width", "text"),
    [
        (0x3F800000, 32, "1"),
        (0x80000000, 32, "-0.0"),
        (0x7F800000, 32, "+INF"),
        (0xFF800000, 32, "-INF"),
        (0x7FC00000, 32, "+QNAN"),
        (0xFFC00001, 32, "-QNAN"),
        (0x3DCCCCCD, 32, "0.10000000149011611938"),
        (0x4E6E6B27, 32, "999999936"),
        (0x4E6E6B28, 32, "1.00000000000000000000e+09"),
        (0x3FF00000, 64, "1"),
        (0x7FF00001, 64, "+SNAN"),
        (0xFFF80000, 64, "-QNAN"),
        (0x3C00, 16, "1"),
        (0xFC01, 16, "-QNAN"),
    ],
)
def test_numbers_print_as_disassembled(bits, width, text):
    assert Float(to_float(bits, width), bits, width).text() == text


def test_bfloat_is_the_upper_half_of_a_float():
    assert to_float(0x3F80, 16, bfloat=True) == 1
    assert float_text(to_float(0x7F80, 16, True), 0x7F80, 16) == "+INF"
