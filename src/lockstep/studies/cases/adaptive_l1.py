"""An L1 that has what shared memory leaves, against one of 32 KB, beside an H100."""

from lockstep.correlation.launches import CYCLES as ELAPSED
from lockstep.correlation.launches import together
from lockstep.correlation.report import percent as percent_of
from lockstep.correlation.statistics import relative_error
from lockstep.report.figures import count, decimal, percent
from lockstep.studies.cases import FIXED_L1, OLD_L1
from lockstep.studies.claims import Claim, at_most, is_larger, same_factor
from lockstep.studies.description import (
    CYCLES,
    HARDWARE,
    Chart,
    Counters,
    Figure,
    OutcomeView,
    Program,
    Runs,
    Study,
    Variant,
    bars_of,
    counter,
    ratio,
    value,
)
from lockstep.validation import builtins

MEASURED = builtins.STATES[""].change  # as the profiler left the caches
VARIANTS = (
    Variant("adaptive", (MEASURED,)),
    Variant("32 KB", (MEASURED, *FIXED_L1)),
    Variant("old L1", (MEASURED, *OLD_L1)),
)
HITS = "sim__l1_global_load_hit_rate.pct"
READS = "lts__t_sectors_srcunit_tex_op_read.sum"
PAPER = {"adaptive": 0.2, "old L1": 4.0}  # mean errors of cycles
_SIZES = {"small": "s", "large": "l"}  # sizes, as validation calls them


def _measured(gpu: str, size: str) -> dict[str, Counters]:
    """Cycles of an H100, all launches of a program together."""
    if gpu != builtins.GPU:
        return {}
    known = builtins.measured("", _SIZES[size])
    return {program: together(launches, [ELAPSED]) for program, launches in known.items()}


def _error(variant: str):
    """The error of all cycles in percent, without its sign."""

    def of(runs: Runs) -> float:
        ours, theirs = value(runs, variant, ELAPSED), value(runs, HARDWARE, ELAPSED)
        return 100 * abs(relative_error(ours, theirs))

    return of


def _figures():
    for variant in VARIANTS:
        yield Figure(f"{variant.name} error", _error(variant.name), percent, mean="arithmetic")
    for variant in VARIANTS[1:]:
        slower = ratio(CYCLES, variant.name, "adaptive")
        yield Figure(f"{variant.name} cycles", slower, mean="geometric")
    for variant in VARIANTS:
        hit_rate = counter(variant.name, HITS)
        yield Figure(f"{variant.name} hits", hit_rate, percent, 5, "arithmetic")
    for variant in VARIANTS[1:]:
        more = ratio(READS, variant.name, "adaptive")
        yield Figure(f"{variant.name} L2 reads", more, rank=4, mean="geometric")


def _reason(outcome: OutcomeView, variant: str) -> str:
    hits, reads = outcome.means[f"{variant} hits"], outcome.means.get(f"{variant} L2 reads", 1.0)
    return (
        f"hits of loads {count(hits)} %, L2 reads {decimal(reads)} times those of the adaptive L1"
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    adaptive, fixed = (outcome.means[f"{name} error"] / 100 for name in PAPER)
    slower = outcome.means["old L1 cycles"]
    return [
        Claim(
            "mean error of cycles with an adaptive, sectored L1",
            percent_of(PAPER["adaptive"]),
            percent_of(adaptive),
            at_most(adaptive, PAPER["adaptive"], fixed),
            _reason(outcome, "adaptive"),
        ),
        Claim(
            "mean error of cycles with the old L1 of 32 KB",
            percent_of(PAPER["old L1"]),
            percent_of(fixed),
            same_factor(1 + fixed, 1 + PAPER["old L1"]),
            _reason(outcome, "old L1"),
        ),
        Claim(
            "the old L1 is slower",
            "yes",
            f"{decimal(slower)} times the cycles",
            is_larger(slower, 1),
            f"an L1 of 32 KB, else as the new: {decimal(outcome.means['32 KB cycles'])} times, "
            f"{_reason(outcome, '32 KB')}",
        ),
    ]


STUDY = Study(
    name="adaptive-l1",
    title="An L1 with what shared memory leaves against one of 32 KB",
    question="What does it cost to model an adaptive L1 as a fixed one?",
    gpu=builtins.GPU,
    programs=(
        Program("atax", 200, 1_536),
        Program("bicg", 200, 1_536),
        Program("gesummv", 200, 2_048),
        Program("mvt", 200, 2_048),
        Program("syrk", 80, 512),
    ),
    variants=VARIANTS,
    counters=(ELAPSED, HITS, READS),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "cycles",
            "Cycles relative to the adaptive L1",
            "cycles / those of the adaptive L1",
            bars_of(VARIANTS[1:], "cycles"),
            line=1,
        ),
        Chart(
            "error",
            "Error of cycles, of what an H100 takes",
            "%",
            bars_of(VARIANTS, "error"),
        ),
        Chart(
            "hits",
            "Sectors of loads that the L1 has",
            "%",
            bars_of(VARIANTS, "hits"),
        ),
    ),
    claims=_claims,
    machine_code=True,
    measured=_measured,
)
