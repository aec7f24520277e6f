"""Chains of loads by one thread: levels of memory, capacities, kinds of loads, translation."""

from dataclasses import replace

from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Fill, Launch, Row, Target
from lockstep.microbench.measures import Hops, Slope
from lockstep.microbench.suite.building import (
    OUT,
    SINK,
    buffer,
    i32,
    i64,
    iterations,
    segments_case,
)

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
END = 64  # byte of the sink where a chain leaves its end
PAGE = 2 * MIB
WARMED = 64 * MIB  # footprints that all SMs read before
WALKED = 1 * MIB  # footprints that are walked once before
LOOP = "16 loads, each of the address that the last one brought, by one thread; 2 rounds a launch"
CAVEAT = (
    "the clocks and one exposed store: about 5 cycles of all hops; launches visit the same lines, "
    "so that these are L2 hits whatever the footprint"
)
LOADS = {
    "cg": "ld.global.cg",
    "volatile": "ld.volatile",
    "nc": "ld.global.nc (LDG.CONSTANT)",
    "generic": "generic LD",
    "ca_strong": "ld.global.ca (LDG.STRONG.SM)",
    "relaxed_gpu": "ld.relaxed.gpu",
}


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    plain = [
        *(_chase(target, "ca", f, 128) for f in _footprints(target)),
        *(_chase(target, "ca", f, 32) for f in _powers(target, 16 * KIB, (1 * MIB,))),
        *(_chase(target, "ca", f, 4 * KIB) for f in _powers(target, 64 * KIB, (16 * MIB,))),
    ]
    shuffled = [f for f in _footprints(target) if f >= 64 * KIB]
    if not target.full:
        shuffled = [1 * MIB, 16 * MIB]
    return [
        Benchmark(
            "lat.chase_ca", "chase", "the plain load, by footprint and stride", tuple(plain),
            loop=f"LDG.E.64: {LOOP}", caveat=CAVEAT,
        ),
        Benchmark(
            "lat.chase_ca_random", "chase", "the same in the order of a hash",
            tuple(_chase(target, "ca", f, 128, random=True) for f in shuffled),
            loop=f"LDG.E.64: {LOOP}", caveat=CAVEAT,
        ),
        Benchmark(
            "lat.chase_cg_tlb", "chase", "a line of each page of 2 MB: translation",
            tuple(_translation(target)), loop=f"LDG.E.64.STRONG.GPU: {LOOP}",
            caveat="few lines, so L2 hits: what grows is translation",
        ),
        _dram(target),
        *(_of_kind(target, kind) for kind in LOADS),
        *_width(target),
    ]  # fmt: skip


def _footprints(target: Target) -> list[int]:
    """Powers of two from 4 KiB, on hardware also three steps between them."""
    powers = [4 * KIB << k for k in range(19)]
    if not target.full:
        return [f for f in powers if f <= 1 * MIB or f in (16 * MIB, 256 * MIB)]
    between = [f * n // 4 for f in powers if 64 * KIB <= f <= 64 * MIB for n in (5, 6, 7)]
    return sorted(powers + between)


def _powers(target: Target, least: int, small: tuple[int, ...]) -> list[int]:
    return [f for f in (least << k for k in range(20)) if f <= GIB] if target.full else list(small)


def _dram(target: Target) -> Benchmark:
    """Lines that nothing has read since the caches were emptied."""
    name = "lat.chase_dram"
    footprints = [64 * MIB, 256 * MIB, GIB] if target.full else [256 * MIB]
    cases = tuple(
        replace(_chase(target, "cg", f, 128, random=True, name=name, walked=False), cold=True)
        for f in footprints
    )
    return Benchmark(
        name, "chase", "the DRAM", cases, loop=f"LDG.E.64.STRONG.GPU: {LOOP}",
        caveat="beyond 32 MB also misses of the translation",
    )  # fmt: skip


def _translation(target: Target) -> list[Case]:
    footprints = [4 * MIB << k for k in range(13)] if target.full else [32 * MIB]
    return [_chase(target, "cg", f, PAGE + 256, name="lat.chase_cg_tlb") for f in footprints]


def _of_kind(target: Target, kind: str) -> Benchmark:
    footprints = [8 * KIB, 64 * KIB, 1 * MIB] + [16 * MIB, 256 * MIB] * target.full
    cases = tuple(_chase(target, kind, f, 128) for f in footprints)
    return Benchmark(
        f"lat.chase_{kind}", "chase", LOADS[kind], cases, loop=f"{LOADS[kind]}: {LOOP}",
        caveat=CAVEAT,
    )  # fmt: skip


def _chase(
    target: Target,
    kind: str,
    footprint: int,
    stride: int,
    random: bool = False,
    name: str = "",
    walked: bool = True,
) -> Case:
    """``walked``: hops come before those that are timed."""
    nodes = footprint // stride
    hops, most = (2048, 16384) if target.full else (256, 2048)
    warm = min(nodes, 16384 if footprint <= WALKED else most) if walked else 0
    name = name or f"lat.chase_{kind}{'_random' * random}"
    visited = 0 if target.full else min(nodes, warm + 2 * hops)
    chain = Buffer(
        "chain", footprint, Fill.CYCLE if random else Fill.CHAIN, stride, nodes, visited=visited
    )
    arguments = (buffer("out"), buffer("sink", END), buffer("chain"), i64(footprint), i32(warm))
    launch = Launch(f"chase.chase_{kind}", 1, 1, (*arguments, i32(hops)))
    order = "random" if random else "sequential"
    row = Row(name, f"footprint={footprint} stride={stride} {order}", "cycles", Hops(hops), kind)
    warming = _warming(target, footprint, launch, nodes > warm) if walked else ()
    return Case((row,), (launch,), (OUT, SINK, chain), warming, 3)


def _warming(target: Target, footprint: int, launch: Launch, longer: bool) -> tuple[Launch, ...]:
    """All SMs read what fits the L2; in a simulator, the chain itself brings what it visits.

    ``longer``: it visits more than it walks before.
    """
    if not target.full:
        return (launch,) if longer else ()
    if footprint > WARMED:
        return ()
    arguments = (buffer("chain"), i64(footprint), buffer("sink"))
    return (Launch("chase.warm_l2", 2 * target.sms, 512, arguments),)


def _width(target: Target) -> list[Benchmark]:
    cases = []
    for words in (1, 2, 4):
        own = Buffer("own", 16 * KIB, Fill.OWN, 4 * words)
        row = ("lat.l1_width", f"bits={32 * words} warp of 32 lanes coalesced", "cycles")
        measure = Slope(iterations(target.full), 1, 16)
        case = segments_case(
            row, f"chase.l1_width{32 * words}", [buffer("own")], measure, buffers=(own,),
            notes="dependent LDG + 64-bit address add (IADD3, IADD3.X or IMAD.WIDE)",
        )  # fmt: skip
        cases.append(case)
    return [
        Benchmark(
            "lat.l1_width", "chase", "L1 hits of a whole warp by width", tuple(cases),
            loop="16 times LDG(.64, .128), IADD3, IMAD.X",
            caveat="about 8 cycles of address arithmetic",
        )
    ]  # fmt: skip
