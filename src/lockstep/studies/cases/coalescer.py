"""Accesses by line of 128 bytes against those by sector of 32, beside an H100's counters.

Hardware counts sectors, so a line counts as four, needed or not, as it does in the paper.
"""

from lockstep.correlation.launches import together
from lockstep.correlation.report import percent as percent_of
from lockstep.correlation.statistics import Statistics
from lockstep.report.figures import count, decimal, percent
from lockstep.studies.cases import NEW, OLD_L1
from lockstep.studies.claims import Claim, at_most, is_larger, same_factor
from lockstep.studies.description import (
    CYCLES,
    HARDWARE,
    Bar,
    Chart,
    Counters,
    Figure,
    OutcomeView,
    Program,
    Study,
    Variant,
    bars_of,
    counter,
    ratio,
)
from lockstep.validation import builtins

VARIANTS = (
    Variant("old", OLD_L1),
    Variant("lines", ("sm.memory.coalescer=line",)),
    Variant("new"),
)
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
HITS = "sim__l1_global_load_hit_rate.pct"
READS = "lts__t_sectors_srcunit_tex_op_read.sum"
BYTES = "dram__bytes_read.sum"
PAPER = {"old": 3.06, "new": 0.0}  # NRMSE of L1 reads
EXACT = 0.02  # NRMSE that the paper would have printed as 0.0


def _measured(gpu: str, size: str) -> dict[str, Counters]:
    """Sectors of loads on an H100, of programs that were measured at the size that runs here.

    On which GPU they are loaded makes no difference to them.
    """
    sizes = {program.name: str(program.large) for program in STUDY.programs}
    return {
        program: together(launches, [LOADS])
        for program, launches in builtins.measured("cold", "l").items()
        if size == "large" and dict(launches[0].section)["args"] == sizes.get(program)
    }


def _figures():
    for variant in VARIANTS:
        yield Figure(f"{variant.name} accesses", counter(variant.name, LOADS), count, 7)
    yield Figure("H100 accesses", counter(HARDWARE, LOADS), count, 7)
    for variant in VARIANTS:
        yield Figure(
            f"{variant.name} / H100", ratio(LOADS, variant.name, HARDWARE), mean="geometric"
        )
    for variant in VARIANTS:
        hit_rate = counter(variant.name, HITS)
        yield Figure(f"{variant.name} hits", hit_rate, percent, 5, "arithmetic")
    for variant in VARIANTS[:-1]:
        slower = ratio(CYCLES, variant.name, "new")
        yield Figure(f"{variant.name} cycles", slower, rank=6, mean="geometric")
    for variant in VARIANTS[:-1]:
        reads = ratio(READS, variant.name, "new")
        yield Figure(f"{variant.name} L2 reads", reads, rank=4, mean="geometric")


def _statistics(outcome: OutcomeView, variant: str) -> Statistics:
    """Of the accesses of loads beside measured ones."""
    known = [p for p in outcome.counted if HARDWARE in outcome.runs[p]]
    rows = [outcome.figures[p] for p in known]
    ours = [row[f"{variant} accesses"] for row in rows]
    return Statistics.of(ours, [row["H100 accesses"] for row in rows])


def _claims(outcome: OutcomeView) -> list[Claim]:
    new, old = (_statistics(outcome, name) for name in ("new", "old"))
    lines = outcome.means["lines L2 reads"]
    slower = outcome.means["old cycles"]
    return [
        Claim(
            "NRMSE of L1 accesses with a coalescer of sectors",
            decimal(PAPER["new"]),
            decimal(new.nrmse),
            at_most(new.nrmse, EXACT, old.nrmse),
            f"{new.count} programs beside an H100: r {decimal(new.pearson)}, "
            f"worst error {percent_of(new.worst)}",
        ),
        Claim(
            "NRMSE of L1 accesses with a coalescer of lines",
            decimal(PAPER["old"]),
            decimal(old.nrmse),
            same_factor(1 + old.nrmse, 1 + PAPER["old"]),
            f"a line counts as four sectors, needed or not: r {decimal(old.pearson)}, "
            f"bias {percent_of(old.bias, True)}",
        ),
        Claim(
            "whole lines fetch more than is needed",
            "yes",
            f"{decimal(lines)} times the L2 reads",
            is_larger(lines, 1),
            f"new, but for the coalescer: {decimal(outcome.means['lines cycles'])} times "
            f"the cycles; hits {count(outcome.means['lines hits'])} %, with sectors "
            f"{count(outcome.means['new hits'])} %",
        ),
        Claim(
            "the old coalescer and L1 are slower",
            "yes",
            f"{decimal(slower)} times the cycles",
            is_larger(slower, 1),
            f"hits {count(outcome.means['old hits'])} %, L2 reads "
            f"{decimal(outcome.means['old L2 reads'])} times as many",
        ),
    ]


STUDY = Study(
    name="coalescer",
    title="Accesses of the L1 by line and by sector",
    question="What do the old coalescer and L1 change?",
    gpu=NEW,
    programs=(
        Program("spmv", 3_000, 60_000),
        Program("stencil3d", 64, 256),
        Program("string_search", 200_000, 8_000_000),
        Program("softmax", 96, 4_096),
        Program("reduce_shared", 200_000, 8_000_000),
        Program("vecadd", 200_000, 1_000_000),
        Program("transpose_naive", 512, 1_024),
        Program("mvt", 320, 1_024),
        Program("bfs", 10_000, 100_000),
        Program("hash_table", 50_000, 200_000),
    ),
    variants=VARIANTS,
    counters=(LOADS, HITS, READS, BYTES, "sim__coalesced_transactions.sum"),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "accesses",
            "Accesses of the L1 by loads",
            "accesses",
            (*bars_of(VARIANTS, "accesses"),
             Bar("H100", ("H100 accesses",))),
            logarithmic=True,
        ),
        Chart(
            "cycles",
            "Cycles relative to the new coalescer and L1",
            "cycles / those of the new ones",
            bars_of(VARIANTS[:-1], "cycles"),
            line=1,
            logarithmic=True,
        ),
        Chart(
            "hits",
            "Loads that the L1 has",
            "%",
            bars_of(VARIANTS, "hits"),
        ),
    ),
    claims=_claims,
    measured=_measured,
)  # fmt: skip
