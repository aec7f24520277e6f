"""Pieces of 2/pi: their bits, and the whole that they are together."""

from fractions import Fraction

import numpy as np

from gcn_twin.compare import differences
from gcn_twin.operands import cases
from gcn_twin.run import on_lanes
from lockstep.execution.gcn.reduction import REDUCTION

# The first 1,184 bits of 2/pi, as libraries for exact reduction have them.
WORDS = """
a2f9836e 4e441529 fc2757d1 f534ddc0 db629599 3c439041 fe5163ab debbc561 b7246e3a 424dd2e0 06492eea
09d1921c fe1deb1c b129a73e e88235f5 2ebb4484 e99c7026 b45f7e41 3991d639 835339f4 9c845f8b bdf9283b
1ff897ff de05980f ef2f118b 5a0a6d1f 6d367ecf 27cb09b7 4f463f66 9e5fea2d 7527bac7 ebe5f17b 3d0739f7
8a5292ea 6bfb5fb1 1f8d5d08 56033046
"""
BITS, KNOWN = int("".join(WORDS.split()), 16), 1184


def piece(x, number):
    """53 bits of 2/pi in their place; those of large angles begin later, and are scaled."""
    exponent = int(np.array(x).view(np.uint64)) >> 52 & 0x7FF
    start = (int(number) & 31) * 53 + max(exponent - 1077, 0)
    bits = (BITS << start + 53 >> KNOWN) & (1 << 53) - 1
    return float(bits * Fraction(2) ** (-53 - start + 128 * (exponent >= 1968)))


def test_pieces_are_those_of_their_twin(columns_and_lanes):
    columns, active = columns_and_lanes
    [(name, (operation, [x, number]))] = cases(REDUCTION, columns).items()
    number = number % 20  # beyond, there is less than is known
    large = x.view(np.uint64) >> np.uint64(52) & np.uint64(0x7FF) > 1100
    x = np.where(np.isfinite(x), x, 1.0)
    x = np.where(large, x / 2.0**1000, x)
    applied = {name: (operation, [x, number])}
    twins = {name: lambda *v: np.array([piece(*row) for row in zip(*v)])}
    assert differences(on_lanes(applied, active), twins, applied, active) == []


def test_large_angles_skip_what_does_not_matter():
    x = np.array([1.0, 2.0**54, 2.0**55, 2.0**890, 2.0**891, 2.0**1000, -(2.0**1023)])
    x = np.resize(x, 64)
    number = np.repeat(np.arange(4, dtype=np.uint32), 16)
    applied = {"trig": (REDUCTION["v_trig_preop_f64"], [x, number])}
    found = on_lanes(applied, np.ones(64, bool))["trig"][0]
    known = (number.astype(int) * 53 + 53 + np.frexp(x)[1]) < KNOWN
    expected = np.array([piece(*row) for row in zip(x, number)])
    assert found[known].tolist() == expected[known].tolist()
    assert known[number == 0].all()


def test_pieces_add_up_to_two_over_pi_and_end():
    """Those of small angles where f64 ends, those of large ones with the 1,201 bits there are."""
    x = np.repeat([1.0, 2.0**1000], 64)
    number = np.resize(np.arange(64, dtype=np.uint32), 128)
    applied = {"trig": (REDUCTION["v_trig_preop_f64"], [x, number])}
    small, large = on_lanes(applied, np.ones(128, bool))["trig"][0].reshape(2, 64)
    assert (small[32:] == small[:32]).all()
    whole = sum(Fraction(v) for v in small[:32])
    assert whole == Fraction(BITS >> KNOWN - 1074, 1 << 1074)
    skipped = 1023 + 1000 - 1077
    last = (1201 - skipped) // 53
    assert large[: last + 1].all() and not large[last + 1 : 32].any()
    rest = sum(Fraction(v) for v in large[: last + 1]) / 2**128  # what is above f64 already is gone
    assert (
        0
        <= rest - Fraction(BITS & (1 << KNOWN - skipped) - 1, 1 << KNOWN)
        < Fraction(1, 1 << KNOWN)
    )
