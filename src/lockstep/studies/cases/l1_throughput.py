"""What the L1 refuses: with lines reserved by misses and few MSHRs, and streaming."""

from lockstep.report.figures import count, decimal, percent
from lockstep.studies.cases import FIXED_L1, NEW, OLD
from lockstep.studies.claims import Claim, at_most, is_larger
from lockstep.studies.description import (
    CYCLES,
    Bar,
    Chart,
    Figure,
    OutcomeView,
    Program,
    Runs,
    Study,
    Variant,
    bars_of,
    counter,
    quotient,
    ratio,
    value,
)

RESERVING, STREAMING = "l1.allocate=miss", "l1.allocate=fill"
VARIANTS = (
    Variant("old", gpu=OLD),
    Variant("old streaming", (STREAMING,), OLD),
    Variant("32 KB reserving", (*FIXED_L1, RESERVING)),
    Variant("32 KB streaming", (*FIXED_L1, STREAMING)),
    Variant("new", (STREAMING,)),
)
ACTIVE = "sm__cycles_active.sum"
WAITED, LINES, QUEUE = (
    "sim__l1_reservation_fails.sum",
    "sim__l1_line_stalls.sum",
    "sim__l1_queue_stalls.sum",
)
MERGES = "sim__l1_fail_merge.sum"
HITS = "sim__l1_global_load_hit_rate.pct"
VANISHED = 0.01  # of what the old L1 refuses


def _each_kilocycle(variant: str, *counters: str):
    """Cycles of an SM in a thousand of its own; the second counter is taken from the first."""

    def of(runs: Runs) -> float:
        first, *less = (value(runs, variant, name) for name in counters)
        return quotient(1000 * (first - sum(less)), value(runs, variant, ACTIVE))

    return of


def _parts(variant: str) -> tuple[str, ...]:
    return tuple(f"{variant} {cause}" for cause in ("lines", "MSHRs", "queue"))


def _figures():
    for variant in VARIANTS:
        lines, mshrs, queue = _parts(variant.name)
        name = variant.name
        rank = 3 if name == "old streaming" else 6
        yield Figure(lines, _each_kilocycle(name, LINES), count, rank, "arithmetic")
        yield Figure(mshrs, _each_kilocycle(name, WAITED, LINES), count, rank, "arithmetic")
        yield Figure(queue, _each_kilocycle(name, QUEUE), count, 2, "arithmetic")
    for variant in VARIANTS[:-1]:
        name = f"{variant.name} cycles"
        yield Figure(name, ratio(CYCLES, variant.name, "new"), rank=5, mean="geometric")
    for variant in VARIANTS:
        hit_rate = counter(variant.name, HITS)
        yield Figure(f"{variant.name} hits", hit_rate, percent, 1, "arithmetic")


def _reserved(outcome: OutcomeView, variant: str) -> float:
    """Reservation fails a kilocycle, on average: of lines and of MSHRs."""
    lines, mshrs, _ = _parts(variant)
    return outcome.means[lines] + outcome.means[mshrs]


def _said(outcome: OutcomeView, variant: str) -> str:
    lines, mshrs, queue = (outcome.means[name] for name in _parts(variant))
    return f"{variant}: lines {count(lines)}, MSHRs {count(mshrs)}, miss queue {count(queue)}"


def _claims(outcome: OutcomeView) -> list[Claim]:
    old, new = _reserved(outcome, "old"), _reserved(outcome, "new")
    reserving = outcome.means["32 KB reserving lines"]
    streaming = outcome.means["32 KB streaming lines"]
    merges = outcome.average("new", MERGES)
    free = [p for p in outcome.counted if _fails(outcome, p) < 1]
    gain = outcome.means["old cycles"]
    return [
        Claim(
            "reservation fails a kilocycle: there are none with the new L1",
            "up to 1000 → 0",
            f"{count(old)} → {count(new)}",
            at_most(new, VANISHED * old, old),
            f"{_said(outcome, 'old')}; {_said(outcome, 'new')}; below 1 in {len(free)} of "
            f"{len(outcome.counted)}; {count(merges)} refusals because a line had its merges",
        ),
        Claim(
            "streaming: misses in flight need no lines, however small the L1 is",
            "yes",
            f"{count(reserving)} → {count(streaming)}",
            at_most(streaming, VANISHED * reserving, reserving),
            f"{_said(outcome, '32 KB reserving')}; {_said(outcome, '32 KB streaming')}",
        ),
        Claim(
            "programs are slower on the old GPU, whose L1 refuses so often",
            "yes",
            f"{decimal(gain)} times the cycles",
            is_larger(gain, 1),
            f"with streaming {decimal(outcome.means['old streaming cycles'])} times; hits of loads "
            f"{count(outcome.means['old hits'])} % old, {count(outcome.means['new hits'])} % new",
        ),
    ]


def _fails(outcome: OutcomeView, program: str) -> float:
    lines, mshrs, _ = _parts("new")
    return outcome.figures[program][lines] + outcome.figures[program][mshrs]


STUDY = Study(
    name="l1-throughput",
    title="What the L1 refuses, by cause, in cycles of a thousand of an SM",
    question="Is the L1 a bottleneck?",
    gpu=NEW,
    programs=(
        Program("gesummv", 320, 1_024),
        Program("mvt", 320, 1_024),
        Program("atax", 384, 1_024),
        Program("bicg", 384, 1_024),
        Program("mm2", 80, 160),
        Program("spmv", 3_000, 12_000),
        Program("hash_table", 50_000, 200_000),
        Program("bfs", 10_000, 50_000),
        Program("stencil2d", 224, 768),
    ),
    variants=VARIANTS,
    counters=(ACTIVE, WAITED, LINES, QUEUE, "sim__l1_fail_line.sum", "sim__l1_fail_mshr.sum",
              MERGES, "sim__l1_fail_queue.sum", HITS),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "fails",
            "Cycles in which the L1 refuses: no line (plain), MSHR (hatched), miss queue (dotted)",
            "of a thousand cycles of an SM",
            tuple(Bar(v.name, _parts(v.name)) for v in VARIANTS),
        ),
        Chart(
            "cycles",
            "Cycles relative to the new L1",
            "cycles / those of the new L1",
            bars_of(VARIANTS[:-1], "cycles"),
            line=1,
            logarithmic=True,
        ),
    ),
    claims=_claims,
)  # fmt: skip
