"""Where CTAs and pages go on a GPU of several modules: after Arunkumar et al., ISCA 2017."""

import math

from lockstep.report.figures import decimal, percent
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
from lockstep.studies.claims import Claim, Verdict, is_larger, same_factor
from lockstep.studies.description import (
    CYCLES,
    Chart,
    Figure,
    OutcomeView,
    Study,
    Variant,
    bars_of,
    counter,
    quotient,
    ratio,
)

CTAS = {"round robin": "round_robin", "contiguous": "contiguous"}
PAGES = {"interleaved": "interleaved", "first touch": "first_touch"}
PLACED = tuple(
    Variant(f"{c}, {p}", (COLD, f"modules.ctas={CTAS[c]}", f"modules.pages={PAGES[p]}"))
    for c in CTAS
    for p in PAGES
)
BASE, TOUCH, PARTS, BOTH = (variant.name for variant in PLACED)
VARIANTS = (Variant(MONOLITHIC, ONE_CHIP), *PLACED)
GAIN, LESS, BEHIND = 1.228, 5, 0.10
"""Of the paper's best design over its basic one, with caches of remote lines that there are not
here: all its programs (abstract). ``LESS``: traffic between modules; ``BEHIND``: one chip."""


def _figures():
    for variant in PLACED:
        gain = ratio(CYCLES, BASE, variant.name)
        if variant.name != BASE:
            yield Figure(f"{variant.name} gain", gain, mean="geometric")
    yield Figure("monolithic gain", ratio(CYCLES, BASE, MONOLITHIC), rank=4, mean="geometric")
    for variant in PLACED:
        name = variant.name
        yield Figure(f"{name} remote", counter(name, REMOTE), percent, 3, mean="arithmetic")


def _traffic(outcome: OutcomeView, variant: str) -> float:
    return sum(runs.get(variant, {}).get(CARRIED, 0) for runs in outcome.runs.values())


def _mean(outcome: OutcomeView, variant: str) -> float:
    """How much faster a variant is than the base, over all programs."""
    name = "monolithic gain" if variant == MONOLITHIC else f"{variant} gain"
    logs = [math.log(row[name]) for row in outcome.figures.values() if row[name] > 0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _text(factor: float) -> str:
    return "no program" if math.isnan(factor) else f"{decimal(factor)} times"


def _reason(outcome: OutcomeView, *variants: str) -> str:
    if not outcome.runs:
        return ""
    parts = []
    for name in variants:
        known = [runs[name][REMOTE] for runs in outcome.runs.values() if name in runs]
        if known:
            parts.append(f"{name}: {percent(sum(known) / len(known))} of requests are remote")
    return "; ".join(parts)


def _faster(outcome: OutcomeView) -> Claim:
    factor = _mean(outcome, BOTH)
    return Claim(
        "contiguous CTAs and first touch over the basic design",
        f"{decimal(GAIN)} times",
        _text(factor),
        same_factor(factor, GAIN),
        _reason(outcome, BASE, BOTH),
    )


def _less(outcome: OutcomeView) -> Claim:
    factor = quotient(_traffic(outcome, BASE), _traffic(outcome, BOTH))
    return Claim(
        "... and bytes between modules, so many times less",
        f"{LESS} times",
        _text(factor),
        same_factor(factor, LESS),
        _reason(outcome, BASE, BOTH),
    )


def _near(outcome: OutcomeView) -> Claim:
    factor = quotient(_mean(outcome, MONOLITHIC), _mean(outcome, BOTH))
    verdict = Verdict.MET if factor <= 1 + BEHIND else Verdict.NOT_MET
    return Claim(
        f"with both, modules are within {BEHIND:.0%} of one chip",
        "yes",
        "no program" if math.isnan(factor) else f"{100 * (factor - 1):+.1f} % of cycles",
        Verdict.UNKNOWN if math.isnan(factor) else verdict,
        _reason(outcome, BOTH),
    )


def _together(outcome: OutcomeView) -> Claim:
    both = _mean(outcome, BOTH)
    alone = [_mean(outcome, name) for name in (TOUCH, PARTS)]
    known = not math.isnan(both)
    found = f"{decimal(both)} times; alone {decimal(alone[0])} and {decimal(alone[1])}"
    return Claim(
        "first touch needs contiguous CTAs, and they need it",
        "yes",
        found if known else "no program",
        is_larger(both, max(*alone, 1.0)) if known else Verdict.UNKNOWN,
        _reason(outcome, TOUCH, PARTS),
    )


def _intensive(outcome: OutcomeView) -> Claim:
    factor = outcome.means[f"{BOTH} gain"]
    return Claim(
        "programs that need bandwidth gain more than the others",
        "yes",
        _text(factor),
        is_larger(factor, _mean(outcome, BOTH)),
        _reason(outcome, BOTH) if outcome.counted else "",
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    return [make(outcome) for make in (_faster, _less, _near, _together, _intensive)]


STUDY = Study(
    name="chiplet-placement",
    title="Where CTAs and pages go on four modules",
    question="Does it matter on which module CTAs and pages are?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=VARIANTS,
    counters=(BUSY, REMOTE, LINK, CARRIED, WAIT),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "gain",
            "Placement of CTAs and pages on four modules",
            "cycles with round robin and interleaved / cycles",
            bars_of([*PLACED[1:], VARIANTS[0]], "gain"),
            line=1,
        ),
        Chart("remote", "Requests to other modules", "%", bars_of(PLACED, "remote")),
    ),
    claims=_claims,
    counts=is_intensive,
    about=f"programs that use more than {INTENSIVE} % of the DRAM's bandwidth on one chip",
)
