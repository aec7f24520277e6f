"""What a rule is, and what it says of a kernel."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from lockstep.advice.observation import Observation


class Evidence(NamedTuple):
    """A number that a rule looked at: a metric by its name, or a count that the meaning names."""

    name: str
    value: float
    unit: str


def measured(o: Observation, name: str, unit: str = "%") -> Evidence:
    """A metric as evidence."""
    return Evidence(name, o[name], unit)


class HotSpot(NamedTuple):
    """The instruction that a problem is most of, and its source line where one is known."""

    file: str  # "" = unknown
    line: int  # 0 = unknown
    pc: int
    text: str


class Diagnosis(msgspec.Struct, frozen=True):
    """What a rule found.

    ``share``: of the time in which CTAs ran, what the problem takes as counters tell, from 0 to 1.
    ``lift``: the limit that a what-if lifts, where it is not the rule's.
    """

    share: float
    what: str
    todo: str
    evidence: tuple[Evidence, ...]
    spot: HotSpot | None = None
    lift: str = ""


Look = Callable[[Observation], Diagnosis | None]


class AdviceRule(msgspec.Struct, frozen=True):
    """One rule: ``look`` says what it found, or None.

    ``lift``: the limit that a what-if lifts to learn what the problem costs, "" where no hardware
    does. ``limit``: what is found is no mistake: the kernel does what the hardware can, or nearly.
    ``whole_run``: it looks at all kernels together, else at the launches of one.
    """

    name: str
    title: str
    look: Look
    lift: str = ""
    limit: bool = False
    whole_run: bool = False
