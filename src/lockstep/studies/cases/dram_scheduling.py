"""FR-FCFS against FCFS, in the memory system of GPGPU-Sim 3.x and in that of Accel-Sim."""

from lockstep.report.figures import count, decimal, percent
from lockstep.studies.cases import NEW, OLD
from lockstep.studies.claims import Claim, is_larger, same_factor
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
    ratio,
    value,
)

FCFS, FRFCFS = "dram.scheduler=fcfs", "dram.scheduler=frfcfs"
VARIANTS = (
    Variant("old FCFS", (FCFS,), OLD),
    Variant("old FR-FCFS", (FRFCFS,), OLD),
    Variant("new FCFS", (FCFS,)),
    Variant("new FR-FCFS", (FRFCFS,)),
)
BUSY, ROW_HITS = "sim__sol_dram.pct", "sim__dram_row_hit_rate.pct"
WAITING = "sim__dram_read_queue.avg"
INTENSIVE = 50  # percent of the DRAM's bandwidth: the paper's memory-intensive programs use more
PAPER = {"old": 1.2, "new": 2.5}


def _intensive(runs: Runs) -> bool:
    return max(value(runs, v.name, BUSY) for v in VARIANTS) > INTENSIVE


def _figures():
    yield Figure("old gain", ratio(CYCLES, "old FCFS", "old FR-FCFS"), mean="geometric")
    yield Figure("new gain", ratio(CYCLES, "new FCFS", "new FR-FCFS"), mean="geometric")
    for variant in VARIANTS:
        name = f"{variant.name} DRAM"
        yield Figure(name, counter(variant.name, BUSY), percent, 5, mean="arithmetic")
    for variant in VARIANTS:
        name = f"{variant.name} row hits"
        yield Figure(name, counter(variant.name, ROW_HITS), percent, 3, mean="arithmetic")
    for variant in VARIANTS:
        name = f"{variant.name} waiting"
        yield Figure(name, counter(variant.name, WAITING), rank=2, mean="arithmetic")


def _reason(outcome: OutcomeView, model: str) -> str:
    """What the counters of both schedulers say on average, in one memory system."""
    parts = []
    for what, name in (("DRAM in use", BUSY), ("row hits", ROW_HITS)):
        before = outcome.average(f"{model} FCFS", name)
        after = outcome.average(f"{model} FR-FCFS", name)
        parts.append(f"{what} {count(before)} → {count(after)} %")
    waiting = outcome.average(f"{model} FCFS", WAITING)
    return ", ".join([*parts, f"{count(waiting)} reads wait at a channel with FCFS"])


def _claims(outcome: OutcomeView) -> list[Claim]:
    gains = {model: outcome.means[f"{model} gain"] for model in PAPER}
    found = [
        Claim(
            f"FR-FCFS over FCFS in the {model} memory system",
            f"{paper} times",
            f"{decimal(gains[model])} times",
            same_factor(gains[model], paper),
            _reason(outcome, model),
        )
        for model, paper in PAPER.items()
    ]
    more = [p for p in outcome.counted if _gains_more(outcome, p)]
    order = Claim(
        "DRAM scheduling matters more in the new memory system",
        "yes",
        f"in {len(more)} of {len(outcome.counted)} programs",
        is_larger(gains["new"], gains["old"]),
        f"mean gains {decimal(gains['old'])} and {decimal(gains['new'])}",
    )
    return [*found, order]


def _gains_more(outcome: OutcomeView, program: str) -> bool:
    row = outcome.figures[program]
    return row["new gain"] > row["old gain"]


STUDY = Study(
    name="dram-scheduling",
    title="FR-FCFS against FCFS, in the old and the new memory system",
    question="How much does the DRAM scheduler matter?",
    gpu=NEW,
    programs=(
        Program("vecadd", 700_000, 1_000_000),
        Program("saxpy", 800_000, 1_000_000),
        Program("blackscholes", 400_000, 1_000_000),
        Program("reduce_shared", 2_000_000, 3_000_000),
        Program("layernorm", 1_100, 4_096),
        Program("softmax", 900, 3_000),
        Program("transpose_coalesced", 1_152, 2_048),
        Program("fft", 262_144, 524_288),
        Program("stencil2d", 1_152, 1_536),
        Program("stencil3d", 128, 192),
        Program("pathfinder", 100_000, 200_000),
        Program("transpose_naive", 1_152, 1_536),
    ),
    variants=VARIANTS,
    counters=(BUSY, ROW_HITS, WAITING, "dram__bytes_read.sum", "dram__bytes_write.sum"),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "gain",
            "FR-FCFS against FCFS",
            "cycles with FCFS / with FR-FCFS",
            (Bar("old memory system", ("old gain",)), Bar("new memory system", ("new gain",))),
            line=1,
        ),
        Chart(
            "bandwidth",
            "Use of the DRAM's bandwidth",
            "%",
            bars_of(VARIANTS, "DRAM"),
        ),
    ),
    claims=_claims,
    counts=_intensive,
    about=f"programs that use more than {INTENSIVE} % of the DRAM's bandwidth in any variant",
)
