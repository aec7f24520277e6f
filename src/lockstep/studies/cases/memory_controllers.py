"""Controllers and channels of the memory: figure 5 of Candel et al., FGCS 2018."""

import math

from lockstep.report.columns import ALWAYS
from lockstep.report.figures import percent
from lockstep.studies.candel import GPU, PROGRAMS, opc_chart, opc_figure, opc_of
from lockstep.studies.claims import Claim, Verdict, share
from lockstep.studies.description import (
    Figure,
    OutcomeView,
    Study,
    Variant,
    counter,
)

SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2))  # controllers, channels of each
PAGES = ("open", "closed")
FIXED = "fixed latency"
SLICES, SETS = 4, 64  # two L2s of 128 KB: two slices of 64 KB each, as an L2 has two ports
BUS, BEATS = 4, 16  # of a channel: bytes, and beats of a line
ROW = 4096  # bytes of a channel's row: 1,024 columns
SAME, MOST = 0.05, 0.1
ROW_HITS, BUSY = "sim__dram_row_hit_rate.pct", "sim__sol_dram.pct"


def name_of(controllers: int, channels: int, page: str) -> str:
    """The variant of a shape, as the paper writes it, with its page policy."""
    return f"{controllers}MC-{channels}PC {page}"


def shape_of(controllers: int, channels: int) -> tuple[str, ...]:
    """The L2's slices shared out to controllers; channels in lockstep are one that is wider."""
    return (
        f"l2.sets={SETS}",
        f"l2.slices_per_channel={SLICES // controllers}",
        f"dram.channels={controllers}",
        f"dram.bus_bytes={BUS * channels}",
        f"dram.burst_length={BEATS // channels}",
        f"dram.row_bytes={ROW * channels}",
    )


REAL = "dram.scheduler=bank_round_robin"  # with the preset's timing, queues and row_accesses


def _variants():
    yield Variant(FIXED, ("dram.scheduler=fixed", *shape_of(2, 1)))
    for shape in SHAPES:
        for page in PAGES:
            changes = (REAL, *shape_of(*shape), f"dram.page={page}")
            yield Variant(name_of(*shape, page), changes)


VARIANTS = tuple(_variants())


def _figures():
    for page in PAGES:
        for shape in SHAPES:
            yield opc_figure(name_of(*shape, page), FIXED, ALWAYS if page == "open" else 2)
    for shape in SHAPES:
        name = name_of(*shape, "open")
        yield Figure(f"{name} row hits", counter(name, ROW_HITS), percent, 3, mean="arithmetic")


def _opc(outcome: OutcomeView, program: str, shape: tuple[int, int], page: str = "open") -> float:
    return opc_of(outcome, program, name_of(*shape, page))


def _reason(outcome: OutcomeView, *shapes: tuple[int, int]) -> str:
    parts = []
    for shape in shapes:
        name = name_of(*shape, "open")
        hits, busy = outcome.average(name, ROW_HITS), outcome.average(name, BUSY)
        parts.append(f"{name}: {percent(hits)} row hits, {percent(busy)} of the bandwidth")
    return "; ".join(parts)


def _equal(outcome: OutcomeView, lockstep: tuple[int, int], apart: tuple[int, int]) -> Claim:
    programs = outcome.counted
    held = [
        p for p in programs if abs(_opc(outcome, p, lockstep) / _opc(outcome, p, apart) - 1) <= SAME
    ]
    first, second = ("{}MC-{}PC".format(*shape) for shape in (lockstep, apart))
    return Claim(
        f"{first} is as fast as {second}, within {SAME:.0%}",
        "all programs",
        f"{len(held)} of {len(programs)}",
        share(len(held), len(programs), 1),
        _reason(outcome, lockstep, apart),
    )


def _little(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    held = [
        p for p in programs if _opc(outcome, p, (4, 2)) <= (1 + MOST) * _opc(outcome, p, (4, 1))
    ]
    return Claim(
        f"more than four channels gain at most {MOST:.0%}",
        "most programs",
        f"{len(held)} of {len(programs)}",
        share(len(held), len(programs), 0.5),
        _reason(outcome, (4, 1), (4, 2)),
    )


def _open(outcome: OutcomeView) -> Claim:
    pairs = [(p, shape) for p in outcome.counted for shape in SHAPES]
    held = [
        pair
        for pair in pairs
        if _opc(outcome, *pair) >= (1 - 0.02) * _opc(outcome, *pair, "closed")
    ]
    return Claim(
        "open pages are no slower than closed ones",
        "all programs and shapes",
        f"{len(held)} of {len(pairs)}",
        share(len(held), len(pairs), 1),
        _reason(outcome, (1, 1), (4, 1)),
    )


def _insensitive(outcome: OutcomeView) -> Claim:
    spread = math.nan
    if "simple_convolution" in outcome.counted:
        found = [
            _opc(outcome, "simple_convolution", shape, page) for shape in SHAPES for page in PAGES
        ]
        spread = max(found) / min(found) - 1
    verdict = Verdict.UNKNOWN if math.isnan(spread) else Verdict.NOT_MET
    verdict = Verdict.MET if spread <= SAME else verdict
    return Claim(
        "SimpleConvolution does not depend on the memory",
        f"within {SAME:.0%}",
        percent(100 * spread),
        verdict,
        _reason(outcome, (1, 1)),
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    return [
        _equal(outcome, (1, 2), (2, 1)),
        _equal(outcome, (2, 2), (4, 1)),
        _little(outcome),
        _open(outcome),
        _insensitive(outcome),
    ]


STUDY = Study(
    name="memory-controllers",
    title="Performance by controllers and channels of the memory",
    question="Are channels in lockstep as good as controllers of their own?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=VARIANTS,
    counters=(ROW_HITS, BUSY, "dram__bytes_read.sum", "dram__bytes_write.sum"),
    figures=tuple(_figures()),
    charts=tuple(
        opc_chart(
            f"opc-{page}",
            f"OPC with {page} pages",
            "with a fixed latency",
            [v for v in VARIANTS if v.name.endswith(f" {page}")],
        )
        for page in PAGES
    ),
    claims=_claims,
    opencl=True,
)
