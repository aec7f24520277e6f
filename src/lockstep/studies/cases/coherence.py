"""Coherence of L1s: figure 8 of Candel et al., FGCS 2018, and its figure 4 with a directory."""

from lockstep.report.columns import ALWAYS
from lockstep.report.figures import count
from lockstep.studies.candel import GPU, PROGRAMS
from lockstep.studies.claims import Claim, Verdict, share
from lockstep.studies.description import (
    CYCLES,
    Chart,
    Figure,
    OutcomeView,
    Study,
    Variant,
    bars_of,
    counter,
    ratio,
)

NONE, NMOESI, SI = "no protocol", "NMOESI", "SI"
ORDERED = "in order"
ENTRIES = (16, 32, 96, 256)  # of each of two L2s, with 32 of an L1
FEWER = "NMOESI 32 × "
NACKS, LOCKS = "sim__l2_nacks.sum", "sim__l2_lock_nacks.sum"
FORWARDS, WRITEBACKS = "sim__l2_forwards.sum", "sim__l1_writebacks.sum"
REQUESTS = "sim__noc_requests.sum"
HALF_MORE, TWICE, LESS = 1.5, 2.0, 0.95
NEAR = 1 / 3  # of what a factor is above 1


def _variants():
    yield Variant(NONE)
    for name, protocol in ((NMOESI, "nmoesi"), (SI, "si")):
        changes = (f"coherence.protocol={protocol}",)
        yield Variant(name, changes)
        order = ("vmu.ports=2", "vmu.phases=4", "vmu.order=multi2sim")
        yield Variant(f"{name} {ORDERED}", (*changes, *order))
    refusing = ("l2.mshr_full=nack", "l2.nack_retry=1", "l2.nack_spread=1", "l1.mshr_entries=32")
    for entries in ENTRIES:
        few = ("coherence.protocol=nmoesi", *refusing, f"l2.mshr_entries={entries}")
        yield Variant(f"{FEWER}{entries}", few)


VARIANTS = tuple(_variants())


def _figures():
    yield Figure("SI over NMOESI", ratio(CYCLES, NMOESI, SI), rank=ALWAYS, mean="geometric")
    ordered = ratio(CYCLES, f"{NMOESI} {ORDERED}", f"{SI} {ORDERED}")
    yield Figure(f"SI over NMOESI {ORDERED}", ordered, rank=ALWAYS, mean="geometric")
    for name in (NMOESI, SI):
        opc = ratio(CYCLES, NONE, name)
        yield Figure(f"{name} over none", opc, rank=2, mean="geometric")
    for entries in ENTRIES:
        name = f"{FEWER}{entries}"
        yield Figure(f"{name} OPC", ratio(CYCLES, NMOESI, name), rank=2, mean="geometric")
    for name, what in (("locks", LOCKS), ("forwards", FORWARDS), ("write-backs", WRITEBACKS)):
        yield Figure(f"NMOESI {name}", counter(NMOESI, what), count, 3)
    for name in (NMOESI, SI):
        yield Figure(f"{name} requests", counter(name, REQUESTS), count, 3)


def _gain(outcome: OutcomeView, program: str) -> float:
    return outcome.figures[program]["SI over NMOESI"]


def _traffic(outcome: OutcomeView) -> str:
    requests = [outcome.average(name, REQUESTS) for name in (NMOESI, SI)]
    return (
        f"on average {count(requests[0])} requests of L1s with NMOESI, {count(requests[1])} with "
        "SI; "
        f"{count(outcome.average(NMOESI, FORWARDS))} forwards, "
        f"{count(outcome.average(NMOESI, LOCKS))} requests that found a lock"
    )


def _half_more(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    held = [p for p in programs if _gain(outcome, p) >= 1 + (HALF_MORE - 1) * (1 - NEAR)]
    return Claim(
        "SI is faster than NMOESI by half in half of the programs",
        "half",
        f"in {len(held)} of {len(programs)}",
        share(len(held), len(programs), 0.5),
        _traffic(outcome),
    )


def _number(outcome: OutcomeView, held: list[str], wanted: int) -> Verdict:
    if not outcome.counted:
        return Verdict.UNKNOWN
    if len(held) == wanted:
        return Verdict.MET
    return Verdict.IN_PART if held else Verdict.NOT_MET


def _twice(outcome: OutcomeView) -> Claim:
    held = [p for p in outcome.counted if _gain(outcome, p) >= 1 + (TWICE - 1) * (1 - NEAR)]
    gains = [_gain(outcome, p) for p in outcome.counted]
    return Claim(
        "SI is about twice as fast in two",
        "two",
        f"in {len(held)}",
        _number(outcome, held, 2),
        f"the most is {max(gains):.2f} times" if gains else "no program was run",
    )


def _slower(outcome: OutcomeView) -> Claim:
    held = [p for p in outcome.counted if _gain(outcome, p) < LESS]
    return Claim(
        "SI is clearly slower in two",
        "two",
        f"in {len(held)}: {', '.join(held)}" if held else "in none",
        _number(outcome, held, 2),
        f"less than {LESS} times; {count(outcome.average(NMOESI, WRITEBACKS))} lines written back "
        "on average, where SI sends each store",
    )


def _few(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    slow = [p for p in programs if outcome.figures[p][f"{FEWER}16 OPC"] < 0.3]
    refused = outcome.average(f"{FEWER}16", NACKS)
    return Claim(
        "with 16 entries of an L2, most programs have less than 30% of the OPC",
        "most",
        f"{len(slow)} of {len(programs)}",
        share(len(slow), len(programs), 0.5),
        f"with NMOESI; on average {count(refused)} refusals",
    )


def _claims(outcome: OutcomeView) -> list[Claim]:
    return [claim(outcome) for claim in (_half_more, _twice, _slower, _few)]


STUDY = Study(
    name="coherence",
    title="Performance by the coherence protocol",
    question="What does coherence between L1s cost?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=VARIANTS,
    counters=(NACKS, LOCKS, FORWARDS, WRITEBACKS, REQUESTS, "sim__opc"),
    figures=tuple(_figures()),
    charts=(
        Chart(
            "protocols",
            "OPC with a protocol, by that without",
            "OPC / OPC without a protocol",
            bars_of([v for v in VARIANTS if v.name in (NMOESI, SI)], "over none"),
            line=1,
        ),
        Chart(
            "entries",
            "OPC of NMOESI by the entries of an L2, with 32 of the L1",
            "OPC / OPC without a limit",
            bars_of([v for v in VARIANTS if v.name.startswith(FEWER)], "OPC"),
            line=1,
        ),
    ),
    claims=_claims,
    opencl=True,
)
