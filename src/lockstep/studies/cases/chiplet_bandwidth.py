"""Bandwidth of links between modules, against a GPU on one chip: after Arunkumar et al., 2017."""

import math

from lockstep.report.figures import count, decimal, percent
from lockstep.studies.chiplets import (
    BUSY,
    CARRIED,
    COLD,
    GPU,
    INTENSIVE,
    LINK,
    MONOLITHIC,
    ONE_CHIP,
    PROGRAMS,
    REMOTE,
    WAIT,
    is_intensive,
)
from lockstep.studies.claims import Claim, Verdict, same_factor
from lockstep.studies.description import (
    CYCLES,
    Bar,
    Chart,
    Figure,
    OutcomeView,
    Study,
    Variant,
    counter,
    ratio,
)

PAPER = {384: 1 / (1 - 0.57), 768: 1 / (1 - 0.40), 1536: 1 / (1 - 0.12)}
"""GB/s of a link, and by what factor programs that need bandwidth are slower than with links that
have all they need (text on on-package bandwidth: 57, 40 and 12 percent; from memory)."""

UNLIMITED, NO_DISTANCE = "unlimited", "no distance"
ROUNDING = 0.01  # by which two models of the same chip may differ


def name_of(bandwidth: int) -> str:
    """The variant of a bandwidth."""
    return f"{bandwidth} GB/s"


VARIANTS = (
    Variant(MONOLITHIC, ONE_CHIP),
    Variant(
        NO_DISTANCE,
        (COLD, "modules.topology=full", "modules.hop_latency=0", "modules.bandwidth=0"),
    ),
    Variant(UNLIMITED, (COLD, "modules.bandwidth=0")),
    *(Variant(name_of(b), (COLD, f"modules.bandwidth={b}")) for b in sorted(PAPER, reverse=True)),
)
LIMITED = [name_of(b) for b in sorted(PAPER, reverse=True)]


def _figures():
    for name in (NO_DISTANCE, UNLIMITED, *LIMITED):
        yield Figure(f"{name} slow-down", ratio(CYCLES, name, MONOLITHIC), mean="geometric")
    for name in LIMITED:
        yield Figure(f"{name} link", counter(name, LINK), percent, 3, mean="arithmetic")
    yield Figure("remote", counter(name_of(768), REMOTE), percent, 4, mean="arithmetic")
    yield Figure("monolithic DRAM", counter(MONOLITHIC, BUSY), percent, 5, mean="arithmetic")


def _slowed(outcome: OutcomeView, bandwidth: int) -> Claim:
    name = name_of(bandwidth)
    factor = outcome.means[f"{name} slow-down"] / outcome.means[f"{UNLIMITED} slow-down"]
    busy, wait = outcome.average(name, LINK), outcome.average(name, WAIT)
    reason = f"the busiest link is in use {percent(busy)}, a message waits {count(wait)} cycles"
    known = not math.isnan(factor)
    return Claim(
        f"links of {bandwidth} GB/s slow programs that need bandwidth down",
        f"{decimal(PAPER[bandwidth])} times",
        f"{decimal(factor)} times" if known else "no program",
        same_factor(factor, PAPER[bandwidth]),
        reason if known else "",
    )


def _monolithic(outcome: OutcomeView) -> Claim:
    name = f"{NO_DISTANCE} slow-down"
    factors = [row[name] for row in outcome.figures.values() if not math.isnan(row[name])]
    held = [factor for factor in factors if abs(factor - 1) <= ROUNDING]
    verdict = Verdict.MET if len(held) == len(factors) else Verdict.NOT_MET
    farthest = max(factors, key=lambda factor: abs(factor - 1), default=1.0)
    return Claim(
        f"without limit and distance modules are as one chip, within {ROUNDING:.0%}",
        "of the model",
        f"{len(held)} of {len(factors)} programs",
        verdict if factors else Verdict.UNKNOWN,
        f"the farthest takes {100 * (farthest - 1):+.2f} % of cycles more",
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    return [*(_slowed(outcome, b) for b in sorted(PAPER, reverse=True)), _monolithic(outcome)]


STUDY = Study(
    name="chiplet-bandwidth",
    title="Four modules on a ring, against one chip, by the bandwidth of links",
    question="How much slower are modules than one chip?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=VARIANTS,
    counters=(BUSY, REMOTE, LINK, CARRIED, WAIT),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "slow-down",
            "Four modules on a ring against one chip",
            "cycles / on one chip",
            tuple(Bar(name, (f"{name} slow-down",)) for name in (UNLIMITED, *LIMITED)),
            line=1,
        ),
    ),
    claims=_claims,
    counts=is_intensive,
    about=f"programs that use more than {INTENSIVE} % of the DRAM's bandwidth on one chip",
)
