"""Units in profilers' tables."""

import pytest

from lockstep.correlation.units import scale


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("", 1), ("%", 1), ("inst", 1), ("register/thread", 1), ("block/SM", 1), ("Ksector", 1e3),
        ("nsecond", 1), ("us", 1e3), ("\u03bcs", 1e3), ("msec", 1e6), ("second", 1e9),
        ("byte", 1), ("Kbyte", 1e3), ("KB", 1e3), ("MB", 1e6), ("KiB", 1024), ("Kbyte/block", 1e3),
        ("GB/s", 1e9), ("Gbyte/second", 1e9), ("byte/ns", 1e9),
        ("hz", 1), ("MHz", 1e6), ("GHz", 1e9), ("Ghz", 1e9), ("cycle/second", 1),
        ("cycle/nsecond", 1e9), ("cycle/usecond", 1e6), ("inst/Kcycle", 1e-3),
        ("Gb/s", None), ("kb", None), ("Foo", None), ("cycle/", None), ("/cycle", 1), ("1/s", None),
    ],
)  # fmt: skip
def test_what_numbers_are_multiplied_by(unit, factor):
    assert scale(unit) == factor
