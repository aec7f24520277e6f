"""What the paper says beside what is found here, and whether the two agree."""

import math
from dataclasses import dataclass
from enum import Enum

TOLERANCE = 1 / 3  # of what a factor of the paper is above 1
LARGER = 1.05  # times as large at least: what differs by less is equal


class Verdict(Enum):
    """Whether a claim holds here."""

    MET = "met"
    IN_PART = "in part"  # the same direction, another size
    NOT_MET = "not met"
    UNKNOWN = "unknown"  # no program that it is about was run


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper. ``reason``: the counters that explain what was found."""

    text: str
    paper: str
    here: str
    verdict: Verdict
    reason: str


def same_factor(ours: float, paper: float) -> Verdict:
    """Of a factor above 1: met within ``TOLERANCE``, in part if it is above 1, too."""
    if math.isnan(ours):
        return Verdict.UNKNOWN
    if abs((ours - 1) / (paper - 1) - 1) <= TOLERANCE:
        return Verdict.MET
    return Verdict.IN_PART if ours >= LARGER else Verdict.NOT_MET


def at_most(ours: float, limit: float, before: float) -> Verdict:
    """Of a number that should vanish: met up to ``limit``, in part if it is less than before."""
    if math.isnan(ours):
        return Verdict.UNKNOWN
    if ours <= limit:
        return Verdict.MET
    return Verdict.IN_PART if ours < before else Verdict.NOT_MET


def is_larger(larger: float, smaller: float) -> Verdict:
    """Of an order of two positive numbers: met if one is ``LARGER`` times the other."""
    if math.isnan(larger) or math.isnan(smaller):
        return Verdict.UNKNOWN
    return Verdict.MET if larger >= LARGER * smaller else Verdict.NOT_MET


def share(held: int, of: int, wanted: float) -> Verdict:
    """Of statements about programs: met if a share ``wanted`` holds, in part if half of it does."""
    if not of:
        return Verdict.UNKNOWN
    if held >= wanted * of:
        return Verdict.MET
    return Verdict.IN_PART if 2 * held >= wanted * of else Verdict.NOT_MET
