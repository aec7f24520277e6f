"""When a claim of the paper holds."""

import math

import pytest

from lockstep.studies.claims import Verdict, at_most, is_larger, same_factor


@pytest.mark.parametrize(
    ("ours", "paper", "verdict"),
    [
        (2.5, 2.5, Verdict.MET),
        (2.01, 2.5, Verdict.MET),
        (1.99, 2.5, Verdict.IN_PART),
        (2.99, 2.5, Verdict.MET),
        (3.01, 2.5, Verdict.IN_PART),
        (1.04, 1.2, Verdict.NOT_MET),
        (1.0, 1.2, Verdict.NOT_MET),
        (0.5, 1.2, Verdict.NOT_MET),
        (math.nan, 1.2, Verdict.UNKNOWN),
    ],
)
def test_a_factor_is_the_papers_within_a_third_of_what_it_is_above_one(ours, paper, verdict):
    assert same_factor(ours, paper) is verdict


def test_what_should_vanish():
    assert at_most(1, 1, 100) is Verdict.MET
    assert at_most(50, 1, 100) is Verdict.IN_PART
    assert at_most(100, 1, 100) is Verdict.NOT_MET
    assert at_most(math.nan, 1, 100) is Verdict.UNKNOWN


def test_what_differs_by_less_than_a_twentieth_is_not_larger():
    assert is_larger(1.05, 1) is Verdict.MET
    assert is_larger(1.04, 1) is Verdict.NOT_MET
    assert is_larger(1, 2) is Verdict.NOT_MET
    assert is_larger(1, math.nan) is Verdict.UNKNOWN
