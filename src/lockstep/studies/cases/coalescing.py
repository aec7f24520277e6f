"""Coalescing against merging of vector memory requests: figures 6 and 7 of Candel et al., 2018."""

import math
from typing import NamedTuple

from lockstep.report.columns import ALWAYS
from lockstep.report.figures import count, decimal
from lockstep.studies.candel import GPU, PROGRAMS, opc_figure, opc_of
from lockstep.studies.claims import Claim, Verdict, is_larger, same_factor, share
from lockstep.studies.description import (
    Bar,
    Chart,
    Figure,
    OutcomeView,
    Study,
    Variant,
    counter,
    ratio,
)

COALESCE, MERGE = "coalesce", "merge"
PORTS = 2  # of a cache: table 2
COMBINED = "sim__vmu_combined.sum"
ACCESSES = ("sim__vmu_load_accesses.sum", "sim__vmu_store_accesses.sum")
MERGED = ("sim__vmu_load_merged.sum", "sim__vmu_store_merged.sum")
NEAR, EQUAL, MOST = 0.1, 0.05, 0.8
TRANSPOSE, GAUSSIAN = "matrix_transpose", "recursive_gaussian"
FIGURE_6 = {TRANSPOSE: 1.75, GAUSSIAN: 1.15}
FIGURE_7 = {TRANSPOSE: 3.4, GAUSSIAN: 1.6}


class Setting(NamedTuple):
    """What the paper leaves open or says in two ways; both are run."""

    order: str
    phases: int

    @property
    def name(self) -> str:
        """As figures are called."""
        return f"{self.order} {self.phases}"

    def called(self, join: str) -> str:
        """The name of a variant."""
        return f"{join} {self.name}"

    def variant(self, join: str) -> Variant:
        """The GPU with one way to join requests."""
        changes = (f"vmu.ports={PORTS}", f"vmu.join={join}", f"vmu.phases={self.phases}")
        return Variant(self.called(join), (*changes, f"vmu.order={self.order}"))


SETTINGS = tuple(Setting(order, phases) for order in ("multi2sim", "line") for phases in (4, 1))
THEIRS = SETTINGS[0]  # Multi2Sim's order, and the four subwavefronts of the text


def _figures():
    for setting in SETTINGS:
        coalesce, merge = (setting.called(join) for join in (COALESCE, MERGE))
        rank = ALWAYS if setting.phases == THEIRS.phases else 5
        combined = ratio(COMBINED, coalesce, merge)
        yield Figure(f"{setting.name} combined", combined, rank=rank, mean="geometric")
        yield opc_figure(coalesce, merge, rank, setting.name)
    for join in (COALESCE, MERGE):
        for name, metric in zip(("loads", "stores"), ACCESSES, strict=True):
            yield Figure(f"{join}: {name}", counter(THEIRS.called(join), metric), count, 3)


def _combined(outcome: OutcomeView, program: str) -> float:
    return outcome.figures[program][f"{THEIRS.name} combined"]


def _accesses(outcome: OutcomeView, program: str) -> str:
    """The accesses of both ways, for loads and stores."""
    parts = []
    for name, metric in zip(("loads", "stores"), ACCESSES, strict=True):
        ours, theirs = (outcome.runs[program][THEIRS.called(j)][metric] for j in (COALESCE, MERGE))
        parts.append(f"{count(ours)} accesses of {name} for {count(theirs)}")
    return ", ".join(parts)


def _named(outcome: OutcomeView, program: str) -> Claim:
    paper, ours, reason = FIGURE_6[program], math.nan, ""
    if program in outcome.counted:
        ours, reason = _combined(outcome, program), _accesses(outcome, program)
    if math.isnan(ours):
        verdict = Verdict.UNKNOWN
    else:
        near = abs(ours / paper - 1) <= NEAR
        verdict = Verdict.MET if near else Verdict.IN_PART if ours > 1 else Verdict.NOT_MET
    text = f"figure 6: requests combined in {program}"
    return Claim(text, decimal(paper), decimal(ours), verdict, reason)


def _equal(outcome: OutcomeView) -> Claim:
    others = [p for p in outcome.counted if p not in FIGURE_6]
    programs = [p for p in others if not math.isnan(_combined(outcome, p))]
    apart = [p for p in programs if abs(_combined(outcome, p) - 1) > EQUAL]
    held = len(programs) - len(apart)
    return Claim(
        f"figure 6: as many in the others, within {EQUAL:.0%}",
        "nearly all",
        f"{held} of {len(programs)}",
        share(held, len(programs), MOST),
        ", ".join(f"{p} {decimal(_combined(outcome, p))}" for p in apart),
    )


def _faster(outcome: OutcomeView, program: str) -> Claim:
    paper, ours, reason = FIGURE_7[program], math.nan, ""
    if program in outcome.counted:
        ours = opc_of(outcome, program, THEIRS.name)
        reason = "; ".join(
            f"{s.name}: {decimal(opc_of(outcome, program, s.name))}" for s in SETTINGS[1:]
        )
    text = f"figure 7: OPC of {program}"
    return Claim(text, decimal(paper), decimal(ours), same_factor(ours, paper), reason)


def _ordered(outcome: OutcomeView) -> Claim:
    first, second = (
        opc_of(outcome, p, THEIRS.name) if p in outcome.counted else math.nan
        for p in (TRANSPOSE, GAUSSIAN)
    )
    loads, stores = (outcome.average(THEIRS.called(MERGE), metric) for metric in MERGED)
    return Claim(
        f"figure 7: {TRANSPOSE} gains more than {GAUSSIAN}",
        "yes",
        f"{decimal(first)} and {decimal(second)}",
        is_larger(first, second),
        f"on average {count(loads)} requests of loads and {count(stores)} of stores joined another "
        "instruction's access",
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    return [
        *(_named(outcome, program) for program in FIGURE_6),
        _equal(outcome),
        *(_faster(outcome, program) for program in FIGURE_7),
        _ordered(outcome),
    ]


def _chart(name: str, title: str, figure: str) -> Chart:
    bars = tuple(Bar(s.name, (f"{s.name} {figure}",)) for s in SETTINGS)
    return Chart(name, title, "coalescing / merging", bars, line=1)


STUDY = Study(
    name="coalescing",
    title="Requests combined and performance, coalescing over merging",
    question="Does it matter where a GPU joins the requests of its lanes?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=tuple(s.variant(join) for s in SETTINGS for join in (COALESCE, MERGE)),
    counters=(COMBINED, *ACCESSES, *MERGED, "sim__opc", "sim__l1_queue_stalls.sum"),
    figures=tuple(_figures()),
    charts=(
        _chart("combined", "Requests that were combined", "combined"),
        _chart("opc", "OPC", "OPC"),
    ),
    claims=_claims,
    opencl=True,
)
