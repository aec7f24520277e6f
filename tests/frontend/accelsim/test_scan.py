"""Numbers out of bytes, against Python's own."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstep.frontend.accelsim.scan import address, decimal, hexadecimal, popcount


def buffer(text):
    return np.frombuffer(text.encode() + b"\n", np.uint8)


def signed(value):
    return (value + 2**63) % 2**64 - 2**63


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 3), st.booleans())
@example(2**64 - 1, 0, False)
@example(10**18, 0, True)
@example(2**63, 0, True)
@example(2**63 + 1, 0, True)
def test_decimal(value, zeros, negative):
    digits = "0" * zeros + str(value)
    text = "-" * negative + digits
    parsed, stop = decimal(buffer(text), 0)
    if len(digits) <= 20 and not (negative and value > 2**63):
        assert stop == len(text)
        assert signed(int(parsed)) == signed(-value if negative else value)
    else:
        assert stop < 0


@pytest.mark.parametrize(
    "text", ["", "-", "x", "18446744073709551616", "9" * 20, "1" * 21, "+1", f"-{2**64 - 1}"]
)
def test_no_decimal(text):
    assert decimal(buffer(text), 0)[1] < 0


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_hexadecimal(value):
    text = f"{value:x}"
    parsed, stop = hexadecimal(buffer(text), 0, 16)
    assert (int(parsed), stop) == (signed(value), len(text))
    assert address(buffer("0x" + text.upper()), 0) == (signed(value), len(text) + 2)


@pytest.mark.parametrize("text", ["", "0x", "x1", "0x1g", "0x" + "1" * 17, "11"])
def test_no_address(text):
    assert address(buffer(text), 0)[1] < 0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_popcount(mask):
    assert popcount(mask) == mask.bit_count()
