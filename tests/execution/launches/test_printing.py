"""Formats as the C library prints them."""

import struct

import pytest

from lockstep.execution.launches.printing import Arguments, render

STRINGS = {0x1000: b"text", 0x2000: b"\xc3\xa4 %d"}


def arguments(kinds, *values):
    packed = b""
    for kind, value in zip(kinds, values, strict=True):
        packed += bytes(-len(packed) % struct.calcsize(kind)) + struct.pack("<" + kind, value)
    return Arguments(lambda k, n: packed[k : k + n], STRINGS.__getitem__)


@pytest.mark.parametrize(
    ("form", "kinds", "values", "text"),
    [
        ("plain 100%%\n", "", (), "plain 100%\n"),
        ("%d %i|%5d|%-5d|%05d|%+d|% d", "iiiiiii", (1, -2, 3, 4, 5, 6, 7),
         "1 -2|    3|4    |00005|+6| 7"),
        ("%u %o %x %X %#o %#x %#x", "IIIIIII", (2**32 - 1, 8, 255, 255, 8, 255, 0),
         "4294967295 10 ff FF 010 0xff 0"),
        ("%ld %lld %lu %llx %zu %jd", "qqQQQq", (-(2**63), 5, 2**64 - 1, 2**40, 6, -7),
         "-9223372036854775808 5 18446744073709551615 10000000000 6 -7"),
        ("%hd %hhd %hu %hhx", "iiii", (70000, 300, 70000, -1), "4464 44 4464 ff"),
        ("%f %.2f %10.3f %-8.1f| %e %E %g %G", "dddddddd",
         (1.5, 2.345, 3.14159, 4.0, 12345.678, 1e-10, 1e20, 1e-7),
         "1.500000 2.35      3.142 4.0     | 1.234568e+04 1.000000E-10 1e+20 1E-07"),
        ("%a %A %f %f %g %5.1f", "dddddd", (1.0, 0.5, float("inf"), float("-inf"), float("nan"), 0),
         "0x1p+0 0X1P-1 inf -inf nan   0.0"),
        ("%c%c %s|%8s|%-6s|%.2s|", "iiQQQQ", (72, 105, 0x1000, 0x1000, 0x1000, 0x1000),
         "Hi text|    text|text  |te|"),
        ("%*d|%-*d|%.*f|%*.*f", "iiiiidiid", (5, 1, 4, 2, 1, 2.25, 7, 2, 3.14159),
         "    1|2   |2.2|   3.14"),
        ("%.*f|%.0f|%.f", "iddd", (-1, 1.5, 2.5, 3.5), "1.500000|2|4"),
        ("%p", "Q", (0x7F00,), "0x7f00"),
        ("%s|%8s|%.3s", "QQQ", (0, 0, 0), "(null)|  (null)|(nu"),
        ("%d then %f and %d", "idi", (1, 2.0, 3), "1 then 2.000000 and 3"),
        ("%y %n %", "", (), "%y %n %"),
    ],
)  # fmt: skip
def test_formats(form, kinds, values, text):
    given = arguments(kinds, *values)
    assert render(form.encode(), given).decode() == text
    assert given.count == len(values)


def test_strings_are_printed_as_they_are():
    assert render(b"[%s]", arguments("Q", 0x2000)) == b"[\xc3\xa4 %d]"
