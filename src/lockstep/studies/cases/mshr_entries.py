"""How many misses caches must follow: figure 4 of Candel et al., FGCS 2018."""

import math
from itertools import pairwise

from lockstep.report.columns import ALWAYS
from lockstep.report.figures import count, decimal
from lockstep.studies.candel import GPU, PROGRAMS, opc_chart, opc_figure, opc_of
from lockstep.studies.claims import Claim, Verdict, share
from lockstep.studies.description import (
    Figure,
    OutcomeView,
    Study,
    Variant,
    counter,
)

L1 = (16, 32, 64)
L2 = (16, 32, 64, 96, 128, 256)  # of each of two L2s
ENDLESS = "no limit"
MERGES, WAITING = 512, 1 << 14  # more than there ever are: the paper limits neither
NACKS, WAITED = "sim__l2_nacks.sum", "sim__l1_waited.sum"
BUSY_L2 = 64  # from here on, says the paper, entries of the L1 matter
SEEN = 0.05  # a difference of the performance that counts as one
NOISE = 0.02
FEW, LITTLE = 0.3, 0.1
MERSENNE = 0.2
BY_L1 = ("fast_walsh_transform", "floyd_warshall", "reduction", "scan_large_arrays")
HURT = ("dwt_haar_1d", "fast_walsh_transform")


def name_of(l1: int, l2: int) -> str:
    """The variant with so many entries."""
    return f"{l1} × {l2}"


def _variants():
    merges = (f"l1.mshr_merges={MERGES}", f"l2.mshr_merges={MERGES}")
    shape = (*merges, f"l1.waiting={WAITING}")
    yield Variant(ENDLESS, shape)
    # The paper's caches try again after their own latency, a cycle of an L1. The cycle more by lot
    # is ours: L1s that were refused together come apart.
    refusing = ("l2.mshr_full=nack", "l2.nack_retry=1", "l2.nack_spread=1")
    for l1 in L1:
        for l2 in L2:
            entries = (f"l1.mshr_entries={l1}", f"l2.mshr_entries={l2}")
            yield Variant(name_of(l1, l2), (*shape, *refusing, *entries))


VARIANTS = tuple(_variants())


def _figures():
    for l1 in L1:
        for l2 in L2:
            yield opc_figure(name_of(l1, l2), ENDLESS, ALWAYS if l1 == 32 else 2)
    for l2 in L2:
        name = name_of(32, l2)
        yield Figure(f"{name} refused", counter(name, NACKS), count, 3)


def _opc(outcome: OutcomeView, program: str, l1: int, l2: int) -> float:
    return opc_of(outcome, program, name_of(l1, l2))


def _refused(outcome: OutcomeView, l2: int) -> str:
    refused = outcome.average(name_of(32, l2), NACKS)
    waited = outcome.average(name_of(32, l2), WAITED)
    return f"on average {count(refused)} refusals and {count(waited)} reads that wait beside an L1"


def _few(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    slow = [p for p in programs if _opc(outcome, p, 32, 16) < FEW]
    return Claim(
        f"with 16 entries of an L2, most programs have less than {FEW:.0%} of the OPC",
        "most",
        f"{len(slow)} of {len(programs)}",
        share(len(slow), len(programs), 0.5),
        _refused(outcome, 16),
    )


def _mersenne(outcome: OutcomeView) -> Claim:
    found = math.nan
    if "mersenne_twister" in outcome.counted:
        found = _opc(outcome, "mersenne_twister", 32, 16)
    near = MERSENNE / 1.5 <= found <= MERSENNE * 1.5
    if math.isnan(found):
        verdict = Verdict.UNKNOWN
    else:
        verdict = Verdict.MET if near else Verdict.IN_PART if found < 0.5 else Verdict.NOT_MET
    text = "MersenneTwister with 16 entries of an L2"
    return Claim(text, decimal(MERSENNE), decimal(found), verdict, _refused(outcome, 16))


def _rises(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    rising = [
        p
        for p in programs
        if all(
            _opc(outcome, p, l1, more) >= _opc(outcome, p, l1, fewer) - NOISE
            for l1 in L1
            for fewer, more in pairwise(L2)
        )
    ]
    return Claim(
        "the OPC rises with the entries of the L2",
        "yes",
        f"in {len(rising)} of {len(programs)} programs",
        share(len(rising), len(programs), 1),
        f"up to a decrease of {NOISE:.0%}, for each number of entries of the L1",
    )


def _saturates(outcome: OutcomeView) -> Claim:
    programs = outcome.counted
    little = [
        p for p in programs if _opc(outcome, p, 32, 256) <= (1 + LITTLE) * _opc(outcome, p, 32, 96)
    ]
    return Claim(
        f"from 96 to 256 entries most gain at most {LITTLE:.0%}",
        "most",
        f"{len(little)} of {len(programs)}",
        share(len(little), len(programs), 0.5),
        _refused(outcome, 96),
    )


def _by_l1(outcome: OutcomeView) -> Claim:
    programs = [p for p in BY_L1 if p in outcome.counted]

    def differs(program: str) -> bool:
        found = [_opc(outcome, program, l1, l2) for l1 in L1 for l2 in L2 if l2 > BUSY_L2]
        return max(found) - min(found) >= SEEN

    held = [p for p in programs if differs(p)]
    return Claim(
        f"above {BUSY_L2} entries of an L2, those of the L1 matter in four programs",
        ", ".join(BY_L1),
        f"in {len(held)} of them",
        share(len(held), len(programs), 1),
        f"a difference of {SEEN:.0%} of the OPC counts",
    )


def _hurts(outcome: OutcomeView) -> Claim:
    programs = [p for p in HURT if p in outcome.counted]
    held = [
        p for p in programs if any(_opc(outcome, p, 64, n) < _opc(outcome, p, 16, n) for n in L2)
    ]
    return Claim(
        "more entries of the L1 make two programs slower",
        ", ".join(HURT),
        f"in {len(held)} of them",
        share(len(held), len(programs), 1),
        "with any number of entries of the L2",
    )


def _beats(outcome: OutcomeView) -> Claim:
    known = "dwt_haar_1d" in outcome.counted
    best = math.nan
    if known:
        best = max(_opc(outcome, "dwt_haar_1d", l1, l2) for l1 in L1 for l2 in L2)
    verdict = Verdict.UNKNOWN if not known else Verdict.MET if best > 1 else Verdict.NOT_MET
    text = "DwtHaar1D may be faster with limits than without"
    return Claim(text, "above 1", decimal(best), verdict, _refused(outcome, 256))


def _claims(outcome: OutcomeView) -> list[Claim]:
    made = (_few, _mersenne, _rises, _saturates, _by_l1, _hurts, _beats)
    return [claim(outcome) for claim in made]


STUDY = Study(
    name="mshr-entries",
    title="Performance by the entries of MSHR files",
    question="How many misses must the caches of a GPU follow?",
    gpu=GPU,
    programs=PROGRAMS,
    variants=VARIANTS,
    counters=(NACKS, WAITED, "sim__opc"),
    figures=tuple(_figures()),
    charts=tuple(
        opc_chart(
            f"opc-{l1}",
            f"OPC with {l1} entries of the L1, by those of an L2",
            "without a limit",
            [v for v in VARIANTS if v.name.startswith(f"{l1} ")],
        )
        for l1 in L1
    ),
    claims=_claims,
    opencl=True,
)
